#pragma once

/// \file
/// Order statistics of entries by one block: the rank-th best of a sample, and the k best of a collection. What they
/// hold lies in the L2 cache, so that one launch costs less than many blocks would save.

#include <backends/cuda/kernels/top_k/entry_rows.hpp>
#include <backends/cuda/kernels/top_k/filter_sort.hpp>
#include <backends/cuda/tuning.hpp>
#include <core/entry.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// What a collection holds, to the bitonic reduction.
template <class Entry>
struct collected {
  using entry = Entry;

  const Entry* entries;
  const std::uint32_t* count;
  std::uint32_t capacity;

  template <unsigned Items>
  ZENITH_DEVICE void load(entry (&items)[Items], std::uint64_t first, unsigned thread, unsigned threads) const {
    const std::uint32_t counted = simt::load(count);
    const std::uint32_t held = counted < capacity ? counted : capacity;
    ZENITH_UNROLL
    for (unsigned i = 0; i < Items; ++i) {
      const std::uint64_t at = first + i * threads + thread;
      items[i] = at < held ? simt::load(entries + at) : entry::worst();
    }
  }
};

/// *to = the rank-th best of n entries, which stay where they are. Images first, and then the index among those that
/// have the image: so nothing wider than an image is held.
template <class Entry>
struct find_kth {
  using image_t = typename Entry::image_t;
  static constexpr unsigned block_size = select_threads;
  static constexpr unsigned most_items = tuning::most_samples / block_size;

  const Entry* entries;
  std::uint32_t n;  ///< at most tuning::most_samples
  std::uint32_t rank;
  Entry* to;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint32_t, sums, 2 * select_warps);
    ZENITH_STATIC_SHARED(image_t, ends, select_warps);
    ZENITH_STATIC_SHARED(std::uint32_t, index_ends, select_warps);
    const block_select<image_t> by_image(sums, ends);
    const block_select<std::uint32_t> by_index(sums, index_ends);
    Entry found{};
    if (n <= 2 * block_size) {
      found = find<2>(by_image, by_index);
    } else if (n <= 4 * block_size) {
      found = find<4>(by_image, by_index);
    } else {
      found = find<most_items>(by_image, by_index);
    }
    if (simt::thread_index() == 0) simt::store(to, found);
  }

 private:
  template <unsigned Items>
  ZENITH_DEVICE Entry find(const block_select<image_t>& by_image, const block_select<std::uint32_t>& by_index) const {
    held_values<Items, image_t> images;
    each_place<Items>(
        [&](unsigned j, std::uint32_t i) { images.held[j] = i < n ? simt::load(entries + i).image() : 0; });
    const image_t image = nth(by_image, images, n, rank);
    const std::uint32_t reached = by_image.count(images, image);
    const std::uint32_t above =
        image == static_cast<image_t>(~image_t{0}) ? 0 : by_image.count(images, static_cast<image_t>(image + 1));
    // the complement of an index, which is 0 for no item
    held_values<Items, std::uint32_t> indices;
    each_place<Items>([&](unsigned j, std::uint32_t i) {
      indices.held[j] = i < n && images.held[j] == image ? ~simt::load(entries + i).index() : 0;
    });
    return Entry::make(image, ~nth(by_index, indices, image == 0 ? n - above : reached - above, rank - above));
  }

  // The rank-th highest of the values, of which `count` are not 0 or there are no more than that.
  template <class Value, class Values>
  ZENITH_DEVICE static Value nth(const block_select<Value>& in_block, const Values& values, std::uint32_t count,
                                 std::uint32_t rank) {
    if (in_block.count(values, 1) < rank) return 0;
    const auto found =
        in_block.find(values, count, in_block.lowest_from(values, 1), in_block.highest(values), rank, rank);
    return in_block.lowest_from(values, found.least > 0 ? found.least : Value{1});
  }

  template <unsigned Items, class Use>
  ZENITH_DEVICE static void each_place(const Use& use) {
    ZENITH_UNROLL
    for (unsigned j = 0; j < Items; ++j) use(j, j * block_size + simt::thread_index());
  }
};

/// The k best of a collection to `to`, best first: gathers what shared memory holds, narrows that down to what
/// the shortest sort needs, and sorts it.
template <class Entry>
struct finish_collection {
  using image_t = typename Entry::image_t;
  static constexpr unsigned block_size = select_threads;
  static constexpr unsigned most_sorted = 2 * block_size;  ///< entries that are sorted at most

  const Entry* entries;
  const std::uint32_t* count;  ///< nullptr: there are `capacity`
  std::uint32_t capacity;
  std::uint32_t k;  ///< at most `most_sorted`
  Entry* to;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(Entry, kept, most_sorted);
    ZENITH_STATIC_SHARED(std::uint32_t, sums, 2 * select_warps);
    ZENITH_STATIC_SHARED(image_t, ends, select_warps);
    ZENITH_STATIC_SHARED(std::uint32_t, index_ends, select_warps);
    ZENITH_STATIC_SHARED(std::uint32_t, taken, 1);
    const std::uint32_t counted = count == nullptr ? capacity : simt::load(count);
    const entry_row<Entry> row{entries, counted < capacity ? counted : capacity};
    const block_select<image_t> by_image(sums, ends);
    const block_select<std::uint32_t> by_index(sums, index_ends);

