#pragma once

/// \file
/// What the cost models of skylines, bands and layers have in common. Rates of hosts are fitted to c/i/a, 2 to 16
/// columns, 10^3 to 10^6 rows (perf/notes/skyline.md).

#include <algorithm>
#include <cmath>
#include <vector>

#include <algorithms/skyline/family.hpp>
#include <zenith/cost.hpp>
#include <zenith/skyline.hpp>

namespace zenith::skyline_detail {

/// How many of so many rows of independent columns are in their skyline.
[[nodiscard]] double skyline_of(double rows, double columns);

/// The size of a skyline is known only afterwards. What is expected is that of so many independent columns as a sample
/// says, or as there are.
struct estimate {
  double rows;
  double columns;
  double worth;   ///< of a column: below 1 of correlated ones, above of anticorrelated ones
  double groups;  ///< each of which has a skyline
  double skyline;
  double left;   ///< by the prefilter
  double pairs;  ///< of a row that is left and a row of the skyline that is compared with it

  explicit estimate(const skyline_problem& problem)
      : rows(static_cast<double>(problem.rows)),
        columns(problem.columns),
        worth(problem.independent_columns > 0 ? problem.independent_columns / columns : 1),
        groups(std::clamp(problem.groups, 1.0, std::max(rows, 1.0))),
        skyline(groups * skyline_of(rows / groups, worth * columns)),
        left(rows_left()),
        // a row that is dominated is so by one of the first rows in the order
        pairs(skyline * skyline / 2 + (left - skyline) * skyline * 0.15) {}

  /// Pairs of a row and one of the skyline of its group that is compared with it.
  [[nodiscard]] double pairs_in_groups() const {
    // with the first of a large group alone
    const double most = rows / groups > skyline_family::most_settled_rows ? 32 * rows : rows * rows;
    return std::min(most, (skyline * skyline / 2 + (rows - skyline) * skyline * 0.15) / groups);
  }
  [[nodiscard]] double sorted() const { return left * std::log2(std::max(left, 2.0)); }
  // Rows that none of a number of pivots dominates, as measured: with more rows, the pivots dominate a smaller share of
  // those that are dominated at all. With more pivots that share is larger. A group has some of them, the fewer the
  // more groups there are, or none: then all of its rows are left.
  [[nodiscard]] double rows_left(double share_of_exponent = 1) const {
    const double exponent = share_of_exponent * std::min(0.5, (0.7 + 0.5 * worth) / columns);
    const double times = std::max(1.0, std::pow(rows / 1000, exponent)) * std::pow(groups, 0.2);
    const auto pivots = skyline_family::pivots_for(static_cast<std::uint64_t>(rows), static_cast<unsigned>(columns));
    const double without = groups > 1 ? std::pow(1 - 1 / groups, pivots) : 0;
    return rows * (without + (1 - without) * (1 - std::pow(1 - skyline / std::max(rows, 1.0), times)));
  }
};

/// Launches for a region of a call that wakes so many workers: they sleep, and wake as late whether they are few or
/// many.
[[nodiscard]] double region(int workers, const device_profile& on);

/// How many columns say which row is better.
[[nodiscard]] inline unsigned better_columns(const skyline_problem& problem) {
  const unsigned different = std::max(problem.different, problem.groups > 0 ? 1U : 0U);
  return problem.columns - std::min(problem.columns, different);
}
/// Where no column does, all rows that take part are listed, whatever the strategy (incomparable_rows.hpp).
[[nodiscard]] inline bool are_incomparable(const skyline_problem& problem) { return better_columns(problem) == 0; }
[[nodiscard]] cost incomparable_cost(const skyline_problem& problem, const device_profile& on);

[[nodiscard]] inline double values_of(const estimate& of) { return of.rows * of.columns; }

/// The vectors of a host hold half as many values of 8 bytes.
[[nodiscard]] inline double twice_if_wide(const skyline_problem& problem) { return size_of(problem.type) == 8 ? 2 : 1; }

[[nodiscard]] inline bool is_host(const device_profile& on) { return on.kind == device_kind::cpu; }

/// The estimates are of a core that computes with 64 bytes at once, for which vectors take .63 of the time of other
/// work beside the estimates'; with fewer it takes longer, but not for everything.
[[nodiscard]] double by_shorter_vectors(const device_profile& on);

/// Whether a host takes a table's values four at a time: of one row side by side, as most tables have them.
[[nodiscard]] inline bool goes_by_fours(const skyline_problem& problem) {
  return problem.columns % 4 == 0 && size_of(problem.type) == 4;
}

/// Rows that the best pivot leaves, as measured: more where few are left by all of them than there are of these.
[[nodiscard]] inline double rows_screened(const estimate& of) { return std::sqrt(of.left * of.rows); }

/// How the workers of a host share the rounds of a strategy.
struct shared_rounds {
  double blocks = 1;    ///< or windows
  double moves = 0;     ///< of a row of the skyline
  double launches = 0;  ///< that wake workers
  double busy = 1;      ///< workers that have something to do, on average
};

/// Adds up launches of a filter, whose teams have `team` candidates each.
class round_sharing {
 public:
  round_sharing(const device_profile& on, double team, double bytes_of_row, double bytes_of_pair)
      : cores_(on.cores),
        grain_(std::max(1.0, static_cast<double>(on.grain_bytes))),
        team_(team),
        bytes_of_row_(bytes_of_row),
        bytes_of_pair_(bytes_of_pair) {}

