#pragma once

/// \file
/// A call of "top_k", wherever its data lies, to problems on the device. Calls on device memory are enqueued on the
/// executor's stream and nothing more, except that a caller who asks for statistics waits for them. Host memory is
/// streamed through the device in chunks, a chunk's copy beside the work on the one before.

#include <algorithm>
#include <cstdint>
#include <optional>

#include <algorithms/top_k/order.hpp>
#include <backends/cuda/top_k/problem.hpp>
#include <backends/cuda/top_k/strategies.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class T, class Strategy>
void run_on_device(const execution& on, const top_k_call& call) {
  CUstream_st* const stream = stream_of(on);
  device_problem<T> problem{static_cast<const T*>(call.keys),
                            static_cast<std::uint32_t>(call.count),
                            static_cast<std::uint32_t>(call.k),
                            top_k_detail::order_of<T>(call),
                            static_cast<T*>(call.out_keys),
                            call.out_indices,
                            call.index_bytes,
                            {call.first_index, nullptr}};
  if (call.statistics == nullptr) return Strategy::template enqueue<T>(on, problem, stream);

  scratch workspace(on, stream);
  workspace.request(problem.report, 1);
  workspace.allocate();
  simt::fill_zero(problem.report, sizeof(run_report), stream);
  Strategy::template enqueue<T>(on, problem, stream);
  run_report counted{};
  simt::copy(&counted, problem.report, sizeof(run_report), stream);
  simt::synchronize(stream);
  *call.statistics = Strategy::statistics(counted);
}

/// The streams at work on the caller's memory: whoever leaves early waits for them. Copies have a stream of their own
/// when there is work that they can overlap with.
class streams_in_use {
 public:
  streams_in_use(CUstream_st* work, bool overlap) : work_(work) {
    if (overlap) copies_.emplace();
  }
  streams_in_use(const streams_in_use&) = delete;
  streams_in_use& operator=(const streams_in_use&) = delete;
  ~streams_in_use() {
    simt::settle(copies());
    simt::settle(work_);
  }
  [[nodiscard]] CUstream_st* copies() const noexcept { return copies_ ? copies_->get() : work_; }

 private:
  std::optional<simt::own_stream> copies_;
  CUstream_st* work_;
};

/// How host memory is cut.
struct chunk_plan {
  std::uint64_t size;  ///< items of a chunk; the last may have fewer
  std::uint64_t chunks;
  std::uint64_t candidates;  ///< what the chunks leave for the last round; one chunk needs none

  static chunk_plan of(const top_k_call& call, std::size_t key_bytes) {
    // At least four times k, so that what is left for the last round is a quarter of the data at most.
    const std::uint64_t wanted = std::max<std::uint64_t>(simt::host_chunk_bytes / key_bytes, 4 * call.k);
    const std::uint64_t size = std::min(call.count, wanted);
    const std::uint64_t chunks = (call.count + size - 1) / size;
    const std::uint64_t in_last = call.count - (chunks - 1) * size;
    return {size, chunks, chunks == 1 ? 0 : (chunks - 1) * call.k + std::min(call.k, in_last)};
  }
};

/// What a call on host memory keeps on the device.
template <class T>
struct streaming_buffers {
  T* chunk[2] = {};  ///< one is filled while the other is worked on
  T* candidate_keys = nullptr;
  std::uint64_t* candidate_names = nullptr;
  T* best_keys = nullptr;
  std::byte* best_indices = nullptr;
  run_report* report = nullptr;

  void request(scratch& workspace, const top_k_call& call, const chunk_plan& plan) {
    workspace.request(chunk[0], plan.size);
    workspace.request(chunk[1], plan.chunks > 1 ? plan.size : 0);
    workspace.request(candidate_keys, plan.candidates);
    workspace.request(candidate_names, plan.candidates);
    workspace.request(best_keys, call.k);
    workspace.request(best_indices, call.k * static_cast<std::size_t>(call.index_bytes));
    workspace.request(report, 1);
  }
};

