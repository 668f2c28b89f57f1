#pragma once

/// \file
/// Calls of "packed_select": a bitmap, or from it the indices.

#include <backends/cuda/block_results.hpp>
#include <backends/cuda/kernels/packed_column/select_values.hpp>
#include <backends/cuda/packed_column/marks.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class U>
select_values<U> selection_of(const packed_layout& column, U low, U high, std::uint64_t* bitmap) {
  return {low, static_cast<U>(high - low), reinterpret_cast<std::uint32_t*>(bitmap), 2 * ((column.count + 63) / 64)};
}

template <class U>
void enqueue_bitmap(const packed_layout& column, U low, U high, std::uint64_t* bitmap, CUstream_st* stream) {
  enqueue_visit<U>(column, 0, column.count, selection_of(column, low, high, bitmap), stream);
}

template <class U>
std::uint64_t mark_values(const packed_layout& column, U low, U high, std::uint64_t* bitmap,
                          std::uint32_t* matches_in_group, CUstream_st* stream) {
  const column_visit<U, select_values<U>> visit(column, 0, column.count);
  const block_results<std::uint64_t> matches(visit.blocks());
  auto selection = selection_of(column, low, high, bitmap);
  selection.matches = matches.data();
  selection.matches_in_group = matches_in_group;
  settled_at_end wait(stream);
  visit.enqueue(column.bytes, selection, stream);
  wait.now();
  return matches.combined([](std::uint64_t a, std::uint64_t b) { return a + b; });
}

template <class U>
void run_select_bitmap(const execution& on, const packed_select_call& call) {
  CUstream_st* const stream = stream_of(on);
  const std::uint64_t words = (call.column.count + 63) / 64;
  const bool on_host = call.space == memory_space::host;
  scratch workspace(on, stream);
  const column_on_device column(workspace, call.column, call.space);
  std::uint64_t* bitmap = nullptr;
  if (on_host) workspace.request(bitmap, words);
  workspace.allocate();
  if (!on_host) bitmap = call.bitmap;
  settled_at_end wait(stream);
  const std::uint64_t found = mark_values<U>(column.enqueue(stream), static_cast<U>(call.low),
                                             static_cast<U>(call.high), bitmap, nullptr, stream);
  if (on_host) simt::copy(call.bitmap, bitmap, words * sizeof(std::uint64_t), stream);
  wait.now();
  *call.matches = found;
}

template <class U, class Index>
void run_select_indices(const execution& on, const packed_select_call& call) {
  CUstream_st* const stream = stream_of(on);
  const bool on_host = call.space == memory_space::host;
  scratch workspace(on, stream);
  const column_on_device column(workspace, call.column, call.space);
  const marks_on_device marks(workspace, call.column);
  workspace.allocate();
  const settled_at_end wait(stream);
  const std::uint64_t found =
      marks.mark<U>(column.enqueue(stream), static_cast<U>(call.low), static_cast<U>(call.high), stream);
  *call.matches = found;
  if (found == 0 || found > call.capacity) return;
  scratch results(on, stream);
  Index* out = nullptr;
  if (on_host) results.request(out, found);
  results.allocate();
  if (!on_host) out = static_cast<Index*>(call.indices);
  using kernel = expand_bitmap<Index>;
  simt::launch(kernel{marks.enqueue_sums(stream), out},
               {.grid = resident_grid<kernel>(call.column.groups()), .stream = stream});
  if (!on_host) return;
  simt::synchronize(stream);
  simt::copy(call.indices, out, found * sizeof(Index), stream);
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