    std::uint32_t held = gather(row, find_least(row, most_sorted, by_image, by_index), kept, taken);
    std::uint32_t wanted = simt::warp_size;
    while (wanted < k) wanted *= 2;
    if (held > wanted) {
      const shared_row<Entry> gathered{kept, held};
      const Entry least = find_least(gathered, wanted, by_image, by_index);
      held = narrow(gathered, least, kept, taken);
    }
    for (unsigned i = held + simt::thread_index(); i < most_sorted; i += block_size) kept.write(i, Entry::worst());
    simt::block_barrier();
    if (held <= block_size) {
      block_sort<Entry, 1>(kept).sort(held);
    } else {
      block_sort<Entry, 2>(kept).sort(held);
    }
    for (unsigned i = simt::thread_index(); i < k; i += block_size) simt::store(to + i, kept.read(i));
  }

 private:
  // An entry that at least k of the row reach, and no more than `most`, which is at least k.
  template <class Row>
  ZENITH_DEVICE Entry find_least(const Row& row, std::uint32_t most, const block_select<image_t>& by_image,
                                 const block_select<std::uint32_t>& by_index) const {
    if (row.size() <= most) return Entry::worst();
    selection<image_t> image{};
    std::uint32_t above = 0;
    with_values<image_t>(
        row, [](const Entry& one) { return one.image(); },
        [&](const auto& values) {
          // a bit that all of them share costs no step
          const image_t low = by_image.count(values, 1) < k ? image_t{0} : by_image.lowest_from(values, 1);
          image = by_image.find(values, row.size(), low, by_image.highest(values), k, most);
          if (image.reached > most && image.least != static_cast<image_t>(~image_t{0})) {
            above = by_image.count(values, image.least + 1);
          }
        });
    if (image.reached <= most) return Entry::make(image.least, ~std::uint32_t{0});
    // So many have the k-th best image that those with the lowest indices are to be selected.
    selection<std::uint32_t> index{};
    with_values<std::uint32_t>(
        row, [&](const Entry& one) { return one.image() == image.least ? ~one.index() : 0; },
        [&](const auto& values) {
          index = by_index.find(values, image.reached - above, 0, by_index.highest(values), k - above, most - above);
        });
    return Entry::make(image.least, ~index.least);
  }

  // Those that reach `least` to shared memory; returns how many.
  ZENITH_DEVICE static std::uint32_t gather(const entry_row<Entry>& row, const Entry& least,
                                            const simt::shared_span<Entry>& kept,
                                            const simt::shared_span<std::uint32_t>& taken) {
    constexpr unsigned batch = 64 / sizeof(Entry);  // loads of a thread in flight
    if (simt::thread_index() == 0) taken.write(0, 0);
    simt::block_barrier();
    for (std::uint32_t first = simt::thread_index(); first < row.size(); first += batch * block_size) {
      Entry held[batch];
      ZENITH_UNROLL
      for (unsigned j = 0; j < batch; ++j) {
        const std::uint32_t i = first + j * block_size;
        held[j] = i < row.size() ? row.at(i) : Entry::worst();
      }
      ZENITH_UNROLL
      for (unsigned j = 0; j < batch; ++j) {
        if (first + j * block_size < row.size()) keep(held[j], least, kept, taken);
      }
    }
    simt::block_barrier();
    return taken.read(0);
  }

  // The same among what shared memory holds already.
  ZENITH_DEVICE static std::uint32_t narrow(const shared_row<Entry>& row, const Entry& least,
                                            const simt::shared_span<Entry>& kept,
                                            const simt::shared_span<std::uint32_t>& taken) {
    constexpr unsigned each = most_sorted / block_size;
    Entry held[each];
    ZENITH_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      const unsigned i = j * block_size + simt::thread_index();
      held[j] = i < row.size() ? row.at(i) : Entry::worst();
    }
    simt::block_barrier();
    if (simt::thread_index() == 0) taken.write(0, 0);
    simt::block_barrier();
    ZENITH_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      if (j * block_size + simt::thread_index() < row.size()) keep(held[j], least, kept, taken);
    }
    simt::block_barrier();
    return taken.read(0);
  }

  ZENITH_DEVICE static void keep(const Entry& one, const Entry& least, const simt::shared_span<Entry>& kept,
                                 const simt::shared_span<std::uint32_t>& taken) {
    if (better(least, one)) return;
    kept.write(simt::atomic_add<simt::scope::block>(taken.pointer(0), 1U), one);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
