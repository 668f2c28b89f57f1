#pragma once

/// \file
/// Calls of "packed_select": a bitmap, or from it the indices.

#include <backends/cuda/block_results.hpp>
#include <backends/cuda/kernels/packed_column/indices.hpp>
#include <backends/cuda/kernels/packed_column/select_values.hpp>
#include <backends/cuda/packed_column/call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Enqueues a selection of [low, high] from a column on the device, and waits for how many match. `matches_in_group`
/// may be nullptr.
template <class U>
std::uint64_t mark_values(const packed_layout& column, U low, U high, std::uint64_t* bitmap,
                          std::uint32_t* matches_in_group, CUstream_st* stream) {
  const column_visit<U, select_values<U>> visit(column, 0, column.count);
  const block_results<std::uint64_t> matches(visit.blocks());
  settled_at_end wait(stream);
  visit.enqueue(column.bytes,
                {low, static_cast<U>(high - low), reinterpret_cast<std::uint32_t*>(bitmap),
                 2 * ((column.count + 63) / 64), matches.data(), matches_in_group},
                stream);
  wait.now();
  return matches.combined([](std::uint64_t a, std::uint64_t b) { return a + b; });
}

/// A bitmap with its counts in scratch memory, as the writing of indices needs it.
class marks_on_device {
 public:
  marks_on_device(scratch& workspace, const packed_layout& column) : count_(column.count), groups_(column.groups()) {
    workspace.request(bitmap_, words());
    workspace.request(counts_, groups_);
    workspace.request(totals_, chunks());
  }
  marks_on_device(const marks_on_device&) = delete;
  marks_on_device& operator=(const marks_on_device&) = delete;

  /// Marks the values in [low, high]; waits for how many there are.
  template <class U>
  [[nodiscard]] std::uint64_t mark(const packed_layout& column, U low, U high, CUstream_st* stream) const {
    return mark_values<U>(column, low, high, bitmap_, counts_, stream);
  }

  /// Enqueues the running sums of the counts, once after each marking.
  [[nodiscard]] marked_values enqueue_sums(CUstream_st* stream) const {
    simt::launch(scan_group_counts{counts_, groups_, totals_},
                 {.grid = static_cast<unsigned>(chunks()), .stream = stream});
    simt::launch(scan_chunk_totals{totals_, chunks()}, {.stream = stream});
    return {reinterpret_cast<const std::uint32_t*>(bitmap_), 2 * words(), groups_, counts_, totals_};
  }

 private:
  [[nodiscard]] std::uint64_t words() const { return (count_ + 63) / 64; }
  [[nodiscard]] std::uint64_t chunks() const {
    return (groups_ + scan_group_counts::chunk - 1) / scan_group_counts::chunk;
  }

  std::uint64_t count_;
  std::uint64_t groups_;
  std::uint64_t* bitmap_ = nullptr;
  std::uint32_t* counts_ = nullptr;
  std::uint64_t* totals_ = nullptr;
};

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
