#include <zenith/spatial_index.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include <algorithms/spatial_index/choices.hpp>
#include <algorithms/spatial_index/src/sampled_boxes.hpp>
#include <algorithms/spatial_index/src/sides.hpp>
#include <algorithms/spatial_index/src/storage.hpp>
#include <algorithms/spatial_join/src/batches.hpp>
#include <core/choose.hpp>
#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

/// What begins the messages of a call.
struct caller {
  const char* function;

  [[noreturn]] void reject(const std::string& message, error_code code = error_code::invalid_argument) const {
    throw error(code, std::string{function} + ": " + message);
  }
};

void check_ids(const caller& by, std::uint64_t items, int index_bytes, bool index_signed) {
  if (index_bytes == 4 && index_signed && items > std::uint64_t{std::numeric_limits<std::int32_t>::max()} + 1) {
    by.reject("a side has " + std::to_string(items) +
              " items, more than ids of signed 32 bits can tell apart; use unsigned or 64-bit ids");
  }
}

void check_distance(const caller& by, double distance, const std::string& name) {
  if (distance >= 0) return;
  by.reject(name + " is " + (std::isnan(distance) ? "NaN" : "negative") + "; it must be 0 or more");
}

/// The caller's memory, or vectors; no memory for these is an error of ours.
template <class Arguments>
struct output_provider {
  const caller& by;
  const Arguments& given;