  // Rows that are compared with others: the teams take alike.
  void add_others(double rows, double window) { add(rows, rows * window, false); }
  // Rows that are compared with those before them: each team takes longer than the one before it, and when the last
  // ones end, other workers have had nothing to do for long.
  void add_itself(double rows) { add(rows, rows * rows / 2, true); }

  [[nodiscard]] shared_rounds all(double blocks, double moves) const {
    return {blocks, moves, launches_, spent_ > 0 ? pairs_ / spent_ : 1};
  }

 private:
  void add(double rows, double pairs, bool grows) {
    const double teams = std::max(1.0, std::ceil(rows / team_));
    const double worth = (rows * bytes_of_row_ + pairs * bytes_of_pair_) / grain_;
    const double workers = std::floor(std::clamp(worth, 1.0, std::min(cores_, teams)));
    const double last = 2 / teams;
    const double share_of_time = grows ? std::min(1.0, std::max(last, 1 / workers + last * (1 - 1 / workers) / 2))
                                       : std::ceil(teams / workers) / teams;
    pairs_ += pairs;
    spent_ += pairs * share_of_time;
    if (workers > 1) launches_ += 1;
  }

  double cores_;
  double grain_;
  double team_;
  double bytes_of_row_;
  double bytes_of_pair_;
  double launches_ = 0;
  double pairs_ = 0;
  double spent_ = 0;
};

inline constexpr double most_blocks = 16;  ///< further ones share as these do

/// Blocks that grow from 1024 to 8192 rows: each is compared with the skyline found so far, what is left with itself.
[[nodiscard]] shared_rounds in_blocks(round_sharing all, const estimate& of);

/// Teams of 128 candidates that are compared by values.
[[nodiscard]] inline round_sharing by_values(const device_profile& on, const estimate& of) {
  return {on, 128, 64, of.columns};
}

/// How a strategy orders the rows that are left.
struct row_ordering {
  double cell_seconds = 0;  ///< of a value: cuts of the grid, and the cell that a row is in
  double digits = 4;        ///< of a key
};
inline constexpr double digits_of_cell = 6;

/// Few keys are sorted by comparisons, whose outcomes no branch predictor knows.
[[nodiscard]] work compared_keys(double rows);

/// The rows that are found, by their flags, which are left out where those side by side are all the same.
void add_compaction(cost& to, const device_profile& on, const estimate& of);
/// What a strategy does on a host behind the prefilter.
void add_rounds(cost& all, const device_profile& on, const estimate& of, const row_ordering& order,
                const shared_rounds& shared, std::vector<work> more);

/// A strategy on a GPU: `launches` without those of the sort, `sorting`, and of the rounds, which are what few rows
/// take, and `more` than the prefilter and the sort.
[[nodiscard]] cost on_gpu(const skyline_problem& problem, const device_profile& on, const estimate& of, double launches,
                          double sorting, std::vector<work> more);

/// So many groups meet as many samples as are asked for (row_groups.hpp).
inline constexpr double least_groups = 75;
/// Whether a strategy goes group by group first.
[[nodiscard]] inline bool goes_by_groups(const estimate& of) {
  return of.rows >= skyline_family::least_grouped_rows && of.groups >= least_groups;
}
/// Many groups, on a host: rows are sorted by sums and then by groups, and their values are gathered in that order. So
/// many pairs are of a row and one of its group that is compared with it.
[[nodiscard]] cost groups_on_host(const skyline_problem& problem, const device_profile& on, const estimate& of,
                                  double pairs);

/// The launches of a sort by digits.
[[nodiscard]] double sort_launches(const estimate& of);
/// On a GPU, values of all pairs, and images of all rows.
[[nodiscard]] cost by_values_on_gpu(const skyline_problem& problem, const device_profile& on, const estimate& of,
                                    double pairs, double launches);

}  // namespace zenith::skyline_detail
