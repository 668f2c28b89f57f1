#pragma once

/// \file
/// One block of 1024 threads selects the k best of a row of entries, sorts and writes them. A row has size() and at(i);
/// its entries lie in shared memory or in the L2 cache and are few, so that one block costs less than many would save.

#include <backends/cuda/kernels/top_k/block_select.hpp>
#include <backends/cuda/kernels/top_k/filter_sort.hpp>
#include <backends/cuda/kernels/top_k/results.hpp>

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

/// The shared memory of such a block, and what is done in it. All threads call every function.
template <class Entry>
struct block_finish {
  using entry = Entry;
  using image_t = typename Entry::image_t;
  static constexpr unsigned block_size = select_threads;
  static constexpr unsigned capacity = 2 * block_size;  ///< entries that are kept and sorted at most

  simt::shared_span<entry> kept;                ///< of `capacity`
  simt::shared_span<std::uint32_t> sums;        ///< of 2 * select_warps
  simt::shared_span<image_t> ends;              ///< of select_warps
  simt::shared_span<std::uint32_t> index_ends;  ///< of select_warps
  simt::shared_span<std::uint32_t> taken;       ///< of 1

  /// An entry that at least `wanted` of the values reach and at most `most` >= wanted: `images` are those of `count`
  /// entries that stand from `low` on, `indices_at(image)` the complemented indices of those with that image.
  template <class Images, class IndicesAt>
  [[nodiscard]] ZENITH_DEVICE entry find_least(const Images& images, const IndicesAt& with_indices_at,
                                               std::uint32_t count, image_t low, std::uint32_t wanted,
                                               std::uint32_t most) const {
    const block_select<image_t> by_image(sums, ends);
    const block_select<std::uint32_t> by_index(sums, index_ends);
    const auto image = by_image.find(images, count, low, by_image.highest(images), wanted, most);
    if (image.reached <= most) return entry::make(image.least, ~std::uint32_t{0});
    // So many have this image, the wanted-th best, that those with the lowest indices are to be selected.
    const std::uint32_t above =
        image.least == static_cast<image_t>(~image_t{0}) ? 0 : by_image.count(images, image.least + 1);
    std::uint32_t index = 0;
    with_indices_at(image.least, [&](const auto& indices) {
      index = by_index.find(indices, image.reached - above, 0, by_index.highest(indices), wanted - above, most - above)
                  .least;
    });
    return entry::make(image.least, ~index);
  }

  /// The same of a row.
  template <class Row>
  [[nodiscard]] ZENITH_DEVICE entry find_least(const Row& row, image_t low, std::uint32_t wanted,
                                               std::uint32_t most) const {
    if (row.size() <= most) return entry::worst();
    entry least = entry::worst();
    with_values<image_t>(
        row, [](const entry& one) { return one.image(); },
        [&](const auto& images) {
          const auto with_indices_at = [&](image_t image, const auto& use) {
            with_values<std::uint32_t>(
                row, [=](const entry& one) { return one.image() == image ? ~one.index() : 0; }, use);
          };
          least = find_least(images, with_indices_at, row.size(), low, wanted, most);
        });
    return least;
  }

  /// Entries of a row that reach `least` to `kept`, where they fit; returns how many.
  template <class Row>
  [[nodiscard]] ZENITH_DEVICE std::uint32_t gather(const Row& row, const entry& least) const {
    constexpr unsigned batch = 64 / sizeof(entry);  // loads of a thread in flight
    if (simt::thread_index() == 0) taken.write(0, 0);
    simt::block_barrier();
    for (std::uint32_t first = simt::thread_index(); first < row.size(); first += batch * block_size) {
      entry held[batch];
      ZENITH_UNROLL
      for (unsigned j = 0; j < batch; ++j) {
        const std::uint32_t i = first + j * block_size;
        held[j] = i < row.size() ? row.at(i) : entry::worst();
      }
      ZENITH_UNROLL
      for (unsigned j = 0; j < batch; ++j) {
        if (first + j * block_size < row.size() && !better(least, held[j])) keep(held[j]);
      }
    }
    simt::block_barrier();
    return taken.read(0);
  }

  /// Of the `count` entries in `kept`, only those that reach `least`; returns how many.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t narrow(std::uint32_t count, const entry& least) const {
    constexpr unsigned each = capacity / block_size;
    entry held[each];
    ZENITH_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      const unsigned i = j * block_size + simt::thread_index();
      held[j] = i < count ? kept.read(i) : entry::worst();
    }
    simt::block_barrier();
    if (simt::thread_index() == 0) taken.write(0, 0);
    simt::block_barrier();
    ZENITH_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      if (j * block_size + simt::thread_index() < count && !better(least, held[j])) keep(held[j]);
    }
    simt::block_barrier();
    return taken.read(0);
  }

  ZENITH_DEVICE void keep(const entry& one) const {
    kept.write(simt::atomic_add<simt::scope::block>(taken.pointer(0), 1U), one);
  }

  /// The k <= capacity best of a row to the start of `kept`, best first. Images stand from `low` on.
  template <class Row>
  ZENITH_DEVICE void sort_best(const Row& row, image_t low, std::uint32_t k) const {
    // First what shared memory holds, then among those what the shortest sort needs.
    std::uint32_t count = gather(row, find_least(row, low, k, capacity));
    std::uint32_t wanted = simt::warp_size;
    while (wanted < k) wanted *= 2;
    if (count > wanted) {
      const entry least = find_least(shared_row<entry>{kept, count}, low, k, wanted);
      count = narrow(count, least);
    }
    for (unsigned i = count + simt::thread_index(); i < capacity; i += block_size) kept.write(i, entry::worst());
    simt::block_barrier();
    if (count <= block_size) {
      block_sort<entry, 1>(kept).sort(count);
    } else {
      block_sort<entry, 2>(kept).sort(count);
    }
  }

  /// The first k of `kept` as results. Keys are fetched from the input, so that -0 and a NaN's bits are the input's
  /// own.
  template <class T, class Index>
  ZENITH_DEVICE void write(std::uint32_t k, const T* keys, T* out_keys, Index* out_indices,
                           const index_naming& naming) const {
    for (unsigned i = simt::thread_index(); i < k; i += block_size) {
      const std::uint32_t position = kept.read(i).index();
      simt::store(out_keys + i, simt::load(keys + position));
      simt::store(out_indices + i, static_cast<Index>(naming.name(position)));
    }
  }
};

/// Declares a block_finish called `name`, as ZENITH_STATIC_SHARED does a span.
#define ZENITH_BLOCK_FINISH(entry_type, name)                                        \
  ZENITH_STATIC_SHARED(entry_type, name##_kept, block_finish<entry_type>::capacity); \
  ZENITH_STATIC_SHARED(std::uint32_t, name##_sums, 2 * select_warps);                \
  ZENITH_STATIC_SHARED(typename entry_type::image_t, name##_ends, select_warps);     \
  ZENITH_STATIC_SHARED(std::uint32_t, name##_index_ends, select_warps);              \
  ZENITH_STATIC_SHARED(std::uint32_t, name##_taken, 1);                              \
  const block_finish<entry_type> name { name##_kept, name##_sums, name##_ends, name##_index_ends, name##_taken }

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
