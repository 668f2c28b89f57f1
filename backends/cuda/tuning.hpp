#pragma once

/// \file
/// The backend's numbers, in one place: kernels and cost models read the same ones.

#include <cstddef>

#include <backends/cuda/simt/common.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::tuning {

/// Threads of a team. A tile belongs to one of its warps.
inline constexpr unsigned team_threads = 256;
inline constexpr unsigned team_warps = team_threads / simt::warp_size;

/// 16-byte loads of a lane for each column of a tile: times the columns it reads at a time they are what is in flight.
/// One more for a plain column costs registers that a fourth block on the multiprocessor needs.
constexpr unsigned tile_vectors(unsigned streams) { return streams == 1 ? 7 : streams == 2 ? 4 : 2; }

/// Items of a lane at a time where blocks are decoded.
inline constexpr unsigned decoded_lane_items = 16;

/// Teams that a multiprocessor is to hold: the compiler saves registers for them.
inline constexpr unsigned tile_teams = 4;
inline constexpr unsigned plain_teams = 2;

/// Blocks of a launch at most, where more items are strided over. Some more than a device holds at once: in a phase
/// that is not taken every block is started to return at once, and 65536 of them took 82 us (H200).
inline constexpr unsigned most_blocks = 1U << 12;
inline constexpr unsigned most_team_blocks = 1U << 20;

/// Scratch is handed out in pieces of a slab, because an allocation takes as long as a launch; what is larger than a
/// piece may be has its own. A call that needs a second slab needs more.
inline constexpr unsigned first_slab_bytes = 1U << 18;
inline constexpr unsigned slab_bytes = 1U << 22;
/// Of a slab: the largest piece.
inline constexpr unsigned slab_pieces = 8;
/// Zeros of a call that one operation writes: small counters, which need none of their own.
inline constexpr unsigned zeroed_slab_bytes = 1U << 14;
inline constexpr unsigned most_zeroed_piece_bytes = 1U << 12;

/// What one block selects from in one go: entries of a sample, and a collection's capacity.
inline constexpr unsigned most_samples = 16 * 1024;
inline constexpr unsigned most_in_block = 1U << 17;
/// The most entries that a block sorts; more are sorted by their digits.
inline constexpr unsigned most_k_in_block = 1024;

/// Parts of a reduction, and items that a part is worth.
inline constexpr unsigned most_parts = 1024;
inline constexpr unsigned part_items = 4096;

/// Counters of a histogram that fit a team's scratch, and items that a team is worth.
inline constexpr unsigned most_bins_in_scratch = 8192;
inline constexpr unsigned histogram_team_items = 1U << 14;
inline constexpr unsigned most_histogram_teams = 512;

/// Items of a tile that a team compacts or scans, and the most that are scanned so: longer scans are the library's,
/// which takes a launch more and less time for an item.
inline constexpr unsigned compacted_items = 2048;
inline constexpr unsigned scanned_items = 2048;
inline constexpr unsigned most_scanned = 1U << 16;

/// The most pairs that a block sorts; longer sequences take many launches.
inline constexpr unsigned most_sorted_in_block = 1U << 13;

/// Pageable host memory is copied in pieces through pinned buffers, two a thread of the host. Eight threads reach the
/// link's speed; shorter copies are the driver's. Pieces are short where all threads would not have two otherwise.
inline constexpr std::size_t staged_piece_bytes = std::size_t{4} << 20;
inline constexpr std::size_t least_staged_piece_bytes = std::size_t{256} << 10;
inline constexpr std::size_t least_staged_bytes = std::size_t{4} << 20;
inline constexpr int most_staging_threads = 8;

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::tuning