  static spatial_output provide(void* state, std::uint64_t count) {
    const auto& here = *static_cast<const output_provider*>(state);
    const auto& target = here.given.target;
    if (target.is != spatial_target::kind::vectors) return count <= target.size ? target.at : spatial_output{};
    try {
      return here.given.provide(here.given.state, count);
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    here.by.reject("there is no memory for " + std::to_string(count) + " results", error_code::out_of_memory);
  }
};

void check_outputs(const caller& by, const execution& on, std::string_view operation, const char* name,
                   const spatial_target& target, const std::string& strategy) {
  if (target.is != spatial_target::kind::memory || target.space != memory_space::device) return;
  check_backend(on, operation, by.function, name, target.space, strategy);
}

void check_region(const caller& by, const range_arguments& given) {
  const std::string column[] = {"[0]", "[1]", "[2]"};
  for (unsigned a = 0; a < given.dimensions; ++a) {
    if (given.is_ball) {
      if (!std::isfinite(given.low[a])) by.reject("region.centre" + column[a] + " is NaN or infinite");
      continue;
    }
    if (std::isnan(given.low[a])) by.reject("region.low" + column[a] + " is NaN");
    if (std::isnan(given.high[a])) by.reject("region.high" + column[a] + " is NaN");
    if (given.low[a] > given.high[a]) by.reject("region.low" + column[a] + " is above region.high" + column[a]);
  }
  if (given.is_ball) check_distance(by, given.distance, "region.distance");
}

/// The lowest row of an index for whose score `is_bad`; the columns were checked, so that there is one.
template <class T, class Test>
std::uint64_t first_score(const index_storage& index, const Test& is_bad) {
  const T* const scores = index_column<T>(index, index.layout.scores_by_id);
  return static_cast<std::uint64_t>(std::find_if(scores, scores + index.layout.items, is_bad) - scores);
}

/// Scores that the pair's score does not take, by a side's extremes.
template <class T>
void check_scores(const caller& by, const index_argument& given, const char* side, pair_score score, double weight) {
  const T least = static_cast<T>(given.least);
  const T most = static_cast<T>(given.most);
  const auto name = [&](std::uint64_t row) { return std::string{side} + ".scores[" + std::to_string(row) + "]"; };
  if (score == pair_score::product && least < T{0}) {
    by.reject(name(first_score<T>(*given.host(given.index), [](T one) { return one < T{0}; })) +
              " is negative; a product takes scores of 0 and more");
  }
  const T by_weight = static_cast<T>(weight);
  const auto is_infinite = [&](T one) { return !std::isfinite(one * by_weight); };
  if (is_infinite(least) || is_infinite(most)) {
    by.reject(name(first_score<T>(*given.host(given.index), is_infinite)) + " times options." + side +
              "_weight is infinite; use smaller weights");
  }
}

/// Where and by what all pairs of two indexes are joined, their arguments checked.
struct join_choice : choice {
  const kernel& run_by;
};

template <class Options>
join_choice choose_join(const caller& by, const executor& on, const index_join_arguments& given,
                        const Options& options) {
  check_columns(given, by.function);
  const auto [left, right] = sizes_of(given);
  if (const auto* const near = std::get_if<within>(&options.predicate)) {
    check_distance(by, near->distance, "options.predicate.distance");
  }
  check_ids(by, std::max(left, right), given.index_bytes, given.index_signed);
  auto chosen =
      choose(spatial_index_detail::all_pairs_choices, on.settings(),
             index_join_problem{left, right, given.type, given.left.space, items_to_build(given)}, options.strategy);
  const auto& run_by =
      check_backend(chosen.on, index_join_call::operation, by.function, "left", given.left.space, chosen.strategy);
  check_outputs(by, chosen.on, index_join_call::operation, "left_out", given.target, chosen.strategy);
  return {std::move(chosen), run_by};
}

/// Fills in what all joins of indexes have, and runs the call; returns the number of pairs.
template <class Call>
std::uint64_t run(const caller& by, const execution& on, const kernel& run_by, const index_join_arguments& given,
                  const std::variant<within, intersects>& predicate, Call& call) {
  const auto* const near = std::get_if<within>(&predicate);
  const auto [left, right] = sizes_of(given);
  output_provider<index_join_arguments> results{by, given};
  spatial_outcome outcome;
  call.type = given.type;
  call.space = given.left.space;
  call.dimensions = given.dimensions;
  call.left.rows = left;
  call.right.rows = right;
  call.left_index = {given.left.layout, given.left.bytes, given.left.space};
  call.right_index = {given.right.layout, given.right.bytes, given.right.space};
  call.intersects = near == nullptr;
  call.distance = near == nullptr ? 0 : near->distance;
  call.index_bytes = given.index_bytes;
  call.out_space = given.target.space;
  call.provide = output_provider<index_join_arguments>::provide;
  call.provide_state = &results;
  call.outcome = &outcome;
  run_by.run(on, &call);
  return outcome.count;
}

/// The pairs of `rows` left ids from `first` on, of indexes.
std::uint64_t join_rows(const caller& by, const join_choice& chosen, const index_join_arguments& given,
                        const std::variant<within, intersects>& predicate, std::uint64_t first, std::uint64_t rows) {
  index_join_call call;
  call.first = first;
  call.rows = rows;
  return run(by, chosen.on, chosen.run_by, given, predicate, call);
}

}  // namespace

spatial_run index_join(const executor& on, const index_join_arguments& given, const index_join_options& options) {
  const caller by{given.target.is == spatial_target::kind::nothing ? "count_spatial_join" : "spatial_join"};
  const auto chosen = choose_join(by, on, given, options);
  spatial_run done{0, std::string{chosen.on.target->name}, chosen.strategy};
  const auto [left, right] = sizes_of(given);
  if (left == 0 || right == 0) return done;
  const auto joined = index_sides(chosen.on, given, by.function);
  done.count = static_cast<std::size_t>(join_rows(by, chosen, joined.given, options.predicate, 0, left));
  if (given.target.is == spatial_target::kind::memory && done.count > given.target.size) {
    by.reject("left_out has " + std::to_string(given.target.size) + " elements, but there are " +
              std::to_string(done.count) + " pairs");
  }
  return done;
}

