#include <backends/reference/skyline.hpp>

#include <type_traits>
#include <vector>

#include <core/with_key_type.hpp>

namespace zenith::reference_backend {
namespace {

template <class T>
struct table {
  const skyline_call& call;

  [[nodiscard]] T at(std::uint64_t row, unsigned column) const {
    return static_cast<const T*>(call.columns[column])[row * call.row_stride];
  }
  [[nodiscard]] bool is_nan(std::uint64_t row, unsigned column) const { return at(row, column) != at(row, column); }

  /// Whether row q is better than row p in the column. NaN is worse than every number, and as good as NaN.
  [[nodiscard]] bool is_better(std::uint64_t q, std::uint64_t p, unsigned column) const {
    if (is_nan(q, column) || is_nan(p, column)) return !is_nan(q, column);
    return call.preferences[column] == preference::maximise ? at(q, column) > at(p, column)
                                                            : at(q, column) < at(p, column);
  }
  [[nodiscard]] bool are_equal(std::uint64_t q, std::uint64_t p, unsigned column) const {
    return (is_nan(q, column) && is_nan(p, column)) || at(q, column) == at(p, column);
  }

  /// Whether row q keeps row p out of the result.
  [[nodiscard]] bool keeps_out(std::uint64_t q, std::uint64_t p) const {
    bool is_better_somewhere = false;
    for (unsigned c = 0; c < call.column_count; ++c) {
      if (are_equal(q, p, c)) continue;
      if (call.preferences[c] == preference::different || !is_better(q, p, c)) return false;
      is_better_somewhere = true;
    }
    return is_better_somewhere || (call.duplicates == duplicate_rows::keep_first && q < p);
  }

  /// The lowest column with a NaN, column_count if there is none.
  [[nodiscard]] unsigned nan_column(std::uint64_t row) const {
    unsigned c = 0;
    while (c < call.column_count && !is_nan(row, c)) ++c;
    return c;
  }
};

template <class T>
void compare_all(const skyline_call& call) {
  const table<T> points{call};
  std::vector<std::uint64_t> candidates;
  for (std::uint64_t row = 0; row < call.rows; ++row) {
    const unsigned column = points.nan_column(row);
    if (column < call.column_count && call.nans == nan_rows::reject) {
      *call.outcome = {0, true, row, column};
      return;
    }
    if (column == call.column_count || call.nans == nan_rows::worst) candidates.push_back(row);
  }
  std::vector<std::uint64_t> skyline;
  std::uint64_t tests = 0;
  for (const auto p : candidates) {
    bool is_out = false;
    for (const auto q : candidates) {
      if (is_out) break;
      if (q == p) continue;
      ++tests;
      is_out = points.keeps_out(q, p);
    }
    if (!is_out) skyline.push_back(p);
  }
  call.outcome->count = skyline.size();
  if (call.statistics != nullptr) *call.statistics = {candidates.size(), tests, 0, 1};
  if (call.out_mask != nullptr) {
    for (std::uint64_t row = 0; row < call.rows; ++row) call.out_mask[row] = 0;
    for (const auto row : skyline) call.out_mask[row] = 1;
  }
  void* const ids = call.provide_ids == nullptr ? nullptr : call.provide_ids(call.provide_state, skyline.size());
  if (ids == nullptr) return;
  for (std::size_t i = 0; i < skyline.size(); ++i) {
    if (call.index_bytes == 4) {
      static_cast<std::uint32_t*>(ids)[i] = static_cast<std::uint32_t>(skyline[i]);
    } else {
      static_cast<std::uint64_t*>(ids)[i] = skyline[i];
    }
  }
}

}  // namespace

void skyline(const execution& /*on*/, const skyline_call& call) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) { compare_all<T>(call); });
}

}  // namespace zenith::reference_backend
