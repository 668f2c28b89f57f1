#include <zenith/scored_top_k.hpp>

#include <string>
#include <vector>

#include <algorithms/scored_top_k/arguments.hpp>
#include <algorithms/scored_top_k/choices.hpp>
#include <algorithms/top_k/options.hpp>
#include <algorithms/top_k/run.hpp>
#include <core/choose.hpp>

namespace zenith::detail {
top_k_run scored_top_k(const executor& on, const scored_top_k_arguments& given, const top_k_options& options) {
  scored_top_k_detail::check_sizes({"columns", given.rows, given.columns.size(), given.weights_count,
                                    given.out_scores_count, given.out_indices_count, given.index_bytes,
                                    given.index_signed});
  top_k_detail::check_options(options);
  const scored_top_k_detail::weighted_columns weighted("columns", given.score_type, given.weights, given.weights_count,
                                                       most_scored_columns);
  std::vector<const void*> columns;
  for (const auto j : weighted.columns) columns.push_back(given.columns[j]);
  const scored_top_k_problem problem{given.rows, given.out_scores_count, weighted.columns.size(), given.type,
                                     given.space};
  const auto chosen = choose(scored_top_k_detail::choices, on.settings(), problem, options.strategy);
  const auto& by =
      check_backend(chosen.on, scored_top_k_call::operation, "top_k", "columns", given.space, chosen.strategy);
  if (given.out_scores_count == 0) {
    if (options.statistics != nullptr) *options.statistics = {};
    return {std::string{chosen.on.target->name}, chosen.strategy};
  }
  scored_top_k_call call;
  call.type = given.type;
  call.columns = columns.data();
  call.weights = weighted.weights(given.score_type);
  call.column_count = static_cast<unsigned>(columns.size());
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
  top_k_detail::run_parts(chosen.on, result, nan, top_k_detail::segment_limit,
                          [&](const top_k_call& part, std::uint64_t first) {
                            auto there = call;
                            there.result = part;
                            there.first_row = first;
                            by.run(chosen.on, &there);
                          });
  return {std::string{chosen.on.target->name}, chosen.strategy};
}

}  // namespace zenith::detail
