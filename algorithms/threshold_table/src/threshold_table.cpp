#include <zenith/threshold_table.hpp>

#include <cmath>
#include <string>

#include <algorithms/scored_top_k/arguments.hpp>
#include <algorithms/threshold_table/choices.hpp>
#include <algorithms/threshold_table/src/storage.hpp>
#include <algorithms/top_k/run.hpp>
#include <core/choose.hpp>
#include <core/message.hpp>

namespace zenith::detail {
namespace {

/// What the cost models see of a query.
threshold_table_problem problem_of(const table_query& query, const scored_top_k_detail::weighted_columns& weighted,
                                   const table_query_options& options) {
  const auto& layout = query.table->layout;
  threshold_table_problem problem{
      layout.rows, query.out_scores_count, weighted.columns.size(), layout.type, query.space, layout.block_rows, 0};
  if (options.strategy != "auto") return problem;
  auto weights = weighted.doubles;
  if (options.select == selection::smallest) {
    for (auto& one : weights) one = -one;
  }
  const double share = expected_share(*query.table, weighted.columns, weights, problem.k);
  problem.share_eighths = static_cast<std::uint32_t>(std::floor(-8 * std::log2(share)));
  return problem;
}

/// "auto" where rows lie on the host: blocks, or all rows where nearly all would be evaluated and the device has the
/// memory, if it needs any.
top_k_run query_fetched(const executor& on, const table_query& query, const table_query_options& options,
                        const threshold_table_problem& problem) {
  auto asked = options;
  const bool has_profile = on.settings().target != nullptr && on.settings().target->default_profile != nullptr;
  const device_profile* const profile = has_profile ? local_profile(on.settings()) : nullptr;
  if (profile != nullptr && threshold_table_detail::streams_rows(problem, *profile)) {
    try {
      asked.strategy = "scan";
      return query_table(on, query, asked);
    } catch (const error& fault) {
      if (fault.code() != error_code::out_of_memory) throw;
    }
  }
  asked.strategy = "blocks";
  return query_table(on, query, asked);
}

}  // namespace

void check_residence(table_residence residence) {
  switch (residence) {
    case table_residence::device:
    case table_residence::host_blocks:
    case table_residence::mapped_rows: return;
  }
  throw error(error_code::invalid_argument, "device_threshold_table: residence is " +
                                                std::to_string(static_cast<int>(residence)) +
                                                ", which no table_residence has");
}

void check_query(const table_query& query, const table_query_options& options, std::size_t columns, std::uint64_t rows,
                 std::uint64_t id_limit) {
  require_known("top_k", "options.select", options.select, selection::smallest);
  require_known("top_k", "options.nans", options.nans, nan_policy::reject);
  scored_top_k_detail::check_sizes({"table", rows, columns, query.weights_count, query.out_scores_count,
                                    query.out_indices_count, query.index_bytes, query.index_signed});
  if (query.index_bytes == 4 && query.index_signed && id_limit > std::uint64_t{1} << 31) {
    scored_top_k_detail::reject("table has ids up to " + std::to_string(id_limit - 1) +
                                ", more than out_indices of 32 bits can hold; use 64-bit indices");
  }
}

top_k_run query_table(const executor& on, const table_query& query, const table_query_options& options) {
  static const threshold_layout nothing;
  const auto& layout = query.table == nullptr ? nothing : query.table->layout;
  check_query(query, options, layout.columns, layout.rows, layout.id_limit);
  const scored_top_k_detail::weighted_columns weighted("table", query.score_type, query.weights, query.weights_count,
                                                       most_table_columns);
  const auto problem = problem_of(query, weighted, options);
  const bool is_directory = query.fetches_rows || query.mapped_rows != nullptr;
  if (is_directory && options.strategy == "auto") return query_fetched(on, query, options, problem);
  const auto chosen = choose(threshold_table_detail::choices, on.settings(), problem, options.strategy);
  if (query.space == memory_space::device && chosen.on.target->memory != memory_space::device) {
    throw error(error_code::invalid_argument,
                "top_k: table is a device_threshold_table, but this executor works on host memory; use an executor of "
                "the table's device, or table.host()",
                chosen.on.target->name);
  }
  const auto& by =
      check_backend(chosen.on, threshold_table_call::operation, "top_k", "table", query.space, chosen.strategy);
  top_k_run run{std::string{chosen.on.target->name}, chosen.strategy};
  threshold_statistics counted;
  if (query.out_scores_count > 0) {
    threshold_table_call call;
    call.layout = &layout;
    call.table = query.bytes;
    call.space = query.space;
    if (is_directory) {
      call.rows = query.fetches_rows ? bytes_of(*query.table).data() : query.mapped_rows;
      call.maps_rows = !query.fetches_rows;
      // nothing in front of the directory is touched there
      call.table = reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(query.bytes) - layout.begins);
    }
    call.columns = weighted.columns.data();
    call.weights = weighted.weights(query.score_type);
    call.column_count = static_cast<unsigned>(weighted.columns.size());
    if (query.space == memory_space::host && has_lists(*query.table)) call.lists = query.table->lists.data();
    call.statistics = options.statistics == nullptr ? nullptr : &counted;
    auto& result = call.result;
    result.type = query.score_type;
    result.space = query.out_space;
    result.count = layout.rows;
    result.k = query.out_scores_count;
    result.out_keys = query.out_scores;
    result.out_indices = query.out_indices;
    result.index_bytes = query.index_bytes;
    result.select = options.select;
    result.nan_first = options.nans != nan_policy::last;
    const top_k_detail::rejection nan{options.nans == nan_policy::reject, "a score is NaN"};
    top_k_detail::run_parts(chosen.on, result, nan, top_k_detail::segment_limit,
                            [&](const top_k_call& whole, std::uint64_t /*first*/) {
                              auto there = call;
                              there.result = whole;
                              by.run(chosen.on, &there);
                            });
  }
  if (options.statistics != nullptr) *options.statistics = counted;
  return run;
}

}  // namespace zenith::detail
