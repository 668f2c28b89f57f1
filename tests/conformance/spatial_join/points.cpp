#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

#include <spatial_suite.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>

namespace conformance::spatial {
namespace {

using namespace zenith_test::spatial;

template <class T>
bool are_near(const question<T>& asked, std::size_t a, std::size_t b) {
  volatile T sum = 0;
  for (std::size_t c = 0; c < asked.left.columns.size(); ++c) {
    volatile T difference = asked.left.columns[c][a] - asked.right.columns[c][b];
    volatile T square = difference * difference;
    if (c == 0) {
      sum = square;
    } else {
      sum = sum + square;
    }
  }
  const auto distance = static_cast<T>(asked.options.predicate.distance);
  volatile T most = distance * distance;
  return sum <= most;
}

/// A side where a target reads it: in its memory, or with something before each column, so that alignments differ.
template <class T>
class laid_out {
 public:
  laid_out(const zenith_test::target& on, const point_table<T>& of, bool on_device, std::size_t offset) {
    for (const auto& column : of.columns) add(on, column, on_device, offset);
    add(on, of.scores, on_device, offset);
    rows_ = of.rows();
    offset_ = offset;
  }

  [[nodiscard]] zenith::column_set<T> coordinates() const {
    zenith::column_set<T> set;
    for (std::size_t c = 0; c + 1 < host_.size(); ++c) set.add(std::span<const T>(host_[c]).subspan(offset_));
    return set;
  }
  [[nodiscard]] zenith::scored_points<T> scored() const {
    return {coordinates(), std::span<const T>(host_.back()).subspan(offset_)};
  }
  [[nodiscard]] zenith::device_column_set<T> device_coordinates() const {
    zenith::device_column_set<T> set;
    for (std::size_t c = 0; c + 1 < device_.size(); ++c) set.add(device_[c].device().subspan(offset_, rows_));
    return set;
  }
  [[nodiscard]] zenith::device_scored_points<T> device_scored() const {
    return {device_coordinates(), device_.back().device().subspan(offset_, rows_)};
  }

 private:
  void add(const zenith_test::target& on, const std::vector<T>& column, bool on_device, std::size_t offset) {
    host_.emplace_back(offset, std::numeric_limits<T>::quiet_NaN());
    host_.back().insert(host_.back().end(), column.begin(), column.end());
    if (on_device) device_.emplace_back(on.on, std::span<const T>(host_.back()));
  }

