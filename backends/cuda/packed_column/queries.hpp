#pragma once

/// \file
/// Calls over a packed column whose values are words `U`: unpack, sum, extremes.

#include <backends/cuda/block_results.hpp>
#include <backends/cuda/kernels/packed_column/find_extremes.hpp>
#include <backends/cuda/kernels/packed_column/store_values.hpp>
#include <backends/cuda/kernels/packed_column/sum_values.hpp>
#include <backends/cuda/packed_column/call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class U>
void enqueue_values(const packed_layout& column, std::uint64_t first, std::uint64_t end, U* out, CUstream_st* stream) {
  enqueue_visit<U>(column, first, end, store_values<U>{out, first, end}, stream);
}

template <class U>
void run_unpack(const execution& on, const unpack_call& call) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  const bool on_host = call.space == memory_space::host;
  scratch workspace(on, stream);
  const column_on_device column(workspace, call.column, call.space);
  U* values = nullptr;
  if (on_host) workspace.request(values, call.count);
  workspace.allocate();
  U* const out = on_host ? values : static_cast<U*>(call.out);
  const std::uint64_t end = call.first + call.count;
  if (!on_host) {
    enqueue_values<U>(column.enqueue(stream), call.first, end, out, stream);
  } else {
    const settled_at_end wait(stream);
    enqueue_values<U>(column.enqueue(stream), call.first, end, out, stream);
    // the caller's memory is written when nothing can fail any more
    simt::synchronize(stream);
    simt::copy(call.out, values, call.count * sizeof(U), stream);
    simt::synchronize(stream);
  }
  report_visit(call.statistics);
}

/// Runs a consumer over the whole column; what it finds is a `Found` of each block, and `combine` over them returned.
template <class U, class Found, class MakeConsumer, class Combine>
Found find_in_column(const execution& on, const packed_layout& packed, memory_space space,
                     const MakeConsumer& consumer_of, const Combine& combine) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  scratch workspace(on, stream);
  const column_on_device column(workspace, packed, space);
  workspace.allocate();
  const column_visit<U, std::invoke_result_t<MakeConsumer, Found*>> visit(packed, 0, packed.count);
  const block_results<Found> found(visit.blocks());
  settled_at_end wait(stream);
  visit.enqueue(column.enqueue(stream).bytes, consumer_of(found.data()), stream);
  wait.now();
  return found.combined(combine);
}

template <class U>
void run_sum(const execution& on, const packed_sum_call& call) {
  // images lie above their values by the flip
  const U flip = sizeof(U) == 4 ? sign_flip<U>(call.column.type) : U{0};
  const auto sum = find_in_column<U, std::uint64_t>(
      on, call.column, call.space,
      [&](std::uint64_t* to) {
        return sum_values<U>{flip, to};
      },
      [](std::uint64_t a, std::uint64_t b) { return a + b; });
  *call.sum = sum - call.column.count * flip;
  report_visit(call.statistics);
}

template <class U>
void run_extremes(const execution& on, const packed_extremes_call& call) {
  const U flip = sign_flip<U>(call.column.type);
  const auto found = find_in_column<U, extremes_found>(
      on, call.column, call.space,
      [&](extremes_found* to) {
        return find_extremes<U>{flip, to};
      },
      [](const extremes_found& a, const extremes_found& b) {
        return extremes_found{std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
      });
  *call.minimum = static_cast<U>(found.least) ^ flip;
  *call.maximum = static_cast<U>(found.greatest) ^ flip;
  report_visit(call.statistics);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
