#include <zenith/scored_top_k.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <algorithms/scored_top_k/choices.hpp>
#include <algorithms/top_k/run.hpp>
#include <core/choose.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

[[noreturn]] void reject(const std::string& message) { throw error(error_code::invalid_argument, "top_k: " + message); }

void check_sizes(const scored_top_k_arguments& given) {
  if (given.weights_count != given.columns.size()) {
    reject("weights has " + std::to_string(given.weights_count) + " elements and columns " +
           std::to_string(given.columns.size()) + " columns; they must be as many");
  }
  if (given.out_scores_count != given.out_indices_count) {
    reject("out_scores has " + std::to_string(given.out_scores_count) + " elements and out_indices " +
           std::to_string(given.out_indices_count) + "; both must have k");
  }
  if (given.out_scores_count > given.rows) {
    reject("k is " + std::to_string(given.out_scores_count) + ", but columns has only " + std::to_string(given.rows) +
           " rows");
  }
  if (given.index_bytes == 4 && given.rows > 0) {
    const std::uint64_t most =
        given.index_signed ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::uint32_t>::max();
    if (given.rows - 1 > most) {
      reject("columns has " + std::to_string(given.rows) +
             " rows, more than out_indices of 32 bits can tell apart; use 64-bit indices");
    }
  }
}

double weight_at(const scored_top_k_arguments& given, std::size_t j) {
  return given.score_type == key_type::float32 ? double{static_cast<const float*>(given.weights)[j]}
                                               : static_cast<const double*>(given.weights)[j];
}

/// The columns that have a weight.
struct weighted_columns {
  std::vector<const void*> columns;
  std::vector<float> floats;
  std::vector<double> doubles;

  explicit weighted_columns(const scored_top_k_arguments& given) {
    for (std::size_t j = 0; j < given.columns.size(); ++j) {
      const double weight = weight_at(given, j);
      if (!std::isfinite(weight)) {
        reject("weights[" + std::to_string(j) + "] is " + (std::isnan(weight) ? "NaN" : "infinite") +
               "; a weight must be a number");
      }
      if (weight == 0) continue;
      columns.push_back(given.columns[j]);
      floats.push_back(static_cast<float>(weight));
      doubles.push_back(weight);
    }
    if (columns.empty()) {
      reject(given.columns.empty() ? "columns has no column" : "weights has only zeros; at least one must not be 0");
    }
    if (columns.size() > most_scored_columns) {
      reject("weights has " + std::to_string(columns.size()) + " elements that are not 0; the most is " +
             std::to_string(most_scored_columns));
    }
  }
};

}  // namespace

top_k_run scored_top_k(const executor& on, const scored_top_k_arguments& given, const top_k_options& options) {
  check_sizes(given);
  const weighted_columns weighted(given);
  const scored_top_k_problem problem{given.rows, given.out_scores_count, weighted.columns.size(), given.type,
                                     given.space};
  const auto chosen = choose(scored_top_k_detail::choices, on.settings(), problem, options.strategy);
  check_backend(chosen.on, scored_top_k_call::operation, "top_k", "columns", given.space, chosen.strategy);
  if (given.out_scores_count == 0) {
    if (options.statistics != nullptr) *options.statistics = {};
    return {std::string{chosen.on.target->name}, chosen.strategy};
  }
  scored_top_k_call call;
  call.type = given.type;
  call.columns = weighted.columns.data();
  call.weights = given.score_type == key_type::float32 ? static_cast<const void*>(weighted.floats.data())
                                                       : static_cast<const void*>(weighted.doubles.data());
  call.column_count = static_cast<unsigned>(weighted.columns.size());
  auto& result = call.result;
  result.type = given.score_type;
  result.space = given.space;
  result.count = given.rows;
  result.k = given.out_scores_count;
  result.out_keys = given.out_scores;
  result.out_indices = given.out_indices;
  result.index_bytes = given.index_bytes;
  result.select = options.select;
  result.order = options.order;
  result.ties = options.ties;
  result.nan_first = options.nans != nan_policy::last;
  result.statistics = options.statistics;
  const top_k_detail::rejection nan{options.nans == nan_policy::reject, "a score is NaN"};
  top_k_detail::run_parts(
      chosen.on, result, nan, top_k_detail::segment_limit, [&](const top_k_call& part, std::uint64_t first) {
        auto there = call;
        there.result = part;
        there.first_row = first;
        find_kernel(*chosen.on.target, scored_top_k_call::operation, chosen.strategy)->run(chosen.on, &there);
      });
  return {std::string{chosen.on.target->name}, chosen.strategy};
}

}  // namespace zenith::detail