  std::vector<std::vector<T>> host_;
  std::vector<zenith::array<T>> device_;
  std::size_t rows_ = 0;
  std::size_t offset_ = 0;
};

template <class Result, class Score>
std::string difference(const Result& found, const std::vector<pair>& expected, std::size_t count,
                       const Score& is_same_score) {
  if (found.count != count || found.left.size() != count || found.right.size() != count) {
    return "count is " + std::to_string(found.count) + ", expected " + std::to_string(count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (found.left[i] == expected[i].left && found.right[i] == expected[i].right && is_same_score(i)) continue;
    return "place " + std::to_string(i) + " is (" + std::to_string(found.left[i]) + ", " +
           std::to_string(found.right[i]) + "), expected (" + std::to_string(expected[i].left) + ", " +
           std::to_string(expected[i].right) + ") with " + std::to_string(expected[i].score);
  }
  return {};
}

template <class T, class Index>
std::string fault_of_join(const zenith_test::target& on, const laid_out<T>& left, const laid_out<T>& right,
                          bool on_device, const question<T>& asked, const std::vector<pair>& expected) {
  const zenith::spatial_join_options options{.predicate = asked.options.predicate, .strategy = on.strategy};
  const auto found =
      on_device ? zenith::spatial_join<Index>(on.on, left.device_coordinates(), right.device_coordinates(), options)
                : zenith::spatial_join<Index>(on.on, left.coordinates(), right.coordinates(), options);
  if (found.strategy != on.strategy || found.backend != on.on.backend()) return "ran as " + found.strategy;
  return difference(found, expected, expected.size(), [](std::size_t) { return true; });
}

/// use(left, right) with both sides where the target reads them.
template <class T, class Use>
auto with_sides(const laid_out<T>& left, const laid_out<T>& right, bool on_device, const Use& use) {
  return on_device ? use(left.device_coordinates(), right.device_coordinates())
                   : use(left.coordinates(), right.coordinates());
}

/// The same into memory of the caller's: counted, refused where it is too small, and written.
template <class T, class Index>
std::string fault_of_join_into(const zenith_test::target& on, const laid_out<T>& left, const laid_out<T>& right,
                               bool on_device, const question<T>& asked, const std::vector<pair>& expected,
                               random_source& random) {
  const zenith::spatial_join_options options{.predicate = asked.options.predicate, .strategy = on.strategy};
  const bool to_device = on.memory == zenith::memory_space::device && random() % 4 != 0;
  const auto join = [&](outputs<Index>& a, outputs<Index>& b) {
    return with_sides(left, right, on_device, [&](const auto& one, const auto& other) {
      return to_device ? zenith::spatial_join(on.on, one, other, a.on_device(), b.on_device(), options)
                       : zenith::spatial_join(on.on, one, other, a.on_host(), b.on_host(), options);
    });
  };
  const auto counted = with_sides(left, right, on_device, [&](const auto& one, const auto& other) {
    return zenith::count_spatial_join(on.on, one, other, options);
  });
  if (counted.count != expected.size()) return "counts " + std::to_string(counted.count);
  zenith::spatial_join_result<Index> found;
  if (!expected.empty() && random() % 4 == 0) {
    outputs<Index> few(on, expected.size() - 1, to_device);
    outputs<Index> others(on, expected.size() - 1, to_device);
    try {
      (void)join(few, others);
      return "takes memory that is too small";
    } catch (const zenith::error& thrown) {
      const std::string text = thrown.what();
      if (text.find("there are " + std::to_string(expected.size()) + " pairs") == std::string::npos) return text;
    }
    if (!take_first(few, 0, found.left) || !take_first(others, 0, found.right)) return "writes into too small memory";
  }
  const std::size_t size = expected.size() + random() % 3;
  outputs<Index> a(on, size, to_device);
  outputs<Index> b(on, size, to_device);
  const auto run = join(a, b);
  found.count = run.count;
  if (run.strategy != on.strategy || run.backend != on.on.backend()) return "ran as " + run.strategy;
  if (!take_first(a, run.count, found.left) || !take_first(b, run.count, found.right)) return "writes behind the pairs";
  return difference(found, expected, expected.size(), [](std::size_t) { return true; });
}

/// All batches together are the join, and none is larger than was asked for.
template <class T>
std::string fault_of_batches(const zenith_test::target& on, const laid_out<T>& left, const laid_out<T>& right,
                             bool on_device, const question<T>& asked, const std::vector<pair>& expected,
                             std::size_t batch_pairs) {
  const zenith::spatial_join_batch_options options{
      .predicate = asked.options.predicate, .strategy = on.strategy, .batch_pairs = batch_pairs};
  zenith::spatial_join_result<std::uint32_t> all;
  std::string fault;
  const auto take = [&](std::span<const std::uint32_t> some_left, std::span<const std::uint32_t> some_right) {
    const bool is_one_row = !some_left.empty() && some_left.front() == some_left.back();
    if (some_left.empty() || some_left.size() != some_right.size() ||
        (some_left.size() > 2 * batch_pairs && !is_one_row) ||
        (!all.left.empty() && all.left.back() >= some_left.front())) {
      fault = "a batch of " + std::to_string(some_left.size()) + " and " + std::to_string(some_right.size());
    }
    all.left.insert(all.left.end(), some_left.begin(), some_left.end());
    all.right.insert(all.right.end(), some_right.begin(), some_right.end());
  };
  const auto found =
      on_device
          ? zenith::spatial_join_batches(on.on, left.device_coordinates(), right.device_coordinates(), take, options)
          : zenith::spatial_join_batches(on.on, left.coordinates(), right.coordinates(), take, options);
  if (found.strategy != on.strategy || found.backend != on.on.backend()) return "ran as " + found.strategy;
  all.count = found.count;
  return fault.empty() ? difference(all, expected, expected.size(), [](std::size_t) { return true; }) : fault;
}

template <class T, class Index>
std::string fault_of_top_k(const zenith_test::target& on, const laid_out<T>& left, const laid_out<T>& right,
                           bool on_device, const question<T>& asked, const std::vector<pair>& expected, std::size_t k,
                           bool into_memory) {
  auto options = asked.options;
  options.strategy = on.strategy;
  const std::size_t count = std::min(k, expected.size());
  zenith::top_k_spatial_join_result<T, Index> found;
  if (into_memory && k <= expected.size() + 3) {
    const bool to_device = on.memory == zenith::memory_space::device;
    outputs<Index> a(on, k, to_device);
    outputs<Index> b(on, k, to_device);
    outputs<T> scores(on, k, to_device);
    const auto join = [&](const auto& one, const auto& other) {
      return to_device
                 ? zenith::top_k_spatial_join(on.on, one, other, a.on_device(), b.on_device(), scores.on_device(),
                                              options)
                 : zenith::top_k_spatial_join(on.on, one, other, a.on_host(), b.on_host(), scores.on_host(), options);
    };
    const auto run =
        on_device ? join(left.device_scored(), right.device_scored()) : join(left.scored(), right.scored());
    found.count = run.count;
    found.backend = run.backend;
    found.strategy = run.strategy;
    if (!take_first(a, run.count, found.left) || !take_first(b, run.count, found.right) ||
        !take_first(scores, run.count, found.scores)) {
      return "writes behind the pairs";
    }
  } else {
    found = on_device
                ? zenith::top_k_spatial_join<Index>(on.on, left.device_scored(), right.device_scored(), k, options)
                : zenith::top_k_spatial_join<Index>(on.on, left.scored(), right.scored(), k, options);
  }
  if (found.strategy != on.strategy || found.backend != on.on.backend()) return "ran as " + found.strategy;
  if (found.scores.size() != count) return "has " + std::to_string(found.scores.size()) + " scores";
  return difference(found, expected, count, [&](std::size_t i) {
    const T score = static_cast<T>(expected[i].score);
    return std::memcmp(&score, &found.scores[i], sizeof score) == 0;
  });
}

}  // namespace

std::string name_of(shape one) {
  switch (one) {
    case shape::uniform: return "uniform";
    case shape::lattice: return "lattice";
    case shape::clustered: return "clustered";
    case shape::far: return "far";
    case shape::line: return "line";
    case shape::one_place: return "one_place";
    case shape::tiny: return "tiny";
    case shape::huge: return "huge";
    default: return "least";
  }
}

template <class T>
point_table<T> make_points(shape one, scores kind, std::size_t rows, unsigned dimensions, bool is_right, bool positive,
                           random_source& random) {
  point_table<T> made{std::vector<std::vector<T>>(dimensions, std::vector<T>(rows)), std::vector<T>(rows)};
  for (unsigned a = 0; a < dimensions; ++a) {
    for (auto& x : made.columns[a]) x = coordinate<T>(one, a, random);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    T& score = made.scores[i];
    const double low = positive ? 0 : -10;
    switch (kind) {
      case scores::whole: score = static_cast<T>(random() % 4) - (positive ? T{0} : T{2}); break;
      case scores::real: score = static_cast<T>(uniform(random, low, 10)); break;
      case scores::against: {
        // the further right a left point is, the better, and the other way round
        const T x = made.columns[0][i] / std::numeric_limits<T>::max();
        const T sign = std::signbit(made.columns[0][i]) != is_right ? T{-1} : T{1};
        score = (positive ? T{20} : T{0}) + sign * static_cast<T>(uniform(random, 5, 10)) + x;
        break;
      }
      default: score = T{3}; break;
    }
    if (!positive && random() % 16 == 0) score = random() % 2 == 0 ? T{0} : -T{0};
  }
  return made;
}

double some_distance(shape one, random_source& random) {
  const auto kind = random() % 16;
  if (kind == 0) return 0;
  if (kind == 1) return 1e300;
  if (kind == 2) return std::numeric_limits<double>::infinity();
  switch (one) {
    case shape::uniform: return uniform(random, 0, random() % 4 == 0 ? 100 : 4);
    case shape::lattice: return random() % 2 == 0 ? static_cast<double>(random() % 6) : uniform(random, 0, 5);
    case shape::clustered: return uniform(random, 0, random() % 4 == 0 ? 200 : 1);
    case shape::far: return uniform(random, 0, random() % 4 == 0 ? 100 : 2);
    case shape::line: return uniform(random, 0, 10);
    case shape::one_place: return uniform(random, 0, 1);
    case shape::tiny: return std::ldexp(uniform(random, 0, 20), random() % 2 == 0 ? -23 : -52);
    case shape::huge: return std::ldexp(uniform(random, 0.01, 1), random() % 2 == 0 ? 63 : 127);
    default: return std::ldexp(uniform(random, 0, 1), -static_cast<int>(random() % 1100));
  }
}

template <class T>
std::vector<pair> all_pairs(const question<T>& asked) {
  std::vector<pair> all;
  for (std::size_t a = 0; a < asked.left.rows(); ++a) {
    for (std::size_t b = 0; b < asked.right.rows(); ++b) {
      if (!are_near(asked, a, b)) continue;
      all.push_back({a, b, static_cast<double>(score_of(asked.options, asked.left.scores[a], asked.right.scores[b]))});
    }
  }
  return all;
}

std::vector<std::size_t> some_ks(std::size_t pairs, random_source& random) {
  std::vector<std::size_t> ks{0, 1, pairs, pairs + 1, 1 + random() % (pairs / 2 + 1), 1 + random() % 20};
  if (pairs > 0) ks.push_back(pairs - 1);
  return ks;
}

template <class T>
void ask(zenith_test::verdict& seen, const question<T>& asked, const std::vector<std::size_t>& ks,
         random_source& random) {
  const auto in_order = all_pairs(asked);
  auto ranked = in_order;
  std::ranges::stable_sort(ranked, [&](const pair& a, const pair& b) {
    return asked.options.select == zenith::selection::largest ? a.score > b.score : a.score < b.score;
  });
  const std::size_t tests = asked.left.rows() * asked.right.rows();
  const auto share = zenith_test::spatial::share_for(tests);
  const auto text = [&] {
    return asked.name + " " + std::to_string(asked.left.rows()) + " x " + std::to_string(asked.right.rows()) + " in " +
           std::to_string(asked.left.columns.size()) + "-D, distance " +
           std::to_string(asked.options.predicate.distance) + ", score " +
           std::to_string(static_cast<int>(asked.options.score)) +
           (asked.options.select == zenith::selection::largest ? " largest" : " smallest");
  };
  zenith_test::judge(seen, the_suite().joins, random, share, text, [&](const zenith_test::place& at) {
    const auto& on = at.on;
    const bool on_device = at.on_device;
    const laid_out<T> left(on, asked.left, on_device, random() % 4);
    const laid_out<T> right(on, asked.right, on_device, random() % 4);
    const bool is_wide = random() % 2 == 0;
    if (random() % 4 == 0) {
      const std::size_t batch = 1 + in_order.size() / (1 + random() % 8);
      return fault_of_batches(on, left, right, on_device, asked, in_order, batch);
    }
    if (random() % 2 == 0) {
      return is_wide ? fault_of_join_into<T, std::uint64_t>(on, left, right, on_device, asked, in_order, random)
                     : fault_of_join_into<T, std::uint32_t>(on, left, right, on_device, asked, in_order, random);
    }
    return is_wide ? fault_of_join<T, std::uint64_t>(on, left, right, on_device, asked, in_order)
                   : fault_of_join<T, std::uint32_t>(on, left, right, on_device, asked, in_order);
  });
  const auto some = the_suite().asks_for_one_k ? std::vector<std::size_t>{ks[random() % ks.size()]} : ks;
  for (const auto k : some) {
    const auto with_k = [&] { return text() + ", k = " + std::to_string(k); };
    zenith_test::judge(seen, the_suite().ranked, random, share, with_k, [&](const zenith_test::place& at) {
      const auto& on = at.on;
      const bool on_device = at.on_device;
      const laid_out<T> left(on, asked.left, on_device, random() % 4);
      const laid_out<T> right(on, asked.right, on_device, random() % 4);
      const bool is_wide = random() % 2 == 0;
      const bool into_memory = random() % 2 == 0;
      return is_wide ? fault_of_top_k<T, std::uint64_t>(on, left, right, on_device, asked, ranked, k, into_memory)
                     : fault_of_top_k<T, std::uint32_t>(on, left, right, on_device, asked, ranked, k, into_memory);
    });
  }
}

#define ZENITH_POINTS(T)                                                                                    \
  template point_table<T> make_points<T>(shape, scores, std::size_t, unsigned, bool, bool, random_source&); \
  template std::vector<pair> all_pairs<T>(const question<T>&);                                              \
  template void ask<T>(zenith_test::verdict&, const question<T>&, const std::vector<std::size_t>&, random_source&);
ZENITH_POINTS(float32)
ZENITH_POINTS(float64)
#undef ZENITH_POINTS

}  // namespace conformance::spatial
