#pragma once

/// \file
/// Calls over a packed column whose values are words `U`: unpack, sum, extremes, select.

#include <backends/cuda/kernels/packed_column/consumers.hpp>
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

template <class U>
void run_select_bitmap(const execution& on, const packed_select_call& call) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  const std::uint64_t words = (call.column.count + 63) / 64;
  const bool on_host = call.space == memory_space::host;
  scratch room(on, stream);
  const column_on_device column(room, call.column, call.space);
  std::uint64_t* matches = nullptr;
  std::uint64_t* bitmap = nullptr;
  room.request(matches, 1);
  if (on_host) room.request(bitmap, words);
  room.allocate();
  if (!on_host) bitmap = call.bitmap;
  std::uint64_t found = 0;
  const settled_at_end wait(stream);
  simt::fill_zero(matches, sizeof(std::uint64_t), stream);
  const select_values<U> consumer{static_cast<U>(call.low),
                                  static_cast<U>(call.high - call.low),
                                  reinterpret_cast<std::uint32_t*>(bitmap),
                                  2 * words,
                                  matches,
                                  nullptr};
  enqueue_visit<U>(column.enqueue(stream), 0, call.column.count, consumer, stream);
  simt::copy(&found, matches, sizeof(std::uint64_t), stream);
  simt::synchronize(stream);
  if (on_host) {
    simt::copy(call.bitmap, bitmap, words * sizeof(std::uint64_t), stream);
    simt::synchronize(stream);
  }
  *call.matches = found;
  report_visit(call.statistics);
}

template <class U>
void run_select(const execution& on, const packed_select_call& call) {
  run_select_bitmap<U>(on, call);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
