#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <zenith/packed_layout.hpp>
#include <zenith/top_k_call.hpp>

/// \file
/// The operations over packed columns as a backend's kernels receive them: arguments are checked, layouts were
/// validated, and all pointers lie in `space`, but for results that are named as the host's. A backend offers one
/// strategy of each operation:
///
///   pack, pack_on_device           "group_encode"  groups of 2048 values are measured and written, each by one worker
///   unpack                         "block_decode"  blocks of 128 values are decoded and stored
///   packed_sum, packed_extremes    "fused_reduce"  blocks are decoded and reduced where they were decoded
///   packed_select                  "fused_bitmap"  the same, compared: a bit for each value, which indices are made of
///   packed_top_k                   "filter"        the filter of top-k, over values that are decoded while they are
///                                                  scanned
///
/// The reference has "group_encode" for packing, "sort" for top-k and "loops" for the rest.

namespace zenith {

/// What a kernel reports of its run.
struct packed_statistics {
  std::string variant;  ///< what ran inside, e.g. the instruction set
  int threads = 0;      ///< host threads or 0
};

/// Decodes values [first, first + count) to `out`.
struct unpack_call {
  static constexpr std::string_view operation = "unpack";

  packed_layout column;
  memory_space space = memory_space::host;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  void* out = nullptr;
  packed_statistics* statistics = nullptr;  ///< may be nullptr, here and below
};

/// The sum of all values modulo 2^64, 32-bit values widened by their sign.
struct packed_sum_call {
  static constexpr std::string_view operation = "packed_sum";

  packed_layout column;
  memory_space space = memory_space::host;
  std::uint64_t* sum = nullptr;  ///< on the host
  packed_statistics* statistics = nullptr;
};

/// The least and the greatest of all values, in the order of their type; there is at least one.
struct packed_extremes_call {
  static constexpr std::string_view operation = "packed_extremes";

  packed_layout column;
  memory_space space = memory_space::host;
  std::uint64_t* minimum = nullptr;  ///< on the host: the value's own bits, in the low half for 32-bit types
  std::uint64_t* maximum = nullptr;
  packed_statistics* statistics = nullptr;
};

/// Which values lie in [low, high], in the order of their type. Either a bit a value (bit i % 64 of word i / 64; those
/// behind the last value are 0), or the indices, rising; low <= high.
struct packed_select_call {
  static constexpr std::string_view operation = "packed_select";

  packed_layout column;
  memory_space space = memory_space::host;
  std::uint64_t low = 0;  ///< the value's own bits, in the low half for 32-bit types
  std::uint64_t high = 0;
  std::uint64_t* bitmap = nullptr;  ///< (count + 63) / 64 words; nullptr: indices are asked for
  void* indices = nullptr;
  int index_bytes = 8;
  std::uint64_t capacity = 0;        ///< of `indices`, in elements; nothing is written when they are more
  std::uint64_t* matches = nullptr;  ///< on the host: how many there are
  packed_statistics* statistics = nullptr;
};

/// Top-k over the values; `keys` of the inner call is nullptr, `count` may be any, its other members mean what they
/// mean there.
struct packed_top_k_call {
  static constexpr std::string_view operation = "packed_top_k";

  packed_layout column;
  top_k_call top_k;
  /// How many values are taken at a time, whole groups: indices inside a filter have 32 bits. Less in tests.
  std::uint64_t segment = (std::uint64_t{1} << 32) - packed_group_items;
};

/// Sums that the checksum of a column is made of, over the rows of 64 bytes from `first_row` on to its end: FORMAT.md's
/// s and t in each lane, of t only what does not depend on how many rows there are, so that rows may come in any order.
struct packed_digest {
  std::uint64_t first_row = ~std::uint64_t{0};
  std::uint64_t sum[8] = {};
  std::uint64_t weighted[8] = {};
};

/// Memory for a column, 64-byte aligned; it may hold anything.
struct packed_buffer {
  std::byte* bytes = nullptr;
  std::uint64_t size = 0;  ///< 0: there is none
  bool is_fresh = true;    ///< whether the system has its pages still to clear
};

/// Packs `count` values. The kernel decides every size, asks `allocate` for the column's memory, once, and writes every
/// byte of every section: the same ones on every backend. The header, and what no section covers, are the caller's
/// work.
struct pack_call {
  static constexpr std::string_view operation = "pack";

  key_type type{};
  memory_space space = memory_space::host;  ///< where the values lie; the column lies on the host
  const void* values = nullptr;
  std::uint64_t count = 0;
  encoding kind = encoding::automatic;  ///< the one to use; `automatic`: the kernel chooses the smallest
  std::uint32_t lanes = 4;              ///< of `vertical`
  bool patches = true;                  ///< whether outliers may stand outside the payload
  /// For a kernel that writes before it knows the column's size: memory for up to `most` bytes, or for less. It may
  /// still call `allocate` afterwards, and then that memory is gone.
  packed_buffer (*reserve)(void* context, std::uint64_t most) = nullptr;
  /// Memory for a column of `bytes` bytes, 64-byte aligned; it may hold anything.
  std::byte* (*allocate)(void* context, std::uint64_t bytes) = nullptr;
  void* context = nullptr;
  packed_layout* result = nullptr;  ///< on the host: what was written
  packed_digest* digest = nullptr;  ///< filled in by a kernel that adds up what it writes
  packed_statistics* statistics = nullptr;
};

/// Packs into memory of the backend's own device, where the column stays: `allocate` gives memory there, ordered by the
/// executor's stream, and the kernel writes every byte, the header and the padding too, and fills in `one_width`. It
/// waits for the sizes; what it writes is complete in the order of the stream.
struct device_pack_call : pack_call {
  static constexpr std::string_view operation = "pack_on_device";
};

}  // namespace zenith