spatial_join_batches_result index_join_batches(const executor& on, const index_join_arguments& given,
                                               const index_join_batch_options& options,
                                               void (*deliver)(void* state, std::uint64_t first)) {
  const caller by{"spatial_join_batches"};
  if (options.batch_pairs == 0) by.reject("options.batch_pairs is 0; it must be 1 or more");
  const auto chosen = choose_join(by, on, given, options);
  spatial_join_batches_result done{0, 0, std::string{chosen.on.target->name}, chosen.strategy};
  const auto [left, right] = sizes_of(given);
  if (left == 0 || right == 0) return done;
  const auto joined = index_sides(chosen.on, given, by.function);
  join_in_batches(
      left, 4.0 * static_cast<double>(left), options.batch_pairs,
      [&](std::uint64_t begin, std::uint64_t rows, std::uint64_t most) {
        auto part = joined.given;
        batch_provider<index_join_arguments> memory{given, most};
        part.provide = batch_provider<index_join_arguments>::provide;
        part.state = &memory;
        return join_rows(by, chosen, part, options.predicate, begin, rows);
      },
      [&](std::uint64_t begin) { deliver(given.state, begin); }, done);
  return done;
}

spatial_run top_k_range(const executor& on, const range_arguments& given, const top_k_range_options& options) {
  const caller by{"top_k_range"};
  const std::uint64_t items = given.index.layout == nullptr ? 0 : given.index.layout->items;
  check_region(by, given);
  require_known(by.function, "options.select", options.select, selection::smallest);
  check_ids(by, items, given.index_bytes, given.index_signed);
  const top_k_range_problem problem{items, given.k, given.type, given.index.space};
  const auto [where, strategy] = choose(spatial_index_detail::range_choices, on.settings(), problem, options.strategy);
  const auto& run_by =
      check_backend(where, top_k_range_call::operation, by.function, "index", given.index.space, strategy);
  check_outputs(by, where, top_k_range_call::operation, "keys_out", given.target, strategy);
  spatial_run done{0, std::string{where.target->name}, strategy};
  if (items == 0 || given.k == 0) return done;
  output_provider<range_arguments> results{by, given};
  top_k_range_call call;
  call.index = {given.index.layout, given.index.bytes, given.index.space};
  std::copy_n(given.low, 3, call.low);
  std::copy_n(given.high, 3, call.high);
  call.intersects = !given.is_ball;
  call.distance = given.distance;
  call.select = options.select;
  call.k = given.k;
  call.index_bytes = given.index_bytes;
  call.out_space = given.target.space;
  call.provide = output_provider<range_arguments>::provide;
  call.provide_state = &results;
  std::uint64_t found = 0;
  call.found = &found;
  run_by.run(where, &call);
  done.count = static_cast<std::size_t>(found);
  return done;
}

namespace {

/// The points of a side, of an index in the order of its tree; no columns: it has boxes.
spatial_points points_of(const index_join_arguments& given, bool is_right) {
  const auto& index = is_right ? given.right : given.left;
  if (const auto& side = given.columns[is_right ? 1 : 0]) {
    return side->has_boxes ? spatial_points{} : side->low;
  }
  if (index.layout->has_boxes) return {};
  spatial_points points;
  for (unsigned a = 0; a < given.dimensions; ++a) points.columns.push_back(index.bytes + index.layout->low[a]);
  points.rows = points.score_count = static_cast<std::size_t>(index.layout->items);
  points.scores = index.bytes + index.layout->scores;
  return points;
}

bool is_on_host(const index_join_arguments& given) {
  return given.left.space == memory_space::host && given.right.space == memory_space::host;
}

/// What the models ask of a call. What lies on the host is sampled, unless the call names a strategy.
top_k_index_join_problem describe(const executor& on, const index_join_arguments& given,
                                  const top_k_index_join_options& options) {
  const auto [left, right] = sizes_of(given);
  top_k_index_join_problem problem{left, right, given.k, given.type, given.left.space};
  problem.to_build = items_to_build(given);
  const bool is_modelled = options.strategy == "auto" || on.is_automatic();
  if (!is_modelled || !is_on_host(given) || left == 0 || right == 0) return problem;
  top_k_spatial_join_options asked{.score = options.score,
                                   .left_weight = options.left_weight,
                                   .right_weight = options.right_weight,
                                   .select = options.select};
  const auto* const near = std::get_if<within>(&options.predicate);
  top_k_spatial_join_problem sampled;
  spatial_arguments sides{};
  sides.type = given.type;
  sides.space = memory_space::host;
  sides.left = points_of(given, false);
  sides.right = points_of(given, true);
  sides.index_bytes = 8;
  if (near != nullptr && !sides.left.columns.empty() && !sides.right.columns.empty()) {
    asked.predicate = *near;
    sampled = describe(sides, given.k, asked);
  } else {
    const auto of_boxes = [&]<class T>(const sampled_boxes<T>& boxes) {
      asked.predicate.distance = boxes.distance();
      sampled = describe(boxes.sides(), given.k, asked, boxes.pairs_of_one());
    };
    const double distance = near == nullptr ? 0 : near->distance;
    given.type == key_type::float32 ? of_boxes(sampled_boxes<float>(given, distance))
                                    : of_boxes(sampled_boxes<double>(given, distance));
  }
  problem.pairs = sampled.pairs;
  problem.scores_oppose = sampled.scores_oppose;
  problem.scores_agree = sampled.scores_agree;
  problem.tied = sampled.tied;
  return problem;
}

}  // namespace

