#pragma once

/// \file
/// Rows of entries that one block of 1024 threads selects from. A row has size() and at(i); its entries lie in shared
/// memory or in the L2 cache and are few, so that one block costs less than many would save.

#include <backends/cuda/kernels/top_k/block_select.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Entries in shared memory.
template <class Entry>
struct shared_row {
  using entry = Entry;
  static constexpr unsigned few = 2;
  static constexpr unsigned many = 2;

  const simt::shared_span<Entry>& entries;
  std::uint32_t count;

  [[nodiscard]] ZENITH_DEVICE std::uint32_t size() const { return count; }
  [[nodiscard]] ZENITH_DEVICE entry at(std::uint32_t i) const { return entries.read(i); }
};

/// Entries in device memory, of which a thread holds so many in registers.
template <class Entry, unsigned Few = sizeof(Entry) == 8 ? 16 : 8>
struct entry_row {
  using entry = Entry;
  static constexpr unsigned few = Few;
  static constexpr unsigned many = 2 * Few;

  const Entry* entries;
  std::uint32_t count;

  [[nodiscard]] ZENITH_DEVICE std::uint32_t size() const { return count; }
  [[nodiscard]] ZENITH_DEVICE entry at(std::uint32_t i) const { return simt::load(entries + i); }
};

/// `value_of` each entry of a row, fetched whenever it is asked for.
template <class Row, class ValueOf>
struct fetched_values {
  const Row& row;
  ValueOf value_of;

  template <class Use>
  ZENITH_DEVICE void each(const Use& use) const {
    for (std::uint32_t i = simt::thread_index(); i < row.size(); i += select_threads) use(value_of(row.at(i)));
  }
};

/// Calls `use(values)` with `value_of` each entry of a row: held in registers where they are at most `Row::few` or
/// `Row::many` a thread.
template <class Value, class Row, class ValueOf, class Use>
ZENITH_DEVICE void with_values(const Row& row, const ValueOf& value_of, const Use& use) {
  const auto hold = [&]<unsigned Items>(held_values<Items, Value> values) {
    ZENITH_UNROLL
    for (unsigned j = 0; j < Items; ++j) {
      const std::uint32_t i = j * select_threads + simt::thread_index();
      values.held[j] = i < row.size() ? value_of(row.at(i)) : Value{0};
    }
    use(values);
  };
  if (row.size() <= Row::few * select_threads) {
    hold(held_values<Row::few, Value>{});
  } else if constexpr (Row::many > Row::few) {
    if (row.size() <= Row::many * select_threads) {
      hold(held_values<Row::many, Value>{});
    } else {
      use(fetched_values<Row, ValueOf>{row, value_of});
    }
  }
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
