#include <zenith/spatial_join.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include <algorithms/spatial_join/choices.hpp>
#include <core/choose.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

/// What begins the messages of a call.
struct caller {
  std::string function;

  [[noreturn]] void reject(const std::string& message, error_code code = error_code::invalid_argument) const {
    throw error(code, function + ": " + message);
  }
};

void check_side(const caller& by, const spatial_points& side, const std::string& name, bool has_scores) {
  const std::string coordinates = has_scores ? name + ".coordinates" : name;
  if (side.columns.size() != 2 && side.columns.size() != 3) {
    by.reject(coordinates + " has " + std::to_string(side.columns.size()) + " columns; points have 2 or 3");
  }
  // inside, row numbers have 32 bits, and the highest means none
  if (side.rows >= std::numeric_limits<std::uint32_t>::max()) {
    by.reject(coordinates + " has " + std::to_string(side.rows) + " rows; the most is 2^32 - 2",
              error_code::unsupported);
  }
  if (has_scores && side.score_count != side.rows) {
    by.reject(name + ".scores has " + std::to_string(side.score_count) + " elements and " + coordinates + " " +
              std::to_string(side.rows) + " rows; they must be as many");
  }
}

void check(const caller& by, const spatial_arguments& given, const within& predicate, bool has_scores) {
  check_side(by, given.left, "left", has_scores);
  check_side(by, given.right, "right", has_scores);
  if (given.left.columns.size() != given.right.columns.size()) {
    by.reject("left has points of " + std::to_string(given.left.columns.size()) + " dimensions and right of " +
              std::to_string(given.right.columns.size()) + "; they must have as many");
  }
  if (!(predicate.distance >= 0)) {
    by.reject(std::string("options.predicate.distance is ") + (std::isnan(predicate.distance) ? "NaN" : "negative") +
              "; it must be 0 or more");
  }
  const std::size_t most = std::max(given.left.rows, given.right.rows);
  if (given.index_bytes == 4 && given.index_signed &&
      most > std::size_t{std::numeric_limits<std::int32_t>::max()} + 1) {
    by.reject("a side has " + std::to_string(most) +
              " rows, more than ids of signed 32 bits can tell apart; use unsigned or 64-bit ids");
  }
}

[[noreturn]] void report(const caller& by, const spatial_outcome& found, bool has_scores) {
  const std::string side = found.is_right ? "right" : "left";
  const std::string row = "[" + std::to_string(found.row) + "]";
  switch (found.fault) {
    case spatial_fault::coordinate:
      by.reject(side + (has_scores ? ".coordinates" : "") + " has a NaN or an infinity in column " +
                std::to_string(found.axis) + ", row " + std::to_string(found.row));
    case spatial_fault::score: by.reject(side + ".scores" + row + " is NaN or infinite");
    case spatial_fault::negative_score:
      by.reject(side + ".scores" + row + " is negative; a product takes scores of 0 and more");
    default: by.reject(side + ".scores" + row + " times options." + side + "_weight is infinite; use smaller weights");
  }
}

/// Points drawn from both sides: about how many pairs there are. Points in a device's memory are not looked at.
template <class T>
double sampled_pairs(const spatial_arguments& given, double distance) {
  constexpr std::size_t samples = 128;
  std::array<std::array<double, samples>, 3> left{};
  std::array<std::array<double, samples>, 3> right{};
  double share_if_even = 1;  // of points spread evenly over their extent
  for (std::size_t a = 0; a < given.left.columns.size(); ++a) {
    const auto draw = [a](const spatial_points& side, std::size_t i) {
      const std::size_t row = (i * 0x9e3779b97f4a7c15ULL >> 20) % side.rows;
      return static_cast<double>(static_cast<const T*>(side.columns[a])[row]);
    };
    for (std::size_t i = 0; i < samples; ++i) {
      left[a][i] = draw(given.left, i);
      right[a][i] = draw(given.right, i);
    }
    const double low = std::min(std::ranges::min(left[a]), std::ranges::min(right[a]));
    const double high = std::max(std::ranges::max(left[a]), std::ranges::max(right[a]));
    if (2 * distance < high - low) share_if_even *= 2 * distance / (high - low);
  }
  std::size_t near = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::size_t j = 0; j < samples; ++j) {
      const double x = left[0][i] - right[0][j];
      const double y = left[1][i] - right[1][j];
      const double z = left[2][i] - right[2][j];
      near += x * x + y * y + z * z <= distance * distance ? 1 : 0;
    }
  }
  return std::max(share_if_even, static_cast<double>(near) / (samples * samples)) *
         static_cast<double>(given.left.rows) * static_cast<double>(given.right.rows);
}

