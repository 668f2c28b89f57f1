#pragma once

/// \file
/// Calls over a packed column whose values are words `U`: unpack, sum, extremes, select.

#include <backends/cuda/kernels/packed_column/consumers.hpp>
#include <backends/cuda/kernels/packed_column/indices.hpp>
#include <backends/cuda/packed_column/call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class U>
void run_unpack(const execution& on, const unpack_call& call) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  const bool on_host = call.space == memory_space::host;
  scratch room(on, stream);
  const column_on_device column(room, call.column, call.space);
  U* values = nullptr;
  if (on_host) room.request(values, call.count);
  room.allocate();
  U* const out = on_host ? values : static_cast<U*>(call.out);
  const std::uint64_t end = call.first + call.count;
  if (!on_host) {
    enqueue_visit<U>(column.enqueue(stream), call.first, end, store_values<U>{out, call.first, end}, stream);
  } else {
    const settled_at_end wait(stream);
    enqueue_visit<U>(column.enqueue(stream), call.first, end, store_values<U>{out, call.first, end}, stream);
    // the caller's memory is written when nothing can fail any more
    simt::synchronize(stream);
    simt::copy(call.out, values, call.count * sizeof(U), stream);
    simt::synchronize(stream);
  }
  report_visit(call.statistics);
}

/// The bit that makes the order of a signed type's words that of their values; 0 for others.
template <class U>
U sign_flip(key_type type) {
  return packed::is_signed(type) ? U{1} << (sizeof(U) * 8 - 1) : U{0};
}

/// Runs a consumer over the whole column; what it finds is a `Found` on the device, 0 at first, and returned.
template <class U, class Found, class MakeConsumer>
Found find_in_column(const execution& on, const packed_layout& packed, memory_space space,
                     const MakeConsumer& consumer_of) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  scratch room(on, stream);
  const column_on_device column(room, packed, space);
  Found* found = nullptr;
  room.request(found, 1);
  room.allocate();
  Found result{};
  const settled_at_end wait(stream);
  simt::fill_zero(found, sizeof(Found), stream);
  enqueue_visit<U>(column.enqueue(stream), 0, packed.count, consumer_of(found), stream);
  simt::copy(&result, found, sizeof(Found), stream);
  simt::synchronize(stream);
  return result;
}

template <class U>
void run_sum(const execution& on, const packed_sum_call& call) {
  // images lie above their values by the flip
  const U flip = sizeof(U) == 4 ? sign_flip<U>(call.column.type) : U{0};
  const auto sum = find_in_column<U, std::uint64_t>(on, call.column, call.space, [&](std::uint64_t* to) {
    return sum_values<U>{flip, to};
  });
  *call.sum = sum - call.column.count * flip;
  report_visit(call.statistics);
}

template <class U>
void run_extremes(const execution& on, const packed_extremes_call& call) {
  const U flip = sign_flip<U>(call.column.type);
  const auto found = find_in_column<U, extremes_found>(on, call.column, call.space, [&](extremes_found* to) {
    return find_extremes<U>{flip, to};
  });
  *call.minimum = static_cast<U>(~found.least_inverted) ^ flip;
  *call.maximum = static_cast<U>(found.greatest) ^ flip;
  report_visit(call.statistics);
}

/// What a selection by [low, high] needs on the device; its buffers join the scratch when it is made.
template <class U>
class selection_on_device {
 public:
  selection_on_device(scratch& room, const packed_select_call& call, bool own_bitmap)
      : call_(call), column_(room, call.column, call.space), words_((call.column.count + 63) / 64) {
    room.request(matches_, 1);
    if (own_bitmap) room.request(bitmap_, words_);
  }
  selection_on_device(const selection_on_device&) = delete;
  selection_on_device& operator=(const selection_on_device&) = delete;

  void use_bitmap(std::uint64_t* bitmap) { bitmap_ = bitmap; }
  [[nodiscard]] std::uint64_t* bitmap() const { return bitmap_; }
  [[nodiscard]] std::uint64_t words() const { return words_; }

