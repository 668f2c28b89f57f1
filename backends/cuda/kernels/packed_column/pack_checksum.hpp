#pragma once

/// \file
/// The checksum of a column on the device, and the header that says it.

#include <algorithms/packed_column/layout.hpp>
#include <backends/cuda/kernels/packed_column/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Clears what no section covers, in one block.
struct clear_gaps {
  static constexpr unsigned block_size = 128;

  packed::padding gaps;
  std::byte* column;

  ZENITH_DEVICE void operator()() const {
    for (unsigned i = 0; i < gaps.count; ++i) {
      for (std::uint64_t at = gaps.begin[i] + simt::thread_index(); at < gaps.end[i]; at += block_size) {
        simt::store(reinterpret_cast<std::uint8_t*>(column + at), std::uint8_t{0});
      }
    }
  }
};

/// Sums of a column's checksum, over the rows of 64 bytes from `first_row` on: see packed_digest.
struct digest_sums {
  static constexpr unsigned lanes = 8;

  std::uint64_t sum[lanes];
  std::uint64_t of_rows[lanes];  ///< each word times its row's number
};

/// Adds to them, which were zeros.
struct digest_rows {
  static constexpr unsigned block_size = 256;

  const std::byte* column;
  std::uint64_t first_row;
  std::uint64_t rows;
  digest_sums* sums;

  ZENITH_DEVICE void operator()() const {
    // a thread has two lanes of every row that it reads
    constexpr unsigned threads_of_row = digest_sums::lanes / 2;
    const std::uint64_t thread = std::uint64_t{simt::block_index()} * block_size + simt::thread_index();
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size / threads_of_row;
    std::uint64_t sum[2] = {};
    std::uint64_t of_rows[2] = {};
    ZENITH_UNROLL_BY(4)
    for (std::uint64_t row = first_row + thread / threads_of_row; row < rows; row += stride) {
      const std::uint64_t at = row * digest_sums::lanes + thread % threads_of_row * 2;
      const auto words = packed_bytes::words_at<2, std::uint64_t>(column, at * 8);
      ZENITH_UNROLL
      for (unsigned i = 0; i < 2; ++i) {
        sum[i] += words.value[i];
        of_rows[i] += words.value[i] * row;
      }
    }
    ZENITH_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      ZENITH_UNROLL
      for (unsigned other = threads_of_row; other < simt::warp_size; other *= 2) {
        sum[i] += simt::shuffle_xor(simt::full_warp, sum[i], other);
        of_rows[i] += simt::shuffle_xor(simt::full_warp, of_rows[i], other);
      }
      if (simt::lane_index() >= threads_of_row) continue;
      const unsigned lane = simt::lane_index() * 2 + i;
      simt::atomic_add(&sums->sum[lane], sum[i]);
      simt::atomic_add(&sums->of_rows[lane], of_rows[i]);
    }
  }
};

/// Writes the header, and in it the checksum of the column whose other rows were added up.
struct write_header {
  static constexpr unsigned block_size = 32;

  packed_header header;  ///< its checksum is 0
  std::uint64_t rows;
  const digest_sums* sums;
  std::byte* column;

  ZENITH_DEVICE void operator()() const {
    if (simt::thread_index() != 0) return;
    constexpr unsigned words = sizeof(packed_header) / sizeof(std::uint64_t);
    static_assert(words == digest_sums::lanes);
    std::uint64_t word[words];
    __builtin_memcpy(word, &header, sizeof word);
    packed_digest all;
    ZENITH_UNROLL
    for (unsigned i = 0; i < words; ++i) {
      // a row's words count by its number in what is weighted: the header's is 0
      all.sum[i] = simt::load(&sums->sum[i]) + word[i];
      all.weighted[i] = 0 - simt::load(&sums->of_rows[i]);
    }
    packed_header sealed = header;
    sealed.checksum = packed::finish(all, rows);
    __builtin_memcpy(word, &sealed, sizeof word);
    ZENITH_UNROLL
    for (unsigned i = 0; i < words; ++i) simt::store(reinterpret_cast<std::uint64_t*>(column) + i, word[i]);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
