#pragma once

/// \file
/// How large the suite of threshold tables is, and what it compares with: the definition of scored top-k. The same
/// cases make two programs: one for the backends of the build and one for the CUDA backend emulated lane by lane.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <scored_suite.hpp>
#include <zenith/threshold_table.hpp>

namespace conformance::tables {

using conformance::scored::answer;
using conformance::scored::question;

struct suite {
  std::vector<zenith_test::target> targets;
  std::size_t most_rows = 0;
  double share = 1;  ///< of the cases that are run, chosen anew by each seed
};

/// Each program defines it.
[[nodiscard]] const suite& the_suite();

/// A table's options with what they borrow.
struct arrangement {
  zenith::table_options options;
  std::vector<double> weights;

  [[nodiscard]] std::string name() const { return blocks() + (options.sorted_lists ? ", sorted lists" : ""); }
  [[nodiscard]] std::string blocks() const {
    if (options.layout == zenith::table_layout::clusters) {
      return "clusters of " + std::to_string(options.block_rows);
    }
    return std::to_string(options.partitions) +
           (options.partitioning == zenith::table_partitioning::angle ? " angle" : " random") + " partitions by " +
           std::to_string(static_cast<int>(options.order)) + ", blocks of " + std::to_string(options.block_rows);
  }
};

/// Where a table is asked.
enum class place { host, device, host_blocks };

/// What is wrong with `asked` of a table on a target; empty when nothing is.
template <class T>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, const zenith::threshold_table<T>& table,
                                   const question<T>& asked, const answer<T>& expected, place where) {
  using score = zenith::score_t<T>;
  zenith::threshold_statistics seen;
  const zenith::table_query_options options{
      .select = asked.select, .nans = asked.nans, .strategy = on.strategy, .statistics = &seen};
  constexpr score untouched{-77};
  std::vector<score> scores(asked.k, untouched);
  std::vector<std::uint32_t> ids(asked.k);
  bool rejected = false;
  try {
    if (where != place::host) {
      const zenith::device_threshold_table<T> there(
          on.on, table,
          where == place::device ? zenith::table_residence::device : zenith::table_residence::host_blocks);
      zenith::array<score> out(on.on, std::span<const score>(scores));
      zenith::array<std::uint32_t> out_ids(on.on, std::span<const std::uint32_t>(ids));
      zenith::top_k(on.on, there, asked.weights, out.device(), out_ids.device(), options);
      out.copy_to(scores);
      out_ids.copy_to(ids);
    } else {
      zenith::top_k(on.on, table, asked.weights, scores, ids, options);
    }
  } catch (const zenith::error& fault) {
    if (fault.code() != zenith::error_code::invalid_argument || !expected.has_nan) return fault.what();
    rejected = true;
  }
  if (asked.nans == zenith::nan_policy::reject && expected.has_nan && asked.k > 0) {
    if (!rejected) return "a NaN was not rejected";
    return std::ranges::all_of(scores, [](score one) { return one == untouched; }) ? "" : "outputs were written";
  }
  if (rejected) return "it was rejected";
  if (seen.rows_evaluated < asked.k || seen.rows_evaluated > 3 * table.rows()) {
    return "it evaluated " + std::to_string(seen.rows_evaluated) + " rows";
  }
  return conformance::scored::difference<T, std::uint32_t>(asked, expected, scores, ids);
}

/// Puts a question to the share of the targets: tables on the host, on the device, and there by their directory alone.
template <class T>
void ask_everywhere(zenith_test::verdict& seen, const arrangement& arranged, const question<T>& asked,
                    zenith_test::random_source& random, double share = the_suite().share) {
  // made for the first of the targets that are drawn
  std::optional<answer<T>> expected;
  zenith::threshold_table<T> table;
  for (const bool by_blocks : {false, true}) {
    const auto text = [&] {
      return asked.text() + ", " + arranged.name() + (by_blocks ? ", its rows on the host and its directory" : "");
    };
    zenith_test::judge(
        seen, the_suite().targets, random,
        [&](const zenith_test::place& at) { return by_blocks && !at.on_device ? 0 : share; }, text,
        [&](const zenith_test::place& at) {
          if (!expected) {
            zenith::column_set<T> columns;
            for (const auto& one : asked.columns) columns.add(one);
            table = zenith::threshold_table<T>::build(zenith::make_executor("auto"), columns, arranged.options);
            expected.emplace(asked);
          }
          const auto where = by_blocks ? place::host_blocks : at.on_device ? place::device : place::host;
          return fault_of(at.on, table, asked, *expected, where);
        });
  }
}

}  // namespace conformance::tables
