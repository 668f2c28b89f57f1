#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <zenith/columns.hpp>
#include <zenith/cost.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>
#include <zenith/matrix.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/skyline_call.hpp>
#include <zenith/top_k.hpp>

/// \file
/// The skyline of a table: the rows that no other row dominates.

namespace zenith {

struct skyline_options {
  /// One for each column; empty: all are minimised. Borrowed.
  std::span<const preference> preferences = {};
  duplicate_rows duplicates = duplicate_rows::keep_all;
  nan_rows nans = nan_rows::reject;
  /// "auto", or the name of a strategy: "bitmap_tiles", "skyalign", "sfs", "salsa", "ggs", "hybrid",
  /// "bskytree" (by the CPU backend, on one thread), "skyalign_no_sync", "skyalign_no_quartile", "skyalign_padded".
  std::string_view strategy = "auto";
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  skyline_statistics* statistics = nullptr;
};

/// The ids of the skyline's rows, ascending, and what ran.
template <index Index = std::uint64_t>
struct skyline_result {
  std::vector<Index> ids;
  std::string backend;
  std::string strategy;
};

/// A skyline problem as the cost models see it.
struct skyline_problem {
  std::uint64_t rows = 0;
  unsigned columns = 1;
  key_type type = key_type::float32;
  memory_space space = memory_space::host;
  /// The number of independent columns whose skyline would be about as large (`skyline_problem_of`). 0: unknown, and
  /// the columns are taken for independent. Columns of preference `different` are not among them.
  double independent_columns = 0;
  /// About how many values columns of preference `different` have together, at least 1. 0: there are no such columns.
  double groups = 0;
  /// How many columns are of preference `different`. 0 with `groups` above 0 is read as 1.
  unsigned different = 0;

