#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include <index_suite.hpp>
#include <oracle.hpp>
#include <ways_to_join.hpp>

namespace conformance::spatial_index {
namespace {

using namespace zenith_test::spatial;
using zenith_test::judge;
using zenith_test::one_of_each;
using zenith_test::place;

template <class T>
T some_width(shape one, random_source& random) {
  switch (one) {
    case shape::uniform:
    case shape::clustered:
    case shape::far:
    case shape::line: return static_cast<T>(uniform(random, 0, 5));
    case shape::lattice: return static_cast<T>(random() % 4);
    case shape::one_place: return random() % 2 == 0 ? T{0} : T{1};
    case shape::tiny: return static_cast<T>(random() % 8) * std::numeric_limits<T>::epsilon();
    case shape::huge: return std::numeric_limits<T>::max() / 64;
    default: return static_cast<T>(random() % 30) * std::numeric_limits<T>::denorm_min();
  }
}

double some_distance(shape one, random_source& random) {
  const auto kind = random() % 16;
  if (kind == 0) return 0;
  if (kind == 1) return 1e300;
  if (kind == 2) return std::numeric_limits<double>::infinity();
  switch (one) {
    case shape::tiny: return std::ldexp(uniform(random, 0, 20), random() % 2 == 0 ? -23 : -52);
    case shape::huge: return std::ldexp(uniform(random, 0.01, 1), random() % 2 == 0 ? 63 : 127);
    case shape::least: return std::ldexp(uniform(random, 0, 1), -static_cast<int>(random() % 1100));
    default: return random() % 2 == 0 ? static_cast<double>(random() % 6) : uniform(random, 0, 8);
  }
}

template <class T>
item_table<T> make_items(shape one, std::size_t count, unsigned dimensions, bool positive, random_source& random) {
  item_table<T> made;
  const bool boxes = random() % 2 == 0;
  made.low.assign(dimensions, std::vector<T>(count));
  if (boxes) made.high = made.low;
  for (unsigned a = 0; a < dimensions; ++a) {
    for (std::size_t i = 0; i < count; ++i) {
      const T low = coordinate<T>(one, a, random);
      made.low[a][i] = low;
      if (boxes) made.high[a][i] = std::min(low + some_width<T>(one, random), std::numeric_limits<T>::max());
    }
  }
  made.scores.resize(count);
  const auto kind = random() % 4;
  for (auto& score : made.scores) {
    score = kind == 0   ? T{3}
            : kind == 1 ? static_cast<T>(random() % 4) - (positive ? T{0} : T{2})
                        : static_cast<T>(uniform(random, positive ? 0 : -10, 10));
    if (!positive && random() % 16 == 0) score = random() % 2 == 0 ? T{0} : -T{0};
  }
  return made;
}

template <class T, unsigned Dim>
zenith::spatial_index<T, Dim> build(const item_table<T>& of, const zenith::spatial_index_options& options) {
  zenith::column_set<T> low;
  zenith::column_set<T> high;
  for (const auto& column : of.low) low.add(column);
  for (const auto& column : of.high) high.add(column);
  if (of.high.empty()) return zenith::spatial_index<T, Dim>::build(zenith::scored_points<T>{low, of.scores}, options);
  return zenith::spatial_index<T, Dim>::build(zenith::scored_boxes<T>{low, high, of.scores}, options);
}

template <class T, unsigned Dim>
void ask_join_of(zenith_test::verdict& seen, const question<T>& asked, random_source& random) {
  auto expected = every_pair(asked);
  const auto left = build<T, Dim>(asked.left, asked.left_build);
  const auto right = build<T, Dim>(asked.right, asked.right_build);
  const auto use_indexes = [&](const place& at, const auto& join) {
    return at.on_device ? join(zenith::device_spatial_index<T, Dim>(at.on.on, left),
                               zenith::device_spatial_index<T, Dim>(at.on.on, right))
                        : join(left, right);
  };
  const auto text = [&] { return text_of(asked); };
  judge(seen, the_suite().all_pairs, random, one_of_each, text, [&](const place& at) {
    return use_indexes(at, [&](const auto& a, const auto& b) {
      return join_all(at.on, a, b, asked.options.predicate, expected, random);
    });
  });
  keep_best(expected, asked.options.select, asked.k);
  judge(seen, the_suite().joins, random, one_of_each, text, [&](const place& at) {
    return use_indexes(at,
                       [&](const auto& a, const auto& b) { return join_best(at.on, a, b, asked, expected, random); });
  });
}

/// The same bytes as the host's, of columns on the host or where the target has its memory.
template <class T, unsigned Dim>
void ask_build_of(zenith_test::verdict& seen, const question<T>& asked, random_source& random) {
  const auto& options = asked.left_build;
  const auto expected = build<T, Dim>(asked.left, options);
  const auto text = [&] { return text_of(asked); };
  judge(seen, the_suite().builds, random, one_of_each, text, [&](const place& at) -> std::string {
    const auto& on = at.on;
    const bool on_device = at.on_device;
    std::vector<zenith::array<T>> there;
    zenith::device_column_set<T> sides[2];
    zenith::column_set<T> here[2];
    for (int side = 0; side < 2; ++side) {
      for (const auto& column : side == 0 ? asked.left.low : asked.left.high) {
        here[side].add(column);
        if (!on_device) continue;
        there.emplace_back(on.on, std::span<const T>(column));
        sides[side].add(std::as_const(there.back()).device());
      }
    }
    const bool has_boxes = !asked.left.high.empty();
    std::span<const std::byte> bytes;
    zenith::spatial_index<T, Dim> copied;
    std::shared_ptr<const zenith::detail::device_index> made;
    if (on_device) {
      using index = zenith::device_spatial_index<T, Dim>;
      there.emplace_back(on.on, std::span<const T>(asked.left.scores));
      const auto scores = std::as_const(there.back()).device();
      const auto index_there =
          has_boxes ? index::build(on.on, zenith::device_scored_boxes<T>{sides[0], sides[1], scores}, options)
                    : index::build(on.on, zenith::device_scored_points<T>{sides[0], scores}, options);
      copied = index_there.host();
      bytes = copied.serialized();
    } else {
      const auto input =
          has_boxes ? zenith::detail::input_of(Dim, zenith::scored_boxes<T>{here[0], here[1], asked.left.scores})
                    : zenith::detail::input_of(Dim, zenith::scored_points<T>{here[0], asked.left.scores});
      made = zenith::detail::build_index_there(on.on, input, zenith::memory_space::host, options);
      bytes = zenith::detail::host_copy(*made)->bytes();
    }
    if (bytes.size() != expected.bytes()) return "has " + std::to_string(bytes.size()) + " bytes";
    const auto other = std::ranges::mismatch(bytes, expected.serialized()).in1;
    return other == bytes.end() ? "" : "byte " + std::to_string(other - bytes.begin()) + " differs";
  });
}

template <class T, unsigned Dim>
void ask_range_of(zenith_test::verdict& seen, const question<T>& asked, random_source& random) {
  const auto index = build<T, Dim>(asked.left, asked.left_build);
  const auto one = static_cast<shape>(random() % std::size(every_shape));
  zenith::spatial_box<T, Dim> box;
  zenith::spatial_ball<T, Dim> ball;
  const auto* const near = std::get_if<zenith::within>(&asked.options.predicate);
  const bool around_item = asked.left.size() > 0 && random() % 4 != 0;
  const bool over_all = random() % 4 == 0;
  box_at region{};
  for (unsigned a = 0; a < Dim; ++a) {
    const T from = around_item ? asked.left.low[a][random() % asked.left.size()] : coordinate<T>(one, a, random);
    const T to = around_item ? asked.left.low[a][random() % asked.left.size()] : from;
    ball.centre[a] = from;
    box.low[a] = over_all ? -std::numeric_limits<T>::infinity() : std::min(from, to);
    box.high[a] = over_all ? std::numeric_limits<T>::infinity() : std::max(from, to);
    region.low[a] = near != nullptr ? from : box.low[a];
    region.high[a] = near != nullptr ? from : box.high[a];
  }
  if (near != nullptr) ball.distance = near->distance;
  std::vector<ranked<T>> expected;
  for (std::size_t i = 0; i < asked.left.size(); ++i) {
    if (!are_near<T>(at(asked.left, i), region, Dim, near == nullptr ? nullptr : &ball.distance)) continue;
    expected.push_back({asked.left.scores[i], i, i});
  }
  keep_best(expected, asked.options.select, asked.k);
  const auto text = [&] { return text_of(asked); };
  judge(seen, the_suite().ranges, random, one_of_each, text, [&](const place& at) -> std::string {
    const auto& on = at.on;
    const bool on_device = at.on_device;
    const zenith::top_k_range_options options{asked.options.select, on.strategy};
    const auto run = [&](const auto& tree) {
      return near == nullptr ? zenith::top_k_range<std::uint64_t>(on.on, tree, box, asked.k, options)
                             : zenith::top_k_range<std::uint64_t>(on.on, tree, ball, asked.k, options);
    };
    const bool into_memory = asked.k <= expected.size() + 3 && random() % 2 == 0;
    if (into_memory) {
      const bool to_device = on.memory == zenith::memory_space::device;
      outputs<T> to_keys(on, asked.k, to_device);
      outputs<std::uint32_t> to_ids(on, asked.k, to_device);
      const auto ask = [&](const auto& tree, const auto& where) {
        return to_device ? zenith::top_k_range(on.on, tree, where, to_keys.on_device(), to_ids.on_device(), options)
                         : zenith::top_k_range(on.on, tree, where, to_keys.on_host(), to_ids.on_host(), options);
      };
      const auto ask_either = [&](const auto& tree) { return near == nullptr ? ask(tree, box) : ask(tree, ball); };
      const auto run_into =
          on_device ? ask_either(zenith::device_spatial_index<T, Dim>(on.on, index)) : ask_either(index);
      std::vector<T> keys;
      std::vector<std::uint32_t> ids;
      if (!take_first(to_keys, run_into.count, keys) || !take_first(to_ids, run_into.count, ids)) {
        return "writes behind the items";
      }
      return difference<T>(expected, keys, widened(ids), widened(ids));
    }
    const auto found = on_device ? run(zenith::device_spatial_index<T, Dim>(on.on, index)) : run(index);
    return difference<T>(expected, found.keys, found.indices, found.indices);
  });
}

}  // namespace

template <class T>
question<T> make_question(shape one, std::size_t left, std::size_t right, random_source& random) {
  question<T> asked;
  asked.name = "shape " + std::to_string(static_cast<int>(one));
  const unsigned dimensions = 2 + static_cast<unsigned>(random() % 2);
  auto& options = asked.options;
  draw_scoring(options, random);
  if (random() % 3 == 0) {
    options.predicate = zenith::intersects{};
  } else {
    options.predicate = zenith::within{some_distance(one, random)};
  }
  const bool positive = options.score == zenith::pair_score::product;
  asked.left = make_items<T>(one, left, dimensions, positive, random);
  asked.right = make_items<T>(one, right, dimensions, positive, random);
  for (auto* const build : {&asked.left_build, &asked.right_build}) {
    constexpr std::uint32_t some[] = {2, 3, 16, 64};
    build->fanout = random() % 2 == 0 ? some[random() % 4] : 2 + static_cast<std::uint32_t>(random() % 63);
    if (random() % 4 == 0) build->order = zenith::bulk_order::hilbert;
    if (random() % 3 == 0) build->node_order = zenith::level_order::leaves_first;
  }
  const std::size_t ks[] = {0, 1, 1 + random() % 20, 1 + random() % 500, left * right + 1};
  asked.k = ks[random() % 5];
  return asked;
}

template <class T>
void ask_join(zenith_test::verdict& seen, const question<T>& asked, random_source& random) {
  asked.left.low.size() == 3 ? ask_join_of<T, 3>(seen, asked, random) : ask_join_of<T, 2>(seen, asked, random);
}
template <class T>
void ask_build(zenith_test::verdict& seen, const question<T>& asked, random_source& random) {
  asked.left.low.size() == 3 ? ask_build_of<T, 3>(seen, asked, random) : ask_build_of<T, 2>(seen, asked, random);
}
template <class T>
void ask_range(zenith_test::verdict& seen, const question<T>& asked, random_source& random) {
  asked.left.low.size() == 3 ? ask_range_of<T, 3>(seen, asked, random) : ask_range_of<T, 2>(seen, asked, random);
}

#define ZENITH_ITEMS(T)                                                                \
  template question<T> make_question(shape, std::size_t, std::size_t, random_source&); \
  template void ask_join(zenith_test::verdict&, const question<T>&, random_source&);   \
  template void ask_build(zenith_test::verdict&, const question<T>&, random_source&);  \
  template void ask_range(zenith_test::verdict&, const question<T>&, random_source&);
ZENITH_ITEMS(float32)
ZENITH_ITEMS(float64)
#undef ZENITH_ITEMS

}  // namespace conformance::spatial_index
