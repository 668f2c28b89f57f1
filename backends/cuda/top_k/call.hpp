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

  scratch room(on, stream);
  room.request(problem.report, 1);
  room.allocate();
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

template <class T, class Strategy>
void run_streamed(const execution& on, const top_k_call& call) {
  const auto* const keys = static_cast<const T*>(call.keys);
  const auto index_bytes = static_cast<std::size_t>(call.index_bytes);
  // Chunks of at least four times k: what they leave for the last round is a quarter of the data at most.
  const std::uint64_t chunk = std::min(call.count, std::max(simt::host_chunk_bytes / sizeof(T), 4 * call.k));
  const std::uint64_t chunks = (call.count + chunk - 1) / chunk;
  const std::uint64_t left_over = call.count - (chunks - 1) * chunk;
  const std::uint64_t candidates = (chunks - 1) * call.k + std::min(call.k, left_over);

  CUstream_st* const stream = stream_of(on);
  T* buffers[2] = {};
  T* candidate_keys = nullptr;
  std::uint64_t* candidate_names = nullptr;
  T* best_keys = nullptr;
  std::byte* best_indices = nullptr;
  run_report* report = nullptr;
  scratch room(on, stream);
  room.request(buffers[0], chunk);
  room.request(buffers[1], chunks > 1 ? chunk : 0);
  room.request(candidate_keys, chunks > 1 ? candidates : 0);
  room.request(candidate_names, chunks > 1 ? candidates : 0);
  room.request(best_keys, call.k);
  room.request(best_indices, call.k * index_bytes);
  room.request(report, 1);
  room.allocate();

  const streams_in_use streams(stream, chunks > 1);
  simt::event ready;
  simt::event filled[2];
  simt::event drained[2];
  simt::fill_zero(report, sizeof(run_report), stream);
  ready.record(stream);
  ready.hold(streams.copies());

  device_problem<T> problem{.keys = nullptr,
                            .count = 0,
                            .k = static_cast<std::uint32_t>(call.k),
                            .order = top_k_detail::order_of<T>(call),
                            .out_keys = best_keys,
                            .out_indices = best_indices,
                            .index_bytes = call.index_bytes,
                            .naming = {call.first_index, nullptr},
                            .report = report};
  for (std::uint64_t i = 0; i < chunks; ++i) {
    const auto slot = i % 2;
    const std::uint64_t first = i * chunk;
    const std::uint64_t count = std::min(chunk, call.count - first);
    drained[slot].hold(streams.copies());
    simt::copy(buffers[slot], keys + first, count * sizeof(T), streams.copies());
    filled[slot].record(streams.copies());
    filled[slot].hold(stream);
    device_problem<T> part = problem;
    part.keys = buffers[slot];
    part.count = static_cast<std::uint32_t>(count);
    if (chunks > 1) {
      part.k = static_cast<std::uint32_t>(std::min(call.k, count));
      part.out_keys = candidate_keys + i * call.k;
      part.out_indices = candidate_names + i * call.k;
      part.index_bytes = sizeof(std::uint64_t);
      part.naming = {call.first_index + first, nullptr};
    }
    Strategy::template enqueue<T>(on, part, stream);
    drained[slot].record(stream);
  }
  if (chunks > 1) {
    // Equal candidates stand by rising index, so their positions are a tie-break as good as their names.
    problem.keys = candidate_keys;
    problem.count = static_cast<std::uint32_t>(candidates);
    problem.naming = {0, candidate_names};
    problem.report = nullptr;
    Strategy::template enqueue<T>(on, problem, stream);
  }

  // The caller's memory is written when nothing can fail any more.
  run_report counted{};
  simt::copy(&counted, report, sizeof(run_report), stream);
  simt::synchronize(stream);
  simt::copy(call.out_keys, best_keys, call.k * sizeof(T), stream);
  simt::copy(call.out_indices, best_indices, call.k * index_bytes, stream);
  simt::synchronize(stream);
  if (call.statistics != nullptr) *call.statistics = Strategy::statistics(counted);
}

template <class T, class Strategy>
void run_top_k(const execution& on, const top_k_call& call) {
  const simt::device_guard current(on.device);
  if (call.space == memory_space::host) {
    run_streamed<T, Strategy>(on, call);
  } else {
    run_on_device<T, Strategy>(on, call);
  }
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
