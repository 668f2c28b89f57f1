// Joins of points and boxes in columns: against a double loop, and what they promise beyond their results.

#include <algorithm>
#include <limits>
#include <list>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <catch.hpp>
#include <expect_error.hpp>
#include <index_suite.hpp>
#include <oracle.hpp>
#include <ways_to_join.hpp>
#include <zenith/error.hpp>

using namespace conformance::spatial_index;

using zenith_test::expect_error;
using zenith_test::judge;
using zenith_test::one_of_each;
using zenith_test::place;
using zenith_test::verdict;

namespace {

constexpr auto wrong = zenith::error_code::invalid_argument;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Columns where a target reads them. Those of the same bytes are at one place, as those of a table that is joined with
/// itself.
template <class Span>
class placed_columns {
 public:
  using value_type = typename Span::value_type;

  explicit placed_columns(const zenith_test::target& on) : on_(on) {}

  Span operator()(const std::vector<value_type>& column) {
    // by bytes: zeros of both signs are equal
    auto known = std::ranges::find_if(all_, [&](const copy& one) {
      const auto held = std::as_bytes(std::span(one.values));
      return std::ranges::equal(held, std::as_bytes(std::span(column)));
    });
    if (known == all_.end()) {
      all_.push_back({column, {}});
      known = std::prev(all_.end());
      if constexpr (is_on_device) known->there = {on_.on, std::span<const value_type>(known->values)};
    }
    if constexpr (is_on_device) {
      return std::as_const(known->there).device();
    } else {
      return known->values;
    }
  }

 private:
  static constexpr bool is_on_device = zenith::detail::memory_of<Span> == zenith::memory_space::device;
  struct copy {
    std::vector<value_type> values;
    zenith::array<value_type> there;
  };
  const zenith_test::target& on_;
  std::list<copy> all_;
};

template <bool is_ranked, class Span, class Use>
std::string with_side(placed_columns<Span>& at, const item_table<typename Span::value_type>& of, const Use& use) {
  zenith::basic_column_set<Span> low;
  zenith::basic_column_set<Span> high;
  for (const auto& column : of.low) low.add(at(column));
  for (const auto& column : of.high) high.add(at(column));
  if constexpr (is_ranked) {
    const auto scores = at(of.scores);
    if (of.high.empty()) return use(zenith::basic_scored_points<Span>{low, scores});
    return use(zenith::basic_scored_boxes<Span>{low, high, scores});
  } else {
    return of.high.empty() ? use(low) : use(zenith::basic_boxes<Span>{low, high});
  }
}

/// use(left, right) of the question's sides.
template <bool is_ranked, class T, class Use>
std::string with_sides(const place& where, const question<T>& asked, const Use& use) {
  const auto in = [&]<class Span>(placed_columns<Span> at) {
    return with_side<is_ranked>(at, asked.left, [&](const auto& left) {
      return with_side<is_ranked>(at, asked.right, [&](const auto& right) { return use(left, right); });
    });
  };
  return where.on_device ? in(placed_columns<zenith::device_span<const T>>(where.on))
                         : in(placed_columns<std::span<const T>>(where.on));
}

/// use(left, right), where one side is an index of its items and the other has columns.
template <bool is_ranked, unsigned Dim, class T, class Use>
std::string with_one_index(const place& where, const question<T>& asked, bool is_left, const Use& use) {
  const auto& options = is_left ? asked.left_build : asked.right_build;
  const auto in = [&]<class Tree, class Span>(Tree index, placed_columns<Span> at) {
    with_side<true>(at, is_left ? asked.left : asked.right, [&](const auto& items) {
      index = Tree::build(where.on.on, items, options);
      return std::string{};
    });
    return with_side<is_ranked>(at, is_left ? asked.right : asked.left, [&](const auto& columns) {
      return is_left ? use(index, columns) : use(columns, index);
    });
  };
  return where.on_device
             ? in(zenith::device_spatial_index<T, Dim>{}, placed_columns<zenith::device_span<const T>>(where.on))
             : in(zenith::spatial_index<T, Dim>{}, placed_columns<std::span<const T>>(where.on));
}

template <unsigned Dim, class T>
void ask_one_index(verdict& seen, const question<T>& asked, random_source& random) {
  auto expected = every_pair(asked);
  const bool is_left = random() % 2 == 0;
  const auto text = [&] { return text_of(asked) + (is_left ? ", left" : ", right") + " an index, else columns"; };
  judge(seen, the_suite().all_pairs, random, one_of_each, text, [&](const place& at) {
    return with_one_index<false, Dim>(at, asked, is_left, [&](const auto& left, const auto& right) {
      return join_all(at.on, left, right, asked.options.predicate, expected, random);
    });
  });
  keep_best(expected, asked.options.select, asked.k);
  judge(seen, the_suite().joins, random, one_of_each, text, [&](const place& at) {
    return with_one_index<true, Dim>(at, asked, is_left, [&](const auto& left, const auto& right) {
      return join_best(at.on, left, right, asked, expected, random);
    });
  });
}

template <class T>
void ask_columns(verdict& seen, const question<T>& asked, random_source& random) {
  auto expected = every_pair(asked);
  const auto text = [&] { return text_of(asked) + ", of columns"; };
  judge(seen, the_suite().all_pairs, random, one_of_each, text, [&](const place& at) {
    return with_sides<false>(at, asked, [&](const auto& left, const auto& right) {
      return join_all(at.on, left, right, asked.options.predicate, expected, random);
    });
  });
  keep_best(expected, asked.options.select, asked.k);
  judge(seen, the_suite().joins, random, one_of_each, text, [&](const place& at) {
    return with_sides<true>(at, asked, [&](const auto& left, const auto& right) {
      return join_best(at.on, left, right, asked, expected, random);
    });
  });
}

/// A question whose sides have some columns in common, or all.
template <class T>
question<T> make_column_question(unsigned number, std::size_t left, std::size_t right, random_source& random) {
  auto asked = make_question<T>(every_shape[random() % std::size(every_shape)], left, right, random);
  if (number % 5 == 0) return asked;
  asked.name += ", shared columns";
  asked.right = asked.left;
  if (number % 5 == 2) std::ranges::reverse(asked.right.scores);
  if (number % 5 == 3) asked.right.high.clear();
  if (number % 5 == 4) {
    for (auto& column : asked.right.high) {
      if (!column.empty()) std::ranges::fill(column, std::ranges::max(column));
    }
  }
  return asked;
}

/// Six boxes: the second touches the first at a corner, the third lies within it, the fourth equals it, the fifth is
/// the second's other corner, and the last is apart.
struct table {
  std::vector<float> west{0, 1, .25F, 0, 2, 5};
  std::vector<float> south{0, 1, .25F, 0, 2, 0};
  std::vector<float> east{1, 2, .5F, 1, 2, 6};
  std::vector<float> north{1, 2, .5F, 1, 2, 1};
  std::vector<float> scores{1, 2, 4, 1, 2, 9};

