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
    const bool by_angle = options.partitioning == zenith::table_partitioning::angle;
    const bool is_regular = options.splits == zenith::angle_splits::regular;
    return std::to_string(options.partitions) +
           (!by_angle    ? " random"
            : is_regular ? " regular angle"
                         : " angle") +
           " partitions by " + std::to_string(static_cast<int>(options.order)) + ", blocks of " +
           std::to_string(options.block_rows);
  }
};

/// Where a table is asked, and where it was built when that is not on the host.
enum class place { host, device, host_blocks, mapped_rows, built_there };

/// Whether the target's backend builds such tables; asked for with one of its strategies.
[[nodiscard]] inline bool builds(const zenith_test::target& on, const arrangement& arranged) {
  return on.strategy == "blocks" && arranged.options.layout == zenith::table_layout::clusters &&
         !arranged.options.sorted_lists &&
         zenith::find_kernel(*on.on.settings().target, "threshold_build", "clusters") != nullptr;
}

/// The question's columns in the memory of an executor.
template <class T>
struct columns_there {
  std::vector<zenith::array<T>> arrays;
  zenith::device_column_set<T> columns;

  columns_there(const zenith::executor& on, const question<T>& asked) {
    for (const auto& one : asked.columns) arrays.emplace_back(on, std::span<const T>(one));
    for (const auto& one : arrays) columns.add(one.device());
  }
};

/// The table as the device builds it, from columns on the host or there.
template <class T>
[[nodiscard]] zenith::device_threshold_table<T> built_on_device(const zenith::executor& on, const question<T>& asked,
                                                                const zenith::table_options& options) {
  if (asked.k % 2 == 0) {
    const columns_there<T> there(on, asked);
    return zenith::device_threshold_table<T>::build(on, there.columns, options);
  }
  zenith::column_set<T> here;
  for (const auto& one : asked.columns) here.add(one);
  return zenith::device_threshold_table<T>::build(on, here, options);
}

/// What is wrong with `asked` of a table on a target; empty when nothing is.
template <class T>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, const zenith::threshold_table<T>& table,
                                   const question<T>& asked, const answer<T>& expected, place where,
                                   const zenith::table_options& arranged) {
  using score = zenith::score_t<T>;
  zenith::threshold_statistics seen;
  const zenith::table_query_options options{
      .select = asked.select, .nans = asked.nans, .strategy = on.strategy, .statistics = &seen};
  constexpr score untouched{-77};
  std::vector<score> scores(asked.k, untouched);
  std::vector<std::uint32_t> ids(asked.k);
  bool rejected = false;
  try {
    if (where == place::built_there && on.memory == zenith::memory_space::host) {
      zenith::column_set<T> columns;
      for (const auto& one : asked.columns) columns.add(one);
      const auto made = zenith::detail::build_table_there(on.on, zenith::detail::input_of_columns(columns),
                                                          zenith::memory_space::host, arranged);
      zenith::detail::query_table(
          on.on,
          zenith::detail::table_query_of(made.get(), zenith::detail::bytes_of(*made).data(), zenith::memory_space::host,
                                         std::span<const score>(asked.weights), zenith::memory_space::host,
                                         scores.data(), scores.size(), ids.data(), ids.size()),
          options);
    } else if (where != place::host) {
      const auto there =
          where == place::built_there
              ? built_on_device(on.on, asked, arranged)
              : zenith::device_threshold_table<T>(on.on, table,
                                                  where == place::device        ? zenith::table_residence::device
                                                  : where == place::mapped_rows ? zenith::table_residence::mapped_rows
                                                                                : zenith::table_residence::host_blocks);
      zenith::array<score> out(on.on, std::span<const score>(scores));
      zenith::array<std::uint32_t> out_ids(on.on, std::span<const std::uint32_t>(ids));
      zenith::top_k(on.on, there, asked.weights, out.device(), out_ids.device(), options);
      out.copy_to(scores);
      out_ids.copy_to(ids);
      const auto as_value = zenith::top_k<std::uint32_t>(on.on, there, asked.weights, asked.k, options);
      if (as_value.indices != ids ||
          !std::ranges::equal(std::as_bytes(std::span(as_value.keys)), std::as_bytes(std::span(scores)))) {
        return "the form that returns a value differs";
      }
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

/// Puts a question to the share of the targets: tables on the host, on the device, there by their directory alone, and
/// as the target builds them.
template <class T>
void ask_everywhere(zenith_test::verdict& seen, const arrangement& arranged, const question<T>& asked,
                    zenith_test::random_source& random, double share = the_suite().share) {
  // made for the first of the targets that are drawn
  std::optional<answer<T>> expected;
  zenith::threshold_table<T> table;
  for (const auto how : {place::host, place::host_blocks, place::mapped_rows, place::built_there}) {
    const auto text = [&] {
      return asked.text() + ", " + arranged.name() +
             (how == place::host_blocks   ? ", its rows on the host and its directory"
              : how == place::mapped_rows ? ", its rows mapped and its directory"
              : how == place::built_there ? ", built by the target"
                                          : "");
    };
    const auto share_of = [&](const zenith_test::place& at) {
      const bool is_there = at.on_device || at.on.memory == zenith::memory_space::host;
      if (how == place::built_there) return is_there && builds(at.on, arranged) ? share : 0;
      const bool is_directory = how == place::host_blocks || how == place::mapped_rows;
      const bool can_map = at.on.on.settings().target->map_host != nullptr;
      if (how == place::mapped_rows && !can_map) return 0.0;
      return is_directory && !at.on_device ? 0 : share;
    };
    zenith_test::judge(seen, the_suite().targets, random, share_of, text, [&](const zenith_test::place& at) {
      if (!expected) {
        zenith::column_set<T> columns;
        for (const auto& one : asked.columns) columns.add(one);
        table = zenith::threshold_table<T>::build(zenith::make_executor("auto"), columns, arranged.options);
        expected.emplace(asked);
      }
      const auto where = how == place::host && at.on_device ? place::device : how;
      return fault_of(at.on, table, asked, *expected, where, arranged.options);
    });
  }
}

}  // namespace conformance::tables
