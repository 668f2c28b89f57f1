#pragma once

/// \file
/// Packed columns on Kokkos teams: a team takes groups of a column, a lane a block of them at a time, which it decodes
/// into its own 128 words and uses there.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <backends/kokkos/space.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::kokkos_backend {

/// A column's bytes where the space can read them: the caller's own memory, or a copy when the space has its own.
class call_column {
 public:
  explicit call_column(const packed_layout& column)
      : mirror_(allocating("a copy of the packed column",
                           [&] {
                             return Kokkos::create_mirror_view_and_copy(memory{}, caller_bytes(column),
                                                                        "zenith::packed_column bytes");
                           })),
        layout_(column) {
    layout_.bytes = mirror_.data();
  }

  [[nodiscard]] const packed_layout& layout() const { return layout_; }

 private:
  static host_view<const std::byte> caller_bytes(const packed_layout& column) {
    return host_view<const std::byte>(column.bytes, static_cast<std::size_t>(column.total_bytes));
  }

  decltype(Kokkos::create_mirror_view_and_copy(memory{}, std::declval<host_view<const std::byte>>())) mirror_;
  packed_layout layout_;
};

/// The blocks [first, last) of a column, shared out to teams.
struct team_blocks {
  packed_layout column;
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t length;  // blocks of a team: whole groups

  [[nodiscard]] static team_blocks of(const packed_layout& column, std::uint64_t first, std::uint64_t last) {
    constexpr std::uint64_t most_teams = 16384;
    const std::uint64_t groups = (last - first) / packed_group_blocks / most_teams + 1;
    return {column, first, last, groups * packed_group_blocks};
  }
  [[nodiscard]] static team_blocks of(const packed_layout& column) { return of(column, 0, column.blocks()); }

  [[nodiscard]] team_policy policy() const { return teams((last - first + length - 1) / length); }

  /// Calls use(block, values, items) for each of the team's blocks, on one of its lanes.
  template <class T, class Use>
  KOKKOS_FUNCTION void each(const team& lanes, const Use& use) const {
    using word = std::make_unsigned_t<T>;
    const std::uint64_t begin = first + static_cast<std::uint64_t>(lanes.league_rank()) * length;
    const std::uint64_t end = begin + length < last ? begin + length : last;
    const auto stride = static_cast<std::uint64_t>(lanes.team_size());
    for (std::uint64_t block = begin + static_cast<std::uint64_t>(lanes.team_rank()); block < end; block += stride) {
      word values[packed_block_items];
      const unsigned items = packed::unpack_block(column, block, values);
      use(block, values, items);
    }
  }
};

/// Values [first, first + out.extent(0)) of a column.
template <class T>
struct unpack_blocks {
  team_blocks blocks;
  std::uint64_t first;
  borrowed<T> out;

  KOKKOS_FUNCTION void operator()(const team& lanes) const {
    const std::uint64_t last = first + out.extent(0);
    blocks.each<T>(lanes, [&](std::uint64_t block, const auto* values, unsigned items) {
      const std::uint64_t at = block * packed_block_items;
      const auto from = static_cast<unsigned>(at < first ? first - at : 0);
      const auto to = at + items < last ? items : static_cast<unsigned>(last - at);
      for (unsigned i = from; i < to; ++i) out(static_cast<std::size_t>(at + i - first)) = static_cast<T>(values[i]);
    });
  }
};

template <class T>
struct sum_blocks {
  team_blocks blocks;

  KOKKOS_FUNCTION void operator()(const team& lanes, std::uint64_t& sum) const {
    blocks.each<T>(lanes, [&](std::uint64_t, const auto* values, unsigned items) {
      // widened by the value's sign
      for (unsigned i = 0; i < items; ++i) sum += static_cast<std::uint64_t>(static_cast<T>(values[i]));
    });
  }
};

template <class T>
struct extremes_of_blocks {
  team_blocks blocks;

  KOKKOS_FUNCTION void operator()(const team& lanes, Kokkos::MinMaxScalar<T>& found) const {
    blocks.each<T>(lanes, [&](std::uint64_t, const auto* values, unsigned items) {
      for (unsigned i = 0; i < items; ++i) {
        const T value = static_cast<T>(values[i]);
        if (value < found.min_val) found.min_val = value;
        if (value > found.max_val) found.max_val = value;
      }
    });
  }
};

/// A bit for each value in [low, high], and how many there are.
template <class T>
struct select_blocks {
  team_blocks blocks;
  T low;
  T high;
  borrowed<std::uint64_t> words;

  KOKKOS_FUNCTION void operator()(const team& lanes, std::uint64_t& matches) const {
    blocks.each<T>(lanes, [&](std::uint64_t block, const auto* values, unsigned items) {
      for (unsigned from = 0; from < items; from += 64) {
        const unsigned to = items - from < 64 ? items : from + 64;
        std::uint64_t bits = 0;
        for (unsigned i = from; i < to; ++i) {
          const T value = static_cast<T>(values[i]);
          const auto matching = static_cast<std::uint64_t>(value >= low && value <= high);
          bits |= matching << (i - from);
          matches += matching;
        }
        words(static_cast<std::size_t>(block * packed_block_items + from) / 64) = bits;
      }
    });
  }
};

/// The indices of the bits that are set, in order, at the end of a scan.
template <class Index>
struct write_matches {
  borrowed<const std::uint64_t> words;
  borrowed<Index> out;

  KOKKOS_FUNCTION void operator()(std::int64_t word, std::uint64_t& before, bool is_last_pass) const {
    const auto base = static_cast<std::uint64_t>(word) * 64;
    std::uint64_t bits = words(static_cast<std::size_t>(word));
    for (unsigned i = 0; bits != 0; ++i, bits >>= 1) {
      if ((bits & 1) == 0) continue;
      if (is_last_pass) out(static_cast<std::size_t>(before)) = static_cast<Index>(base + i);
      ++before;
    }
  }
};

}  // namespace zenith::kokkos_backend