  [[nodiscard]] zenith::column_set<float> low() const { return {west, south}; }
  [[nodiscard]] zenith::boxes<float> plain() const { return {{west, south}, {east, north}}; }
  [[nodiscard]] zenith::scored_boxes<float> boxes() const { return {{west, south}, {east, north}, scores}; }
  [[nodiscard]] zenith::scored_points<float> points() const { return {{west, south}, scores}; }
};

/// One of each backend, with the name of a strategy of `all`.
std::vector<zenith_test::target> one_per_backend(const std::vector<zenith_test::target>& all) {
  std::vector<zenith_test::target> some;
  std::set<std::string_view> seen;
  std::ranges::copy_if(all, std::back_inserter(some),
                       [&](const auto& on) { return seen.insert(on.on.backend()).second; });
  return some;
}

std::vector<float> first(const std::vector<float>& of, std::size_t count) {
  return {of.begin(), of.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

TEST_CASE("joins of points and boxes in columns", "[index]") {
  if (the_suite().joins.empty()) return;
  constexpr std::size_t sizes[] = {0, 1, 2, 17, 64, 65, 100, 300};
  verdict seen;
  // every question builds indexes, which takes an emulated device long
  const double share = the_suite().effort * the_suite().effort * std::min(1.0, zenith_test::scale());
  const unsigned number = std::max(8U, static_cast<unsigned>(80 * share));
  for (unsigned i = 0; i < number; ++i) {
    random_source random{zenith_test::seed_of("index.columns", i)};
    const std::size_t left = std::min(sizes[random() % std::size(sizes)], the_suite().most_items);
    const std::size_t right = std::min(sizes[random() % std::size(sizes)], the_suite().most_items);
    if (i % 2 == 0) {
      ask_columns(seen, make_column_question<float32>(i / 2, left, right, random), random);
    } else {
      ask_columns(seen, make_column_question<float64>(i / 2, left, right, random), random);
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEST_CASE("joins of an index with points and boxes in columns", "[index]") {
  if (the_suite().joins.empty()) return;
  constexpr std::size_t sizes[] = {0, 1, 2, 17, 65, 100, 300};
  verdict seen;
  const double share = the_suite().effort * the_suite().effort * std::min(1.0, zenith_test::scale());
  const unsigned number = std::max(8U, static_cast<unsigned>(60 * share));
  for (unsigned i = 0; i < number; ++i) {
    random_source random{zenith_test::seed_of("index.beside_columns", i)};
    const std::size_t left = std::min(sizes[random() % std::size(sizes)], the_suite().most_items);
    const std::size_t right = std::min(sizes[random() % std::size(sizes)], the_suite().most_items);
    // indexes of two types, each of its number of dimensions
    const auto draw = [&]<class T>(std::type_identity<T>, std::size_t dimensions) {
      for (;;) {
        auto asked = make_question<T>(every_shape[random() % std::size(every_shape)], left, right, random);
        if (asked.left.low.size() == dimensions) return asked;
      }
    };
    if (i % 2 == 0) {
      ask_one_index<2>(seen, draw(std::type_identity<float32>{}, 2), random);
    } else {
      ask_one_index<3>(seen, draw(std::type_identity<float64>{}, 3), random);
    }
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEST_CASE("few boxes in columns, in full", "[index-contract]") {
  const table few;
  using ids = std::vector<std::uint32_t>;
  const ids left{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5};
  const ids right{0, 1, 2, 3, 0, 1, 3, 4, 0, 2, 3, 0, 1, 2, 3, 1, 4, 5};
  std::vector<zenith::executor> all{zenith::executor{}};
  for (const auto& on : one_per_backend(the_suite().joins)) all.push_back(on.on);
  for (const auto& on : all) {
    INFO(on.backend());
    for (const bool touch : {false, true}) {
      zenith::index_join_options options{zenith::within{0}};
      if (touch) options.predicate = zenith::intersects{};
      const auto found = zenith::spatial_join(on, few.plain(), few.plain(), options);
      CHECK(found.left == left);
      CHECK(found.right == right);
    }
    const auto corners = zenith::spatial_join(on, few.low(), few.plain(), {.predicate = zenith::intersects{}});
    CHECK(corners.left == ids{0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5});
    CHECK(corners.right == ids{0, 3, 0, 1, 3, 0, 2, 3, 0, 3, 1, 4, 5});
    const auto equal = zenith::spatial_join(on, few.low(), few.low(), {.predicate = zenith::intersects{}});
    CHECK(equal.left == ids{0, 0, 1, 2, 3, 3, 4, 5});
    // the last lies 3 from the second and farther from all others
    const auto near = zenith::top_k_spatial_join(on, few.boxes(), few.boxes(), 4, {.predicate = zenith::within{3}});
    CHECK(near.left == ids{5, 1, 5, 2});
    CHECK(near.right == ids{5, 5, 1, 2});
    CHECK(near.scores == std::vector<float>{18, 11, 11, 8});
    // points and boxes at once, all pairs and none
    CHECK(zenith::top_k_spatial_join(on, few.points(), few.boxes(), 99, {.predicate = zenith::intersects{}}).count ==
          13);
    zenith::spatial_join_statistics counted;
    CHECK(zenith::top_k_spatial_join(on, few.boxes(), few.points(), 0, {.statistics = &counted}).count == 0);
    CHECK(counted.candidates == 0);
    const zenith::scored_boxes<float> nothing{{{}, {}}, {{}, {}}, {}};
    CHECK(zenith::top_k_spatial_join(on, few.boxes(), nothing, 3).count == 0);
    CHECK(zenith::count_spatial_join(on, zenith::boxes<float>{nothing.low, nothing.high}, few.plain()).count == 0);
  }
}

TEST_CASE("what joins of columns with boxes refuse", "[index-contract]") {
  const table good;
  for (const auto& on : one_per_backend(the_suite().joins)) {
    INFO(on.name());
    zenith::top_k_index_join_options options;
    const auto best = [&](const auto& left, const auto& right) {
      (void)zenith::top_k_spatial_join(on.on, left, right, 3, options);
    };
    const auto all = [&](const auto& left, const auto& right) { (void)zenith::spatial_join(on.on, left, right); };
    for (const float value : {not_a_number, infinity}) {
      table bad;
      bad.scores[4] = value;
      expect_error(wrong, {"top_k_spatial_join: left.scores[4] is NaN or infinite"},
                   [&] { best(bad.boxes(), good.points()); });
      expect_error(wrong, {"right.scores[4] is NaN or infinite"}, [&] { best(good.boxes(), bad.points()); });
      bad.north[3] = value;
      expect_error(wrong, {"right.high has a NaN or an infinity in column 1, row 3"},
                   [&] { best(good.points(), bad.boxes()); });
      bad.west[2] = value;
      expect_error(wrong, {"left.coordinates has a NaN or an infinity in column 0, row 2"},
                   [&] { best(bad.points(), good.boxes()); });
      expect_error(wrong, {"top_k_spatial_join: left.low has a NaN or an infinity in column 0, row 2"},
                   [&] { best(bad.boxes(), bad.boxes()); });
      expect_error(wrong, {"spatial_join: right has a NaN or an infinity in column 0, row 2"},
                   [&] { all(good.plain(), bad.low()); });
      expect_error(wrong, {"count_spatial_join: left.low has a NaN or an infinity in column 0, row 2"},
                   [&] { (void)zenith::count_spatial_join(on.on, bad.plain(), good.low()); });
      expect_error(wrong, {"spatial_join_batches: right.low has a NaN"},
                   [&] { (void)zenith::spatial_join_batches(on.on, good.plain(), bad.plain(), [](auto, auto) {}); });
      expect_error(wrong, {"left.low has a NaN"},
                   [&] { (void)zenith::top_k_spatial_join(on.on, bad.boxes(), good.boxes(), 0); });
      // a side without rows has no pair, whatever the other has
      const zenith::boxes<float> nothing{{{}, {}}, {{}, {}}};
      CHECK(zenith::spatial_join(on.on, bad.plain(), nothing).count == 0);
    }
    table turned;
    turned.south[5] = 2;
    const auto flat = zenith::spatial_index<float, 2>::build(good.boxes());
    expect_error(wrong, {"right.low is above right.high in column 1, row 5"}, [&] { best(flat, turned.boxes()); });
    expect_error(wrong, {"left has 2 dimensions and right 3; they must have as many"}, [&] {
      best(flat, zenith::scored_points<float>{{good.west, good.west, good.west}, good.scores});
    });
    expect_error(wrong, {"left has 3 dimensions and right 2; they must have as many"}, [&] {
      all(zenith::column_set<float>{good.west, good.west, good.west}, flat);
    });
    expect_error(wrong, {"spatial_join: left has 1 columns; points have 2 or 3"},
                 [&] { all(zenith::column_set<float>{good.west}, flat); });
    expect_error(wrong, {"right.low is above right.high in column 1, row 5"},
                 [&] { best(good.boxes(), turned.boxes()); });
    expect_error(wrong, {"left.low has 1 columns; boxes have 2 or 3"}, [&] {
      best(zenith::scored_boxes<float>{{good.west}, {good.east}, good.scores}, good.boxes());
    });
    expect_error(wrong, {"left has 2 dimensions and right 3; they must have as many"}, [&] {
      best(good.boxes(), zenith::scored_points<float>{{good.west, good.west, good.west}, good.scores});
    });
    expect_error(wrong, {"right.high has 1 columns; boxes of 2 dimensions have as many"}, [&] {
      best(good.points(), zenith::scored_boxes<float>{{good.west, good.south}, {good.east}, good.scores});
    });
    const auto five = first(good.east, 5);
    expect_error(wrong, {"left.high has 5 rows and left.low 6"}, [&] {
      all(zenith::boxes<float>{{good.west, good.south}, {five, five}}, zenith::column_set<float>{{}, {}});
    });
    expect_error(wrong, {"right.scores has 5 elements and right.low 6 rows"}, [&] {
      best(good.points(), zenith::scored_boxes<float>{{good.west, good.south}, {good.east, good.north}, five});
    });
    // never read: they are refused before
    const std::span<const float> pretended(good.west.data(), std::size_t{1} << 32);
    const zenith::column_set<float> too_many{pretended, pretended};
    expect_error(zenith::error_code::unsupported, {"left.low has 4294967296 rows", "2^32 - 2"}, [&] {
      all(zenith::boxes<float>{too_many, too_many}, good.low());
    });
    const auto half = pretended.first((std::size_t{1} << 31) + 1);
    expect_error(wrong, {"a side has 2147483649 items", "signed 32 bits"}, [&] {
      (void)zenith::spatial_join<std::int32_t>(on.on, good.plain(), zenith::column_set<float>{half, half});
    });
    for (const double distance : {-1.0, double{not_a_number}}) {
      options.predicate = zenith::within{distance};
      expect_error(wrong, {"top_k_spatial_join: options.predicate.distance is "},
                   [&] { best(good.boxes(), good.boxes()); });
    }
    options = {.predicate = zenith::intersects{}, .score = zenith::pair_score::product};
    table negative;
    negative.scores[1] = -2;
    expect_error(wrong, {"right.scores[1] is negative", "product"}, [&] { best(good.boxes(), negative.boxes()); });
    options = {.score = zenith::pair_score::weighted_sum, .left_weight = infinity};
    expect_error(wrong, {"options.left_weight is infinite"}, [&] { best(good.boxes(), good.points()); });
    options.left_weight = 1e38;
    expect_error(wrong, {"left.scores[2] times options.left_weight is infinite"},
                 [&] { best(good.boxes(), good.points()); });
    expect_error(zenith::error_code::unsupported, {"options.strategy is 'grid'"},
                 [&] { (void)zenith::spatial_join(on.on, good.plain(), good.plain(), {.strategy = "grid"}); });
    if (on.memory == zenith::memory_space::device) continue;
    const zenith::device_span<const float> elsewhere(good.west.data(), good.west.size());
    const zenith::device_column_set<float> there{elsewhere, elsewhere};
    expect_error(wrong, {"spatial_join: left is a device_span", "host memory"}, [&] {
      all(zenith::device_boxes<float>{there, there}, there);
    });
  }
}

TEST_CASE("what joins of columns with boxes refuse of a device's memory, and of outputs", "[index-contract]") {
  const table few;
  table bad;
  bad.scores[1] = not_a_number;
  bad.east[3] = infinity;
  for (const auto& on : one_per_backend(the_suite().joins)) {
    INFO(on.name());
    std::vector<std::uint32_t> left(17, 7);
    std::vector<std::uint32_t> right(17, 7);
    std::vector<float> scores(17, 7);
    const auto untouched = [&] {
      return std::ranges::count(left, 7U) == 17 && std::ranges::count(right, 7U) == 17 &&
             std::ranges::count(scores, 7.0F) == 17;
    };
    expect_error(wrong, {"spatial_join: left_out has 17 elements, but there are 18 pairs"},
                 [&] { (void)zenith::spatial_join(on.on, few.plain(), few.plain(), left, right); });
    expect_error(wrong, {"spatial_join: right_out has 16 elements"},
                 [&] { (void)zenith::spatial_join(on.on, few.plain(), few.low(), left, std::span(right).first(16)); });
    expect_error(wrong, {"top_k_spatial_join: scores_out has 16 elements"}, [&] {
      (void)zenith::top_k_spatial_join(on.on, few.boxes(), few.points(), left, right, std::span(scores).first(16));
    });
    expect_error(wrong, {"right.high has a NaN or an infinity in column 0, row 3"},
                 [&] { (void)zenith::top_k_spatial_join(on.on, few.boxes(), bad.boxes(), left, right, scores); });
    CHECK(untouched());
    if (on.memory == zenith::memory_space::host) continue;
    placed_columns<zenith::device_span<const float>> at(on);
    const zenith::device_column_set<float> low{at(few.west), at(few.south)};
    const zenith::device_scored_boxes<float> good{low, {at(few.east), at(few.north)}, at(few.scores)};
    const auto join = [&](const auto& a, const auto& b) { (void)zenith::top_k_spatial_join(on.on, a, b, 3); };
    expect_error(wrong, {"top_k_spatial_join: left.high has a NaN or an infinity in column 0, row 3"}, [&] {
      join(zenith::device_scored_boxes<float>{low, {at(bad.east), at(bad.north)}, at(few.scores)}, good);
    });
    expect_error(wrong, {"right.scores[1] is NaN or infinite"}, [&] {
      join(good, zenith::device_scored_points<float>{low, at(bad.scores)});
    });
    expect_error(wrong, {"right.low is above right.high in column 0, row 0"}, [&] {
      join(good, zenith::device_scored_boxes<float>{good.high, low, at(few.scores)});
    });
  }
}
