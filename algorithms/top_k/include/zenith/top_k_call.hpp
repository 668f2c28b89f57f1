#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <zenith/types.hpp>

namespace zenith {

enum class selection : std::uint8_t { largest, smallest };
/// `sorted`: best first. `any`: the same k items in whatever order the strategy leaves them.
enum class ordering : std::uint8_t { sorted, any };
/// `lowest_index`: among equal keys the lower index is better, so the answer is unique. `any`: any of them.
enum class tie_break : std::uint8_t { lowest_index, any };
/// Where NaN stands: worse than every number in either direction, better than every number, or an error.
enum class nan_policy : std::uint8_t { last, first, reject };

/// What a strategy reports of its run, for studies and tests.
struct top_k_statistics {
  std::string variant;          ///< what ran inside the strategy, e.g. the instruction set
  int threads = 0;              ///< host threads or 0
  std::uint64_t reads = 0;      ///< whole reads of the data, samples not counted
  std::uint64_t survivors = 0;  ///< items that passed the filter, or 0
};

/// One call of operation "top_k", as a backend's kernel receives it: arguments are checked, 1 <= k <= count < 2^32, all
/// pointers lie in `space`, and the policy on NaN is `last` or `first`. The kernel writes exactly k keys and indices:
/// the input's own bits, best first when `order` is sorted. Keys that are equal (-0 and +0 are) stand by rising index.
struct top_k_call {
  static constexpr std::string_view operation = "top_k";

  key_type type{};
  memory_space space = memory_space::host;
  const void* keys = nullptr;
  std::uint64_t count = 0;
  std::uint64_t k = 0;
  void* out_keys = nullptr;
  void* out_indices = nullptr;
  int index_bytes = 8;            ///< 4 or 8: the width of an output index
  std::uint64_t first_index = 0;  ///< what the index of keys[0] is; fits the width together with count
  selection select = selection::largest;
  ordering order = ordering::sorted;
  tie_break ties = tie_break::lowest_index;
  bool nan_first = false;
  top_k_statistics* statistics = nullptr;  ///< may be nullptr
};

}  // namespace zenith
