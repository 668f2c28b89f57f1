#pragma once

#include <string_view>

#include <zenith/top_k_call.hpp>

namespace zenith {

/// One call of operation "scored_top_k", as a backend's kernel receives it: the k best rows by the weighted sum of
/// columns. Arguments are checked, 1 <= columns <= 64, no weight is 0. The score of row i is
///
///     weight[0] * column[0][i]  (+ weight[j] * column[j][i] for j = 1, 2, …)
///
/// in the score's type, every operation rounded, added in this order. `result` says what is wanted, as for "top_k" with
/// the scores for keys (`result.type` is their type), but for `result.keys`, which is nullptr.
struct scored_top_k_call {
  static constexpr std::string_view operation = "scored_top_k";

  key_type type{};                       ///< of the columns
  const void* const* columns = nullptr;  ///< each of result.count values in result.space; the list is the host's
  const void* weights = nullptr;         ///< of the scores' type, the host's
  unsigned column_count = 0;
  std::uint64_t first_row = 0;  ///< of each column, where row 0 stands
  top_k_call result;
};

}  // namespace zenith
