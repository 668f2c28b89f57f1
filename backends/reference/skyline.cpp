#include <backends/reference/skyline.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <core/with_key_type.hpp>

namespace zenith::reference_backend {
namespace {

void write_ids(const std::vector<std::uint64_t>& ids, int index_bytes, void* to) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (index_bytes == 4) {
      static_cast<std::uint32_t*>(to)[i] = static_cast<std::uint32_t>(ids[i]);
    } else {
      static_cast<std::uint64_t*>(to)[i] = ids[i];
    }
  }
}

template <class T>
struct table {
  const skyline_input& call;

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

  [[nodiscard]] bool are_equal(std::uint64_t q, std::uint64_t p) const {
    unsigned c = 0;
    while (c < call.column_count && are_equal(q, p, c)) ++c;
    return c == call.column_count;
  }
  [[nodiscard]] bool dominates(std::uint64_t q, std::uint64_t p) const {
    bool is_better_somewhere = false;
    for (unsigned c = 0; c < call.column_count; ++c) {
      if (are_equal(q, p, c)) continue;
      if (call.preferences[c] == preference::different || !is_better(q, p, c)) return false;
      is_better_somewhere = true;
    }
    return is_better_somewhere;
  }

  /// The lowest column with a NaN, column_count if there is none.
  [[nodiscard]] unsigned nan_column(std::uint64_t row) const {
    unsigned c = 0;
    while (c < call.column_count && !is_nan(row, c)) ++c;
    return c;
  }
};

/// The rows that take part. Nothing when a NaN is rejected: then the outcome says so.
template <class T>
std::optional<std::vector<std::uint64_t>> candidates_of(const table<T>& points) {
  const auto& call = points.call;
  std::vector<std::uint64_t> candidates;
  for (std::uint64_t row = 0; row < call.rows; ++row) {
    const unsigned column = points.nan_column(row);
    if (column < call.column_count && call.nans == nan_rows::reject) {
      *call.outcome = {0, true, row, column};
      return std::nullopt;
    }
    if (column == call.column_count || call.nans == nan_rows::worst) candidates.push_back(row);
  }
  return candidates;
}

/// The first of each like alone, where the others do not count.
template <class T>
std::vector<std::uint64_t> without_copies(const table<T>& points, const std::vector<std::uint64_t>& rows,
                                          duplicate_rows duplicates, std::uint64_t& tests) {
  if (duplicates == duplicate_rows::keep_all) return rows;
  std::vector<std::uint64_t> firsts;
  for (const auto p : rows) {
    bool is_first = true;
    for (const auto q : firsts) {
      ++tests;
      is_first = is_first && !points.are_equal(q, p);
    }
    if (is_first) firsts.push_back(p);
  }
  return firsts;
}

template <class T>
void find_skyline(const skyline_call& call) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  const table<T> points{call};
  const auto candidates = candidates_of(points);
  if (!candidates) return;
  const auto middle = clock::now();
  const bool keeps_first = call.duplicates == duplicate_rows::keep_first;
  std::vector<std::uint64_t> skyline;
  std::uint64_t tests = 0;
  for (const auto p : *candidates) {
    bool is_out = false;
    for (const auto q : *candidates) {
      if (is_out) break;
      if (q == p) continue;
      ++tests;
      is_out = points.dominates(q, p) || (keeps_first && q < p && points.are_equal(q, p));
    }
    if (!is_out) skyline.push_back(p);
  }
  call.outcome->count = skyline.size();
  if (call.statistics != nullptr) {
    using seconds = std::chrono::duration<double>;
    *call.statistics = {candidates->size(), tests, 0, 1, {}};
    call.statistics->by_round = {
        {0, call.rows - candidates->size(), seconds(middle - begin).count()},
        {skyline.size(), candidates->size() - skyline.size(), seconds(clock::now() - middle).count()}};
  }
  if (call.out_mask != nullptr) {
    for (std::uint64_t row = 0; row < call.rows; ++row) call.out_mask[row] = 0;
    for (const auto row : skyline) call.out_mask[row] = 1;
  }
  void* const ids = call.provide_ids == nullptr ? nullptr : call.provide_ids(call.provide_state, skyline.size());
  if (ids == nullptr) return;
  write_ids(skyline, call.index_bytes, ids);
}

template <class T>
void find_skyband(const skyband_call& call) {
  const table<T> points{call};
  const auto all = candidates_of(points);
  if (!all) return;
  std::uint64_t tests = 0;
  const auto candidates = without_copies(points, *all, call.duplicates, tests);
  std::vector<std::uint64_t> band;
  std::vector<std::uint32_t> dominated_by;
  for (const auto p : candidates) {
    std::uint32_t count = 0;
    for (const auto q : candidates) {
      ++tests;
      if (points.dominates(q, p)) ++count;
    }
    if (count >= call.most) continue;
    band.push_back(p);
    dominated_by.push_back(count);
  }
  call.outcome->count = band.size();
  if (call.statistics != nullptr) *call.statistics = {all->size(), tests, 0, 1, {}};
  if (call.out_by_row != nullptr) {
    std::fill_n(call.out_by_row, call.rows, no_layer);
    for (std::size_t i = 0; i < band.size(); ++i) call.out_by_row[band[i]] = dominated_by[i];
    return;
  }
  const auto out = call.provide(call.provide_state, band.size());
  if (out.ids != nullptr) write_ids(band, call.index_bytes, out.ids);
  if (out.dominated_by != nullptr) std::ranges::copy(dominated_by, out.dominated_by);
}

template <class T>
void find_layers(const skyline_layers_call& call) {
  const table<T> points{call};
  const auto all = candidates_of(points);
  if (!all) return;
  std::uint64_t tests = 0;
  auto left = without_copies(points, *all, call.duplicates, tests);
  std::vector<std::uint32_t> layers(call.rows, no_layer);
  const auto candidates = left.size();
  std::uint32_t layer = 0;
  while (!left.empty() && layer < call.most_layers && candidates - left.size() < call.enough_rows) {
    std::vector<std::uint64_t> rest;
    for (const auto p : left) {
      const bool is_out = std::ranges::any_of(left, [&](std::uint64_t q) {
        ++tests;
        return points.dominates(q, p);
      });
      if (is_out) {
        rest.push_back(p);
      } else {
        layers[p] = layer;
      }
    }
    left = std::move(rest);
    ++layer;
  }
  std::ranges::copy(layers, call.out_layers);
  call.outcome->count = layer;
  if (call.statistics != nullptr) *call.statistics = {candidates, tests, 0, layer, {}};
}

}  // namespace

void skyline(const execution& /*on*/, const skyline_call& call) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) { find_skyline<T>(call); });
}

void skyband(const execution& /*on*/, const skyband_call& call) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) { find_skyband<T>(call); });
}

void skyline_layers(const execution& /*on*/, const skyline_layers_call& call) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) { find_layers<T>(call); });
}

}  // namespace zenith::reference_backend