  /// Enqueues bitmap and counts, and waits for how many match.
  [[nodiscard]] std::uint64_t run(std::uint32_t* matches_in_group, CUstream_st* stream) const {
    std::uint64_t found = 0;
    simt::fill_zero(matches_, sizeof(std::uint64_t), stream);
    const select_values<U> consumer{static_cast<U>(call_.low),
                                    static_cast<U>(call_.high - call_.low),
                                    reinterpret_cast<std::uint32_t*>(bitmap_),
                                    2 * words_,
                                    matches_,
                                    matches_in_group};
    enqueue_visit<U>(column_.enqueue(stream), 0, call_.column.count, consumer, stream);
    simt::copy(&found, matches_, sizeof(std::uint64_t), stream);
    simt::synchronize(stream);
    return found;
  }

 private:
  const packed_select_call& call_;
  column_on_device column_;
  std::uint64_t words_;
  std::uint64_t* matches_ = nullptr;
  std::uint64_t* bitmap_ = nullptr;
};

template <class U>
void run_select_bitmap(const execution& on, const packed_select_call& call) {
  CUstream_st* const stream = stream_of(on);
  const bool on_host = call.space == memory_space::host;
  scratch room(on, stream);
  selection_on_device<U> selection(room, call, on_host);
  room.allocate();
  if (!on_host) selection.use_bitmap(call.bitmap);
  const settled_at_end wait(stream);
  const std::uint64_t found = selection.run(nullptr, stream);
  if (on_host) {
    simt::copy(call.bitmap, selection.bitmap(), selection.words() * sizeof(std::uint64_t), stream);
    simt::synchronize(stream);
  }
  *call.matches = found;
}

/// Enqueues the writing of all indices of a bitmap, once the bits of each group are counted.
template <class Index>
void enqueue_indices(const std::uint64_t* bitmap, std::uint64_t words, std::uint32_t* counts, std::uint64_t groups,
                     std::uint64_t* totals, Index* out, CUstream_st* stream) {
  const std::uint64_t chunks = (groups + scan_group_counts::chunk - 1) / scan_group_counts::chunk;
  simt::launch(scan_group_counts{counts, groups, totals}, {.grid = static_cast<unsigned>(chunks), .stream = stream});
  simt::launch(scan_chunk_totals{totals, chunks}, {.stream = stream});
  using expand = expand_bitmap<Index>;
  simt::launch(expand{reinterpret_cast<const std::uint32_t*>(bitmap), 2 * words, counts, totals, groups, out},
               {.grid = resident_grid<expand>(groups), .stream = stream});
}

template <class U, class Index>
void run_select_indices(const execution& on, const packed_select_call& call) {
  CUstream_st* const stream = stream_of(on);
  const bool on_host = call.space == memory_space::host;
  const std::uint64_t groups = call.column.groups();
  scratch room(on, stream);
  selection_on_device<U> selection(room, call, true);
  std::uint32_t* counts = nullptr;
  std::uint64_t* totals = nullptr;
  room.request(counts, groups);
  room.request(totals, groups / scan_group_counts::chunk + 1);
  room.allocate();
  const settled_at_end wait(stream);
  *call.matches = selection.run(counts, stream);
  if (*call.matches == 0 || *call.matches > call.capacity) return;
  scratch results(on, stream);
  Index* out = nullptr;
  if (on_host) results.request(out, *call.matches);
  results.allocate();
  if (!on_host) out = static_cast<Index*>(call.indices);
  enqueue_indices(selection.bitmap(), selection.words(), counts, groups, totals, out, stream);
  if (!on_host) return;
  simt::synchronize(stream);
  simt::copy(call.indices, out, *call.matches * sizeof(Index), stream);
  simt::synchronize(stream);
}

template <class U>
void run_select(const execution& on, const packed_select_call& call) {
  const simt::device_guard current(on.device);
  if (call.bitmap != nullptr) {
    run_select_bitmap<U>(on, call);
  } else if (call.index_bytes == 4) {
    run_select_indices<U, std::uint32_t>(on, call);
  } else {
    run_select_indices<U, std::uint64_t>(on, call);
  }
  report_visit(call.statistics);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