void describe(spatial_join_problem& problem, const spatial_arguments& given, double distance) {
  problem.left_rows = given.left.rows;
  problem.right_rows = given.right.rows;
  problem.dimensions = static_cast<unsigned>(given.left.columns.size());
  problem.type = given.type;
  problem.space = given.space;
  if (given.left.rows == 0 || given.right.rows == 0) return;
  const double pairs = given.space == memory_space::device ? 4.0 * static_cast<double>(given.left.rows)
                       : given.type == key_type::float32   ? sampled_pairs<float>(given, distance)
                                                           : sampled_pairs<double>(given, distance);
  // a power of two: calls with the same problem need no new decision
  problem.pairs = std::bit_ceil(static_cast<std::uint64_t>(std::clamp(pairs, 1.0, 0x1p62)));
}

/// The caller's vectors; no memory for them is an error of ours.
struct output_provider {
  const caller& by;
  const spatial_arguments& given;

  static spatial_output provide(void* state, std::uint64_t count) {
    const auto& here = *static_cast<const output_provider*>(state);
    try {
      return here.given.provide(here.given.state, count);
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    here.by.reject("there is no memory for " + std::to_string(count) + " pairs", error_code::out_of_memory);
  }
};

spatial_side side_of(const spatial_points& points) {
  spatial_side side;
  std::ranges::copy(points.columns, side.coordinates);
  side.scores = points.scores;
  side.rows = points.rows;
  return side;
}

/// Fills in the call, runs it and reports what it found.
template <class Call>
std::size_t run(const caller& by, const execution& on, const std::string& strategy, const spatial_arguments& given,
                double distance, bool has_scores, Call& call) {
  spatial_outcome outcome;
  output_provider pairs{by, given};
  call.type = given.type;
  call.space = given.space;
  call.dimensions = static_cast<unsigned>(given.left.columns.size());
  call.left = side_of(given.left);
  call.right = side_of(given.right);
  call.distance = distance;
  call.index_bytes = given.index_bytes;
  call.provide = output_provider::provide;
  call.provide_state = &pairs;
  call.outcome = &outcome;
  find_kernel(*on.target, Call::operation, strategy)->run(on, &call);
  if (outcome.fault != spatial_fault::none) report(by, outcome, has_scores);
  return static_cast<std::size_t>(outcome.count);
}

}  // namespace

spatial_join_run spatial_join(const executor& on, const spatial_arguments& given, const spatial_join_options& options) {
  const caller by{"spatial_join"};
  check(by, given, options.predicate, false);
  spatial_join_problem problem;
  describe(problem, given, options.predicate.distance);
  const auto [where, strategy] = choose(spatial_join_detail::choices, on.settings(), problem, options.strategy);
  check_backend(where, spatial_join_call::operation, by.function, "left", given.space, strategy);
  spatial_join_run done{0, std::string{where.target->name}, strategy};
  if (given.left.rows == 0 || given.right.rows == 0) return done;
  spatial_join_call call;
  done.count = run(by, where, strategy, given, options.predicate.distance, false, call);
  return done;
}

spatial_join_run top_k_spatial_join(const executor& on, const spatial_arguments& given, std::size_t k,
                                    const top_k_spatial_join_options& options) {
  const caller by{"top_k_spatial_join"};
  check(by, given, options.predicate, true);
  const bool is_weighted = options.score == pair_score::weighted_sum;
  for (const bool is_left : {true, false}) {
    const double weight = is_left ? options.left_weight : options.right_weight;
    const double rounded = given.type == key_type::float32 ? double{static_cast<float>(weight)} : weight;
    if (is_weighted && !std::isfinite(rounded)) {
      by.reject(std::string("options.") + (is_left ? "left" : "right") + "_weight is " +
                (std::isnan(weight) ? "NaN" : "infinite") + "; a weight must be a number of the scores' type");
    }
  }
  top_k_spatial_join_problem problem;
  describe(problem, given, options.predicate.distance);
  problem.k = k;
  const auto [where, strategy] = choose(spatial_join_detail::top_k_choices, on.settings(), problem, options.strategy);
  check_backend(where, top_k_spatial_join_call::operation, by.function, "left", given.space, strategy);
  spatial_join_run done{0, std::string{where.target->name}, strategy};
  spatial_join_statistics counted;
  if (given.left.rows > 0 && given.right.rows > 0 && k > 0) {
    top_k_spatial_join_call call;
    call.score = options.score;
    call.left_weight = is_weighted ? options.left_weight : 1;
    call.right_weight = is_weighted ? options.right_weight : 1;
    call.select = options.select;
    call.k = k;
    call.statistics = options.statistics != nullptr ? &counted : nullptr;
    done.count = run(by, where, strategy, given, options.predicate.distance, true, call);
  }
  if (options.statistics != nullptr) *options.statistics = counted;
  return done;
}

}  // namespace zenith::detail
