#pragma once

/// \file
/// The best entries in order, by several workers.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory_resource>
#include <span>

#include <backends/cpu/parallel.hpp>
#include <backends/cpu/scratch.hpp>
#include <backends/cpu/select.hpp>

namespace zenith::cpu_backend {

/// Sorting fewer entries than this costs a worker less than waking it.
inline constexpr std::uint64_t worth_a_finisher = 4096;

/// The k best of at least k entries, which move to the front. Workers take a piece each: the pieces are split off by
/// selection, halves of halves, every level by as many workers as it has pieces.
template <class Entry>
class ordered_pieces {
 public:
  ordered_pieces(const isa_table& isa, std::pmr::memory_resource& memory, int workers, std::span<Entry> entries,
                 std::uint64_t k)
      : isa_(isa),
        entries_(entries),
        k_(k),
        pieces_(std::clamp<std::uint64_t>(k / worth_a_finisher, 1, static_cast<std::uint64_t>(workers))),
        spare_(memory, entries.size() + pieces_ * spare_slack) {}

  /// Calls use(first, best) with the pieces' ranks and entries, one a worker; they are in order if `is_sorted`.
  template <class Use>
  void run(bool is_sorted, const Use& use) const {
    if (k_ < entries_.size()) selector<Entry>(isa_, spare_.data()).select(entries_, k_);
    if (is_sorted) split();
    run_workers(static_cast<int>(pieces_), [&](int worker) {
      const auto piece = static_cast<std::uint64_t>(worker);
      const auto best = between(piece, piece + 1);
      if (is_sorted) selector_at(piece).sort(best);
      use(begin(piece), best);
    });
  }

 private:
  [[nodiscard]] std::uint64_t begin(std::uint64_t piece) const { return k_ * piece / pieces_; }
  [[nodiscard]] std::span<Entry> between(std::uint64_t piece, std::uint64_t end) const {
    return entries_.subspan(begin(piece), begin(end) - begin(piece));
  }
  /// Its spare memory serves the pieces from this one on until the next selector's.
  [[nodiscard]] selector<Entry> selector_at(std::uint64_t piece) const {
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

  const isa_table& isa_;
  std::span<Entry> entries_;
  std::uint64_t k_;
  std::uint64_t pieces_;
  scratch<Entry> spare_;
};

}  // namespace zenith::cpu_backend