spatial_run top_k_index_join(const executor& on, const index_join_arguments& given,
                             const top_k_index_join_options& options) {
  const caller by{"top_k_spatial_join"};
  check_columns(given, by.function);
  require_known(by.function, "options.score", options.score, pair_score::weighted_sum);
  require_known(by.function, "options.select", options.select, selection::smallest);
  const auto [left, right] = sizes_of(given);
  const auto* const near = std::get_if<within>(&options.predicate);
  if (near != nullptr) check_distance(by, near->distance, "options.predicate.distance");
  check_ids(by, std::max(left, right), given.index_bytes, given.index_signed);
  const bool is_weighted = options.score == pair_score::weighted_sum;
  const double weights[] = {is_weighted ? options.left_weight : 1, is_weighted ? options.right_weight : 1};
  for (int side = 0; side < 2; ++side) {
    const double rounded = given.type == key_type::float32 ? double{static_cast<float>(weights[side])} : weights[side];
    if (std::isfinite(rounded)) continue;
    by.reject(std::string("options.") + (side == 0 ? "left" : "right") + "_weight is " +
              (std::isnan(rounded) ? "NaN" : "infinite") + "; a weight must be a number of the scores' type");
  }
  const auto problem = describe(on, given, options);
  const auto [where, strategy] = choose(spatial_index_detail::join_choices, on.settings(), problem, options.strategy);
  const auto& run_by =
      check_backend(where, top_k_index_join_call::operation, by.function, "left", given.left.space, strategy);
  check_outputs(by, where, top_k_index_join_call::operation, "left_out", given.target, strategy);
  spatial_run done{0, std::string{where.target->name}, strategy};
  spatial_join_statistics counted;
  if (left > 0 && right > 0) {
    const auto joined = index_sides(where, given, by.function);
    const auto check = given.type == key_type::float32 ? check_scores<float> : check_scores<double>;
    check(by, joined.given.left, "left", options.score, weights[0]);
    check(by, joined.given.right, "right", options.score, weights[1]);
    if (given.k > 0) {
      top_k_index_join_call call;
      call.score = options.score;
      call.left_weight = weights[0];
      call.right_weight = weights[1];
      call.select = options.select;
      call.k = given.k;
      call.statistics = options.statistics == nullptr ? nullptr : &counted;
      call.blocks_at_once = options.blocks_at_once;
      call.expected_pairs = problem.pairs;
      done.count = static_cast<std::size_t>(run(by, where, run_by, joined.given, options.predicate, call));
    }
  }
  if (options.statistics != nullptr) *options.statistics = counted;
  return done;
}

}  // namespace zenith::detail
