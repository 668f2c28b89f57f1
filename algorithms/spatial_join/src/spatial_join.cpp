#include <zenith/spatial_join.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <new>
#include <numbers>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <algorithms/spatial_join/choices.hpp>
#include <algorithms/spatial_join/drawn_cells.hpp>
#include <algorithms/spatial_join/goal.hpp>
#include <algorithms/spatial_join/src/batches.hpp>
#include <algorithms/spatial_join/src/pair_guess.hpp>
#include <core/choose.hpp>
#include <core/key_order.hpp>
#include <core/message.hpp>
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

void check_ranking(const caller& by, const top_k_spatial_join_options& options) {
  require_known(by.function, "options.score", options.score, pair_score::weighted_sum);
  require_known(by.function, "options.select", options.select, selection::smallest);
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

/// The power of two that is nearest, by its logarithm; 0 of less than 1. Calls with the same problem need no new
/// decision.
std::uint64_t near_power(double number) {
  if (number < 1) return 0;
  return std::bit_ceil(static_cast<std::uint64_t>(std::ceil(std::min(number, 0x1p62) / std::numbers::sqrt2)));
}

/// What the models ask of a call. Nothing is guessed where no model is asked: a guess takes some 20 us. Returns what
/// is known of the scores.
pair_guess describe_sides(spatial_join_problem& problem, const spatial_arguments& given, double distance, bool guesses,
                          double pairs_of_one = 1) {
  problem.left_rows = given.left.rows;
  problem.right_rows = given.right.rows;
  problem.dimensions = static_cast<unsigned>(given.left.columns.size());
  problem.type = given.type;
  problem.space = given.space;
  if (!guesses || given.left.rows == 0 || given.right.rows == 0) return {};
  pair_guess guess = given.space == memory_space::device
                         ? pair_guess{.near = 4.0 * static_cast<double>(given.left.rows)}
                         : guess_pairs(given, distance);
  guess.near *= pairs_of_one;
  guess.tests *= pairs_of_one;
  problem.pairs = std::max<std::uint64_t>(1, near_power(guess.near));
  if (guess.tests > 3 * static_cast<double>(problem.pairs)) problem.tests = near_power(guess.tests);
  return guess;
}

/// How the scores of near points go together, as a ranking sees it: 1 if the best pairs are of the best of both sides,
/// -1 if bounds are useless; 0 where one good value is enough.
double correlation_of(const pair_guess& guess, const top_k_spatial_join_options& options) {
  if (options.score == (options.select == selection::largest ? pair_score::maximum : pair_score::minimum)) return 0;
  const bool is_turned = options.score == pair_score::weighted_sum && options.left_weight * options.right_weight < 0;
  return is_turned ? -guess.correlation : guess.correlation;
}

/// Pairs of the best points of both sides, or those that tie with the k-th best, as a power of two.
std::uint64_t tied_pairs(const pair_guess& guess, std::size_t k, const top_k_spatial_join_options& options) {
  const auto share = [&](std::size_t side, double weight) {
    const bool is_turned = options.score == pair_score::weighted_sum && weight < 0;
    return ((options.select == selection::largest) != is_turned ? guess.largest : guess.smallest)[side];
  };
  const double best = share(0, options.left_weight) * share(1, options.right_weight);
  return near_power(guess.near * std::max(best, share_tied_at(guess, k, options)));
}

top_k_spatial_join_problem describe_ranked(const spatial_arguments& given, std::size_t k,
                                           const top_k_spatial_join_options& options, bool guesses,
                                           double pairs_of_one = 1) {
  top_k_spatial_join_problem problem;
  const pair_guess guess = describe_sides(problem, given, options.predicate.distance, guesses, pairs_of_one);
  constexpr double clearly = 0.75;
  problem.scores_oppose = correlation_of(guess, options) < -clearly;
  problem.scores_agree = correlation_of(guess, options) > clearly;
  problem.tied = tied_pairs(guess, k, options);
  problem.may_hide_pairs = guess.may_hide &&
                           guess.near <= spatial_join_family::few_pairs(spatial_join_family::pairs_to_find(k)) &&
                           spatial_join_family::are_cells_worth(given.left.rows, given.right.rows);
  problem.k = k;
  return problem;
}

bool is_chosen(const executor& on, std::string_view strategy) { return strategy == "auto" || on.is_automatic(); }

/// The caller's memory, if it is large enough, or vectors; no memory for these is an error of ours.
struct output_provider {
  const caller& by;
  const spatial_arguments& given;

  static spatial_output provide(void* state, std::uint64_t count) {
    const auto& here = *static_cast<const output_provider*>(state);
    const auto& target = here.given.target;
    if (target.is != spatial_target::kind::vectors) return count <= target.size ? target.at : spatial_output{};
    return here.ask(here.given.provide, count);
  }
  static spatial_output reserve(void* state, std::uint64_t count) {
    const auto& here = *static_cast<const output_provider*>(state);
    return here.ask(here.given.reserve, count);
  }
  static void grow(void* state, std::uint64_t count, bool is_right) {
    const auto& here = *static_cast<const output_provider*>(state);
    here.given.grow(here.given.state, count, is_right);
  }

 private:
  [[nodiscard]] spatial_output ask(spatial_output (*vectors)(void* state, std::uint64_t count),
                                   std::uint64_t count) const {
    try {
      return vectors(given.state, count);
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    by.reject("there is no memory for " + std::to_string(count) + " pairs", error_code::out_of_memory);
  }
};

template <class Call>
const kernel& check_memory(const caller& by, const execution& on, const spatial_arguments& given,
                           const std::string& strategy) {
  const auto& run_by = check_backend(on, Call::operation, by.function, "left", given.space, strategy);
  if (given.target.is == spatial_target::kind::memory && given.target.space == memory_space::device) {
    check_backend(on, Call::operation, by.function, "left_out", given.target.space, strategy);
  }
  return run_by;
}

spatial_side side_of(const spatial_points& points) {
  spatial_side side;
  std::ranges::copy(points.columns, side.coordinates);
  side.scores = points.scores;
  side.rows = points.rows;
  return side;
}

/// Fills in the call, runs it and reports what it found; `first`: the number of the left side's first row.
template <class Call>
std::size_t run(const caller& by, const execution& on, const kernel& run_by, const spatial_arguments& given,
                double distance, bool has_scores, Call& call, std::uint64_t first = 0) {
  spatial_outcome outcome;
  output_provider pairs{by, given};
  call.type = given.type;
  call.space = given.space;
  call.dimensions = static_cast<unsigned>(given.left.columns.size());
  call.left = side_of(given.left);
  call.right = side_of(given.right);
  call.distance = distance;
  call.index_bytes = given.index_bytes;
  call.out_space = given.target.space;
  call.provide = output_provider::provide;
  call.provide_state = &pairs;
  if (given.reserve != nullptr) {
    call.reserve = output_provider::reserve;
    call.grow = output_provider::grow;
  }
  call.outcome = &outcome;
  run_by.run(on, &call);
  if (!outcome.is_right) outcome.row += first;
  if (outcome.fault != spatial_fault::none) report(by, outcome, has_scores);
  if (given.target.is == spatial_target::kind::memory && outcome.count > given.target.size) {
    by.reject("left_out has " + std::to_string(given.target.size) + " elements, but there are " +
              std::to_string(outcome.count) + " pairs");
  }
  return static_cast<std::size_t>(outcome.count);
}

}  // namespace

spatial_join_problem describe(const spatial_arguments& given, const spatial_join_options& options) {
  check({"spatial_join_problem_of"}, given, options.predicate, false);
  spatial_join_problem problem;
  static_cast<void>(describe_sides(problem, given, options.predicate.distance, true));
  return problem;
}

top_k_spatial_join_problem describe(const spatial_arguments& given, std::size_t k,
                                    const top_k_spatial_join_options& options, double pairs_of_one) {
  const caller by{"top_k_spatial_join_problem_of"};
  check(by, given, options.predicate, true);
  check_ranking(by, options);
  return describe_ranked(given, k, options, true, pairs_of_one);
}

spatial_run spatial_join(const executor& on, const spatial_arguments& given, const spatial_join_options& options) {
  const caller by{given.target.is == spatial_target::kind::nothing ? "count_spatial_join" : "spatial_join"};
  check(by, given, options.predicate, false);
  spatial_join_problem problem;
  static_cast<void>(describe_sides(problem, given, options.predicate.distance, is_chosen(on, options.strategy)));
  const auto [where, strategy] = choose(spatial_join_detail::choices, on.settings(), problem, options.strategy);
  const auto& run_by = check_memory<spatial_join_call>(by, where, given, strategy);
  spatial_run done{0, std::string{where.target->name}, strategy};
  if (given.left.rows == 0 || given.right.rows == 0) return done;
  spatial_join_call call;
  done.count = run(by, where, run_by, given, options.predicate.distance, false, call);
  return done;
}

namespace {

template <class T>
void check_left_coordinates(const caller& by, const spatial_arguments& given) {
  for (unsigned a = 0; a < given.left.columns.size(); ++a) {
    const T* const column = static_cast<const T*>(given.left.columns[a]);
    const T* const bad = std::find_if(column, column + given.left.rows, [](T one) { return !std::isfinite(one); });
    if (bad == column + given.left.rows) continue;
    report(by, {0, spatial_fault::coordinate, false, a, static_cast<std::uint64_t>(bad - column)}, false);
  }
}

}  // namespace

spatial_join_batches_result spatial_join_batches(const executor& on, const spatial_arguments& given,
                                                 const spatial_join_batch_options& options,
                                                 void (*deliver)(void* state, std::uint64_t first)) {
  const caller by{"spatial_join_batches"};
  check(by, given, options.predicate, false);
  if (options.batch_pairs == 0) by.reject("options.batch_pairs is 0; it must be 1 or more");
  spatial_join_problem problem;
  static_cast<void>(describe_sides(problem, given, options.predicate.distance, true));
  const auto chosen = choose(spatial_join_detail::choices, on.settings(), problem, options.strategy);
  const auto& run_by =
      check_backend(chosen.on, spatial_join_call::operation, by.function, "left", given.space, chosen.strategy);
  spatial_join_batches_result done{0, 0, std::string{chosen.on.target->name}, chosen.strategy};
  const std::uint64_t n = given.left.rows;
  if (n == 0 || given.right.rows == 0) return done;
  if (given.space == memory_space::host) {
    given.type == key_type::float32 ? check_left_coordinates<float>(by, given)
                                    : check_left_coordinates<double>(by, given);
  }
  join_in_batches(
      n, static_cast<double>(problem.pairs), options.batch_pairs,
      [&](std::uint64_t begin, std::uint64_t rows, std::uint64_t most) -> std::uint64_t {
        auto part = given;
        part.left.rows = static_cast<std::size_t>(rows);
        for (auto& column : part.left.columns) {
          column = static_cast<const std::byte*>(column) + begin * size_of(given.type);
        }
        batch_provider<spatial_arguments> memory{given, most};
        part.provide = batch_provider<spatial_arguments>::provide;
        part.state = &memory;
        spatial_join_call call;
        return run(by, chosen.on, run_by, part, options.predicate.distance, false, call, begin);
      },
      [&](std::uint64_t begin) { deliver(given.state, begin); }, done);
  return done;
}

spatial_run top_k_spatial_join(const executor& on, const spatial_arguments& given, std::size_t k,
                               const top_k_spatial_join_options& options) {
  const caller by{"top_k_spatial_join"};
  check(by, given, options.predicate, true);
  check_ranking(by, options);
  const bool is_weighted = options.score == pair_score::weighted_sum;
  for (const bool is_left : {true, false}) {
    const double weight = is_left ? options.left_weight : options.right_weight;
    const double rounded = given.type == key_type::float32 ? double{static_cast<float>(weight)} : weight;
    if (is_weighted && !std::isfinite(rounded)) {
      by.reject(std::string("options.") + (is_left ? "left" : "right") + "_weight is " +
                (std::isnan(weight) ? "NaN" : "infinite") + "; a weight must be a number of the scores' type");
    }
  }
  // with k = 0, too, a strategy looks at all values: it finds the best pair, which goes nowhere
  const std::size_t wanted = std::max<std::size_t>(k, 1);
  const auto problem = describe_ranked(given, wanted, options, is_chosen(on, options.strategy));
  const auto [where, strategy] = choose(spatial_join_detail::top_k_choices, on.settings(), problem, options.strategy);
  const auto& run_by = check_memory<top_k_spatial_join_call>(by, where, given, strategy);
  spatial_run done{0, std::string{where.target->name}, strategy};
  spatial_join_statistics counted;
  if (given.left.rows > 0 && given.right.rows > 0) {
    top_k_spatial_join_call call;
    call.score = options.score;
    call.left_weight = is_weighted ? options.left_weight : 1;
    call.right_weight = is_weighted ? options.right_weight : 1;
    call.select = options.select;
    call.k = wanted;
    call.statistics = options.statistics != nullptr ? &counted : nullptr;
    call.blocks_at_once = options.blocks_at_once;
    call.expected_pairs = problem.pairs;
    auto asked = given;
    if (k == 0) {
      asked.target = {spatial_target::kind::nothing};
      asked.reserve = nullptr;
    }
    const std::size_t found = run(by, where, run_by, asked, options.predicate.distance, true, call);
    done.count = std::min(found, k);
    if (k == 0) counted = {};
  }
  if (options.statistics != nullptr) *options.statistics = counted;
  return done;
}

}  // namespace zenith::detail
