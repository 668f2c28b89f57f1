#pragma once

/// \file
/// The end of every strategy: the best entries, in order, as keys and indices.

#include <cstdint>
#include <memory_resource>
#include <span>

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <backends/cpu/isa/table.hpp>
#include <backends/cpu/ordered_pieces.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cpu_backend {

/// Writes the call's outputs from its k best entries, or from a piece of them that begins at `first`. Most keys follow
/// from their image; the others are fetched.
template <class T, class Index>
void write_results(const top_k_call& call, std::uint64_t first,
                   std::span<const top_k_detail::entry_t<top_k_detail::bits_t<T>>> best) {
  const auto order = top_k_detail::order_of<T>(call);
  const T* keys = static_cast<const T*>(call.keys);
  T* out_keys = static_cast<T*>(call.out_keys) + first;
  Index* out_indices = static_cast<Index*>(call.out_indices) + first;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const auto image = best[i].image();
    out_keys[i] = order.is_ambiguous(image) ? keys[best[i].index()] : order.key(image);
    out_indices[i] = static_cast<Index>(call.first_index + best[i].index());
  }
}

/// Ends a call by `workers` workers at most, among `entries`, which hold at least k: select, sort if asked, write.
template <class T>
void finish(const top_k_call& call, const isa_table& isa, std::pmr::memory_resource& memory, int workers,
            std::span<top_k_detail::entry_t<top_k_detail::bits_t<T>>> entries) {
  using entry = top_k_detail::entry_t<top_k_detail::bits_t<T>>;
  const ordered_pieces<entry> pieces(isa, memory, workers, entries, call.k);
  pieces.run(call.order == ordering::sorted, [&](std::uint64_t first, std::span<const entry> best) {
    call.index_bytes == 4 ? write_results<T, std::uint32_t>(call, first, best)
                          : write_results<T, std::uint64_t>(call, first, best);
  });
}

}  // namespace zenith::cpu_backend