  [[nodiscard]] bool operator==(const skyline_problem&) const = default;
};

/// The work of a skyline of so many columns: 3 M + (6 d + 4) D, with M mask tests and D dominance tests. Of
/// "bitmap_tiles", whose mask test compares a row with a tile of rows, it is not comparable with that of the others.
/// Source: definition 3 of Bøgh, Chester, Assent: Work-Efficient Parallel Skyline Computation for the GPU, VLDB 2015.
[[nodiscard]] constexpr double skyline_work(const skyline_statistics& counted, unsigned columns) {
  return 3 * static_cast<double>(counted.mask_tests) +
         (6.0 * columns + 4) * static_cast<double>(counted.dominance_tests);
}

/// About how many rows are in the skyline of `rows` rows of independent columns without equal values; `columns` need be
/// no whole number. Source: the expectation over a row's probability to be undominated, Bentley, Kung, Schkolnick,
/// Thompson: On the average number of maxima in a set of vectors and applications, JACM 1978.
[[nodiscard]] double expected_skyline(double rows, double columns);

/// Chooses the device and strategy that will be fastest for `problem` on `on`. Pure. Throws `unsupported` when no
/// device can run it, and `invalid_argument` for no or more than 32 columns.
[[nodiscard]] decision decide(const skyline_problem& problem, const machine& on);

/// The cost of one strategy (`skyline_options::strategy`) on one device; throws `invalid_argument` for an unknown one,
/// and for no or more than 32 columns.
[[nodiscard]] cost skyline_cost(std::string_view strategy, const skyline_problem& problem, const device_profile& on);

namespace detail {

struct skyline_points {
  key_type type;
  memory_space space;
  std::vector<const void*> columns;
  std::size_t rows;
  std::size_t row_stride;
  const void* block;
  std::size_t block_values;
};

/// Where the result goes.
struct skyline_target {
  memory_space space = memory_space::host;
  std::uint8_t* mask = nullptr;
  std::size_t mask_count = 0;
  bool wants_mask = false;
  int index_bytes = 8;
  bool index_signed = false;
  void* ids = nullptr;
  std::size_t ids_count = 0;
  /// Resizes the caller's vector; nullptr: the ids go to `ids`.
  void* (*resize)(void* vector, std::uint64_t count) = nullptr;
  void* vector = nullptr;
};

struct skyline_run {
  std::size_t count = 0;
  std::string backend;
  std::string strategy;
};

skyline_run skyline(const executor& on, const skyline_points& points, const skyline_target& target,
                    const skyline_options& options);
skyline_problem skyline_problem_of(const skyline_points& points, std::span<const preference> preferences);
/// Throws for a table that no call takes; `function` begins the message.
void check_skyline_points(std::string_view function, const skyline_points& points,
                          std::span<const preference> preferences);

template <class Span>
inline constexpr memory_space space_of = memory_space::host;
template <class T>
inline constexpr memory_space space_of<device_span<T>> = memory_space::device;

template <class Span>
[[nodiscard]] skyline_points points_of(const basic_matrix_view<Span>& view) {
  const bool is_empty = view.rows() == 0 || view.columns() == 0;
  skyline_points points{
      key_type_of<typename Span::value_type>, space_of<Span>, {}, view.rows(), view.row_stride(), view.data(), 0};
  points.columns.resize(view.columns());
  for (std::size_t j = 0; j < view.columns() && !is_empty; ++j)
    points.columns[j] = view.data() + j * view.column_stride();
  if (!is_empty) {
    points.block_values = (view.rows() - 1) * view.row_stride() + (view.columns() - 1) * view.column_stride() + 1;
  }
  return points;
}

template <class Span>
[[nodiscard]] skyline_points points_of(const basic_column_set<Span>& set) {
  skyline_points points{key_type_of<typename Span::value_type>, space_of<Span>, {}, set.rows(), 1, nullptr, 0};
  points.columns.resize(set.size());
  for (std::size_t j = 0; j < set.size(); ++j) points.columns[j] = set.data(j);
  return points;
}

template <class Index>
[[nodiscard]] skyline_target ids_target(memory_space space, Index* ids, std::size_t count) {
  skyline_target target;
  target.space = space;
  target.index_bytes = static_cast<int>(sizeof(Index));
  target.index_signed = std::is_signed_v<Index>;
  target.ids = ids;
  target.ids_count = count;
  return target;
}

template <class Points>
struct is_point_table : std::false_type {};
template <class Span>
struct is_point_table<basic_matrix_view<Span>> : std::bool_constant<key<typename Span::value_type>> {};
template <class Span>
struct is_point_table<basic_column_set<Span>> : std::bool_constant<key<typename Span::value_type>> {};

template <class Range>
concept mask_range = writable_range<Range> &&
    (std::same_as<element_t<Range>, bool> || std::same_as<element_t<Range>, std::uint8_t>);

}  // namespace detail

/// A table of points: `matrix_view`, `column_set`, or one of these over device memory.
template <class Points>
concept point_table = detail::is_point_table<Points>::value;

/// A call with these points and options as the cost models see it. Points on the host are sampled: the skyline of 32 to
/// 256 rows says how many independent columns would have one as large. "auto" does the same.
template <point_table Points>
[[nodiscard]] skyline_problem skyline_problem_of(const Points& points, const skyline_options& options = {}) {
  return detail::skyline_problem_of(detail::points_of(points), options.preferences);
}

/// Writes the ids of the rows of `points` that no row dominates to the beginning of `ids_out`, ascending, and returns
/// how many they are.
///
/// Row q dominates row p when it is as good in every column and better in at least one. `options.preferences` says what
/// is better: less, more, or neither (`different`). Rows that differ in such a column are not compared. -0 equals +0;
/// infinities are ordered as numbers. The result is the same on every backend and for every strategy.
///
/// Complexity: one read of the points, a sort of the n' rows that a prefilter leaves, and at most n' * s dominance
/// tests, where s is the size of the skyline without its duplicates ("skyalign_no_sync": n' * n'). "sfs", "salsa" and
/// "ggs" test values. "skyalign", "hybrid" and "bskytree" test values only where masks do not decide. "bitmap_tiles"
/// tests one bit a column. Scratch is at most twice the bytes of the points, or 28 bytes a row if that is more, and
/// some MiB that do not grow with the rows; a column of preference `different` counts as two. Strategies other than
/// "bitmap_tiles" take those of 4, 8, 12, 16, 24 or 32 columns, and of 4 of 32 bits up to 41 bytes a row. It
/// synchronises. A GPU executor copies host points to the device whole; that copy is not counted here.
///
/// Throws `invalid_argument` for no or more than 32 columns, when preferences and columns differ in number, when
/// `ids_out` is too small (the message says how many ids there are) or its type cannot hold the highest id, and for a
/// NaN under `nan_rows::reject`; `unsupported` for 2^32 - 1 rows or more, and for a strategy that the backend does not
/// offer; `out_of_memory`. Outputs are untouched then.
///
/// Source: Chomicki, Godfrey, Gryz, Liang: Skyline with presorting, ICDE 2003 ("sfs"); Bartolini, Ciaccia, Patella:
/// Efficient sort-based skyline evaluation, TODS 2008 ("salsa"); Bøgh, Assent, Magnani: Efficient GPU-based skyline
/// computation, DaMoN 2013 ("ggs"); Chester, Šidlauskas, Assent, Bøgh: Scalable parallelization of skyline computation
/// for multi-core processors, ICDE 2015 ("hybrid"); Lee, Hwang: Scalable skyline computation using a balanced pivot
/// selection technique, Information Systems 2014 ("bskytree"); Bøgh, Chester, Assent: Work-efficient parallel skyline
/// computation for the GPU, VLDB 2015 ("skyalign" and its variants).
template <point_table Points, detail::writable_range Ids>
requires index<detail::element_t<Ids>> std::size_t skyline(const executor& on, const Points& points, Ids&& ids_out,
                                                           const skyline_options& options = {}) {
  return detail::skyline(on, detail::points_of(points),
                         detail::ids_target(memory_space::host, std::ranges::data(ids_out), std::ranges::size(ids_out)),
                         options)
      .count;
}

/// The same with ids in device memory.
template <point_table Points, index Index>
std::size_t skyline(const executor& on, const Points& points, device_span<Index> ids_out,
                    const skyline_options& options = {}) {
  return detail::skyline(on, detail::points_of(points),
                         detail::ids_target(memory_space::device, ids_out.data(), ids_out.size()), options)
      .count;
}

/// The ids as a value. Throws as above.
template <index Index = std::uint64_t, point_table Points>
[[nodiscard]] skyline_result<Index> skyline(const executor& on, const Points& points,
                                            const skyline_options& options = {}) {
  skyline_result<Index> result;
  auto target = detail::ids_target<Index>(memory_space::host, nullptr, 0);
  target.vector = &result.ids;
  target.resize = [](void* vector, std::uint64_t count) -> void* {
    auto& ids = *static_cast<std::vector<Index>*>(vector);
    detail::resize_results(ids, static_cast<std::size_t>(count));
    return ids.data();
  };
  auto run = detail::skyline(on, detail::points_of(points), target, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// Writes for every row whether it is in the skyline: true or 1, false or 0. Returns how many are. `mask_out` has an
/// element of type bool or std::uint8_t for each row. Throws as above.
template <point_table Points, detail::mask_range Mask>
std::size_t skyline_mask(const executor& on, const Points& points, Mask&& mask_out,
                         const skyline_options& options = {}) {
  static_assert(sizeof(bool) == 1);
  detail::skyline_target target;
  target.mask = reinterpret_cast<std::uint8_t*>(std::ranges::data(mask_out));
  target.mask_count = std::ranges::size(mask_out);
  target.wants_mask = true;
  return detail::skyline(on, detail::points_of(points), target, options).count;
}

/// Takes what no overload takes, so that the compiler's message is short.
ZENITH_NO_OVERLOAD(skyline);
ZENITH_NO_OVERLOAD(skyline_mask);
ZENITH_NO_OVERLOAD(skyline_problem_of);

}  // namespace zenith
