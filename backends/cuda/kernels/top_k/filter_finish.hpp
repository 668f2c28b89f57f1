#pragma once

/// \file
/// Phase 3 of strategy "filter" for small k: one block selects among the survivors, sorts and writes the results. The
/// survivors lie in the L2 cache and are few, so that one launch costs less than many blocks would save.

#include <backends/cuda/kernels/top_k/block_select.hpp>
#include <backends/cuda/kernels/top_k/filter_sort.hpp>
#include <backends/cuda/kernels/top_k/filter_state.hpp>
#include <backends/cuda/kernels/top_k/results.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Those above the threshold, then those equal to it, as if they stood in one row.
template <class T>
struct survivor_row {
  using entry = typename filter_problem<T>::entry;
  // Survivors that a thread holds in registers; when there are more, which is rare, they are fetched for each step.
  static constexpr unsigned few = sizeof(entry) == 8 ? 16 : 8;
  static constexpr unsigned many = 2 * few;

  const filter_problem<T>& problem;
  std::uint32_t above;
  std::uint32_t equal;

  [[nodiscard]] ZENITH_DEVICE std::uint32_t size() const { return above + equal; }
  [[nodiscard]] ZENITH_DEVICE entry at(std::uint32_t i) const {
    return simt::load(problem.survivors + (i < above ? i : problem.above_capacity + (i - above)));
  }
};

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

/// Calls `use(values)` with `value_of` each entry of a row.
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

template <class T, class Index>
struct finish_survivors {
  using image_t = typename filter_problem<T>::image_t;
  using entry = typename filter_problem<T>::entry;
  static constexpr unsigned block_size = select_threads;
  static constexpr unsigned capacity = 2 * block_size;  ///< entries that are sorted at most
  static constexpr unsigned most_k = capacity;

  filter_problem<T> problem;
  T* out_keys;
  Index* out_indices;
  index_naming naming;
  run_report* report;  ///< or nullptr

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(entry, kept, capacity);
    ZENITH_STATIC_SHARED(std::uint32_t, sums, 2 * select_warps);
    ZENITH_STATIC_SHARED(image_t, ends, select_warps);
    ZENITH_STATIC_SHARED(std::uint32_t, index_ends, select_warps);
    ZENITH_STATIC_SHARED(std::uint32_t, taken, 1);
    const survivor_row<T> row{problem, simt::load(&problem.state->above), simt::load(&problem.state->equal)};
    const block_select<image_t> by_image(sums, ends);
    const block_select<std::uint32_t> by_index(sums, index_ends);

    // First what shared memory holds, then among those what the shortest sort needs.
    std::uint32_t count = gather(row, find_least(row, capacity, by_image, by_index), kept, taken);
    std::uint32_t wanted = simt::warp_size;
    while (wanted < problem.k) wanted *= 2;
    if (count > wanted) {
      const shared_row<entry> gathered{kept, count};
      const entry least = find_least(gathered, wanted, by_image, by_index);
      count = narrow(gathered, least, kept, taken);
    }
    pad(kept, count);
    if (count <= block_size) {
      block_sort<entry, 1>(kept).sort(count);
    } else {
      block_sort<entry, 2>(kept).sort(count);
    }
    write(kept);
    if (report != nullptr && simt::thread_index() == 0) {
      simt::atomic_max(&report->reads, simt::load(&problem.state->reads));
      simt::atomic_add(&report->survivors, row.size());
    }
  }

 private:
  // An entry that at least k of the row reach, and no more than `most`, which is at least k.
  template <class Row>
  ZENITH_DEVICE entry find_least(const Row& row, std::uint32_t most, const block_select<image_t>& by_image,
                                 const block_select<std::uint32_t>& by_index) const {
    if (row.size() <= most) return entry::worst();
    selection<image_t> image{};
    std::uint32_t above = 0;
    with_values<image_t>(
        row, [](const entry& one) { return one.image(); },
        [&](const auto& values) {
          image = by_image.find(values, row.size(), simt::load(&problem.state->threshold), by_image.highest(values),
                                problem.k, most);
          if (image.reached > most && image.least != static_cast<image_t>(~image_t{0})) {
            above = by_image.count(values, image.least + 1);
          }
        });
    if (image.reached <= most) return entry::make(image.least, ~std::uint32_t{0});
    // So many have the k-th best image that those with the lowest indices are to be selected.
    selection<std::uint32_t> index{};
    with_values<std::uint32_t>(
        row, [&](const entry& one) { return one.image() == image.least ? ~one.index() : 0; },
        [&](const auto& values) {
          index = by_index.find(values, image.reached - above, 0, by_index.highest(values), problem.k - above,
                                most - above);
        });
    return entry::make(image.least, ~index.least);
  }

  // Those that reach `least` to shared memory; returns how many.
  ZENITH_DEVICE static std::uint32_t gather(const survivor_row<T>& row, const entry& least,
                                            const simt::shared_span<entry>& kept,
                                            const simt::shared_span<std::uint32_t>& taken) {
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
        if (first + j * block_size < row.size() && !better(least, held[j])) keep(held[j], kept, taken);
      }
    }
    simt::block_barrier();
    return taken.read(0);
  }

  // The same among what shared memory holds already.
  ZENITH_DEVICE static std::uint32_t narrow(const shared_row<entry>& row, const entry& least,
                                            const simt::shared_span<entry>& kept,
                                            const simt::shared_span<std::uint32_t>& taken) {
    constexpr unsigned each = capacity / block_size;
    entry held[each];
    ZENITH_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      const unsigned i = j * block_size + simt::thread_index();
      held[j] = i < row.size() ? row.at(i) : entry::worst();
    }
    simt::block_barrier();
    if (simt::thread_index() == 0) taken.write(0, 0);
    simt::block_barrier();
    ZENITH_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      if (j * block_size + simt::thread_index() < row.size() && !better(least, held[j])) keep(held[j], kept, taken);
    }
    simt::block_barrier();
    return taken.read(0);
  }

  ZENITH_DEVICE static void keep(const entry& one, const simt::shared_span<entry>& kept,
                                 const simt::shared_span<std::uint32_t>& taken) {
    kept.write(simt::atomic_add<simt::scope::block>(taken.pointer(0), 1U), one);
  }

  ZENITH_DEVICE static void pad(const simt::shared_span<entry>& kept, std::uint32_t count) {
    for (unsigned i = count + simt::thread_index(); i < capacity; i += block_size) kept.write(i, entry::worst());
    simt::block_barrier();
  }

  // Keys are fetched from the input, so that -0 and a NaN's bits are the input's own.
  ZENITH_DEVICE void write(const simt::shared_span<entry>& kept) const {
    for (unsigned i = simt::thread_index(); i < problem.k; i += block_size) {
      const std::uint32_t position = kept.read(i).index();
      simt::store(out_keys + i, simt::load(problem.keys + position));
      simt::store(out_indices + i, static_cast<Index>(naming.name(position)));
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