/// Copies chunk after chunk and enqueues the strategy on each, its results being the candidates, or the best of all
/// when there is but one.
template <class T, class Strategy>
void enqueue_chunks(const execution& on, const top_k_call& call, const chunk_plan& plan,
                    const streaming_buffers<T>& buffers, const device_problem<T>& whole, CUstream_st* copies,
                    CUstream_st* stream) {
  simt::event ready;
  simt::event filled[2];
  simt::event drained[2];
  ready.record(stream);
  ready.hold(copies);
  for (std::uint64_t i = 0; i < plan.chunks; ++i) {
    const auto slot = i % 2;
    const std::uint64_t first = i * plan.size;
    const std::uint64_t count = std::min(plan.size, call.count - first);
    drained[slot].hold(copies);
    simt::copy(buffers.chunk[slot], static_cast<const T*>(call.keys) + first, count * sizeof(T), copies);
    filled[slot].record(copies);
    filled[slot].hold(stream);
    device_problem<T> part = whole;
    part.keys = buffers.chunk[slot];
    part.count = static_cast<std::uint32_t>(count);
    if (plan.chunks > 1) {
      part.k = static_cast<std::uint32_t>(std::min(call.k, count));
      part.out_keys = buffers.candidate_keys + i * call.k;
      part.out_indices = buffers.candidate_names + i * call.k;
      part.index_bytes = sizeof(std::uint64_t);
      part.naming.first += first;
    }
    Strategy::template enqueue<T>(on, part, stream);
    drained[slot].record(stream);
  }
}

template <class T, class Strategy>
void run_streamed(const execution& on, const top_k_call& call) {
  CUstream_st* const stream = stream_of(on);
  const auto plan = chunk_plan::of(call, sizeof(T));
  streaming_buffers<T> buffers;
  scratch workspace(on, stream);
  buffers.request(workspace, call, plan);
  workspace.allocate();
  simt::fill_zero(buffers.report, sizeof(run_report), stream);

  const streams_in_use streams(stream, plan.chunks > 1);
  device_problem<T> problem{.keys = nullptr,
                            .count = 0,
                            .k = static_cast<std::uint32_t>(call.k),
                            .order = top_k_detail::order_of<T>(call),
                            .out_keys = buffers.best_keys,
                            .out_indices = buffers.best_indices,
                            .index_bytes = call.index_bytes,
                            .naming = {call.first_index, nullptr},
                            .report = buffers.report};
  enqueue_chunks<T, Strategy>(on, call, plan, buffers, problem, streams.copies(), stream);
  if (plan.chunks > 1) {
    // Equal candidates stand by rising index, so their positions are a tie-break as good as their names.
    problem.keys = buffers.candidate_keys;
    problem.count = static_cast<std::uint32_t>(plan.candidates);
    problem.naming = {0, buffers.candidate_names};
    problem.report = nullptr;
    Strategy::template enqueue<T>(on, problem, stream);
  }

  // The caller's memory is written when nothing can fail any more.
  run_report counted{};
  simt::copy(&counted, buffers.report, sizeof(run_report), stream);
  simt::synchronize(stream);
  simt::copy(call.out_keys, buffers.best_keys, call.k * sizeof(T), stream);
  simt::copy(call.out_indices, buffers.best_indices, call.k * static_cast<std::size_t>(call.index_bytes), stream);
  simt::synchronize(stream);
  if (call.statistics != nullptr) *call.statistics = Strategy::statistics(counted);
}

template <class T, class Strategy>
void top_k_runner<T, Strategy>::run(const execution& on, const top_k_call& call) {
  const simt::device_guard current(on.device);
  if (call.space == memory_space::host) {
    run_streamed<T, Strategy>(on, call);
  } else {
    run_on_device<T, Strategy>(on, call);
  }
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
