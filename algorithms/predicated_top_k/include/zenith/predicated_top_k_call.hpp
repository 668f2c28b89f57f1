#pragma once

#include <string_view>

#include <zenith/packed_layout.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith {

/// The rows whose value in a column lies in [low, high], in the order of its type.
struct row_range {
  key_type type{};
  bool is_packed = false;
  const void* values = nullptr;  ///< of a plain column
  packed_layout column;          ///< of a packed one, of integers
  std::uint64_t low = 0;         ///< the value's own bits, in the low half for types of 32 bits
  std::uint64_t high = 0;        ///< low <= high
  /// Bit i % 64 of taken[i / 64] says whether row i lies in the range, where a backend has found that out already, in
  /// the memory that its kernels read. The column is not looked at then. nullptr: it has not.
  const std::uint64_t* taken = nullptr;
};

/// One call of operation "predicated_top_k", as a backend's kernel receives it: the k best keys among the rows of a
/// range. Arguments are checked; keys and column lie in `result.space`. `result` says what is wanted, as for "top_k";
/// but where fewer than k rows are in the range, only so many keys and indices are written.
struct predicated_top_k_call {
  static constexpr std::string_view operation = "predicated_top_k";

  row_range rows;
  top_k_call result;
  std::uint64_t* found = nullptr;  ///< on the host: how many were written
  /// Under the rejecting policy (`result.nan_first` is set): on the host, whether the best key is a NaN. Then nothing
  /// is written. nullptr: NaN is no error.
  bool* has_nan = nullptr;
};

}  // namespace zenith
