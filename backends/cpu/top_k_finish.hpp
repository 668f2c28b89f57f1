#pragma once

/// \file
/// The end of every strategy: the best entries, in order, as keys and indices.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory_resource>
#include <span>

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <backends/cpu/parallel.hpp>
#include <backends/cpu/scratch.hpp>
#include <backends/cpu/select.hpp>
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

/// Sorting fewer entries than this costs a worker less than waking it.
inline constexpr std::uint64_t worth_a_finisher = 4096;

/// The end of a call among `entries`, which hold at least k: select, sort if asked, write. Workers sort a piece each:
/// the pieces are split off by selection, halves of halves, every level by as many workers as it has pieces.
template <class T>
class finisher {
 public:
  using entry = top_k_detail::entry_t<top_k_detail::bits_t<T>>;

  finisher(const top_k_call& call, const isa_table& isa, std::pmr::memory_resource& memory, int workers,
           std::span<entry> entries)
      : call_(call),
        isa_(isa),
        entries_(entries),
        pieces_(std::clamp<std::uint64_t>(call.k / worth_a_finisher, 1, static_cast<std::uint64_t>(workers))),
        spare_(memory, entries.size() + pieces_ * spare_slack) {}

  void run() const {
    if (call_.k < entries_.size()) selector<entry>(isa_, spare_.data()).select(entries_, call_.k);
    if (call_.order == ordering::sorted) split();
    run_workers(static_cast<int>(pieces_), [&](int worker) {
      const auto piece = static_cast<std::uint64_t>(worker);
      const auto best = between(piece, piece + 1);
      if (call_.order == ordering::sorted) selector_at(piece).sort(best);
      call_.index_bytes == 4 ? write_results<T, std::uint32_t>(call_, begin(piece), best)
                             : write_results<T, std::uint64_t>(call_, begin(piece), best);
    });
  }

 private:
  [[nodiscard]] std::uint64_t begin(std::uint64_t piece) const { return call_.k * piece / pieces_; }
  [[nodiscard]] std::span<entry> between(std::uint64_t piece, std::uint64_t end) const {
    return entries_.subspan(begin(piece), begin(end) - begin(piece));
  }
  /// Its spare memory serves the pieces from this one on until the next selector's.
  [[nodiscard]] selector<entry> selector_at(std::uint64_t piece) const {
    return {isa_, spare_.data() + begin(piece) + piece * spare_slack};
  }

  /// Until every piece is better than those behind it.
  void split() const {
    for (std::uint64_t width = std::bit_ceil(pieces_); width > 1; width /= 2) {
      const auto ranges = static_cast<int>((pieces_ + width - 1) / width);
      run_workers(ranges, [&](int worker) {
        const std::uint64_t first = static_cast<std::uint64_t>(worker) * width;
        const std::uint64_t middle = first + width / 2;
        if (middle >= pieces_) return;
        selector_at(first).select(between(first, std::min(first + width, pieces_)), begin(middle) - begin(first));
      });
    }
  }

  const top_k_call& call_;
  const isa_table& isa_;
  std::span<entry> entries_;
  std::uint64_t pieces_;
  scratch<entry> spare_;
};

/// Ends a call by `workers` workers at most.
template <class T>
void finish(const top_k_call& call, const isa_table& isa, std::pmr::memory_resource& memory, int workers,
            std::span<top_k_detail::entry_t<top_k_detail::bits_t<T>>> entries) {
  finisher<T>(call, isa, memory, workers, entries).run();
}

}  // namespace zenith::cpu_backend
