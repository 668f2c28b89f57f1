#pragma once

/// \file
/// A call of "packed_top_k": a sample sets a threshold, one pass over the packed bytes selects what reaches it, and
/// the plain top-k of the few that do is the answer. Candidates stand by rising index, so that among equal values the
/// lower position is the lower index.

#include <cmath>
#include <limits>

#include <backends/cuda/kernels/packed_column/pick.hpp>
#include <backends/cuda/packed_column/instances.hpp>
#include <backends/cuda/packed_column/marks.hpp>
#include <backends/cuda/top_k/top_k.hpp>
#include <zenith/error.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// One call on a column that lies on the device.
template <class U>
class packed_top_k_run {
 public:
  /// `call` is the caller's but for the places of results, which are the device's.
  packed_top_k_run(const execution& on, const packed_layout& column, const top_k_call& call)
      : on_(on),
        stream_(stream_of(on)),
        column_(column),
        call_(call),
        workspace_(on, stream_),
        marks_(workspace_, column) {
    call_.space = memory_space::device;
    call_.statistics = nullptr;
  }

  /// Enqueues all there is to do; waits for the decisions on the way.
  top_k_statistics run() {
    const auto plan = top_k_detail::plan_sample(column_.count, call_.k, sample_size());
    if (plan.samples == 0) return decode_all();
    const auto [threshold, best] = sample(plan);
    workspace_.allocate();
    const auto most = static_cast<std::uint64_t>(4 * plan.expected_survivors) + call_.k;
    // as many equal values in the column, in all likelihood
    if (threshold == best) return run_tied(threshold, most);
    const std::uint64_t reaching = mark(threshold, best_value());
    if (reaching < call_.k) return decode_all();
    if (reaching <= most) {
      request_candidates(reaching);
      take(reaching, 0);
      return finish(reaching, 1);
    }
    return run_tied(threshold, most);
  }

 private:
  // The threshold does not rise on the way, so that every value that reaches it must be taken out of its group: more of
  // a sample pays than where survivors are at hand.
  [[nodiscard]] double sample_size() const {
    constexpr double most = 1 << 16;
    return std::fmin(most,
                     4 * top_k_detail::sample_size(static_cast<double>(column_.count), static_cast<double>(call_.k)));
  }

  // Many values equal the threshold: those above it, and the first of the equal ones.
  top_k_statistics run_tied(U threshold, std::uint64_t most) {
    const bool any_above = threshold != best_value();
    const U next = call_.select == selection::largest ? threshold + 1 : threshold - 1;
    const std::uint64_t above = any_above ? mark(next, best_value()) : 0;
    if (above > most) return decode_all();
    const std::uint64_t candidates = above > call_.k ? above : call_.k;
    request_candidates(candidates);
    if (above > 0) take(above, 0);
    if (above < call_.k) {
      if (above + mark(threshold, threshold) < call_.k) return decode_all();
      take(call_.k - above, above);
    }
    return finish(candidates, 2);
  }

  // The best that the type has, in the order of the call.
  [[nodiscard]] U best_value() const {
    const U greatest = static_cast<U>(~U{0}) ^ sign_flip<U>(column_.type);
    return call_.select == selection::largest ? greatest : static_cast<U>(~greatest);
  }

  struct sampled {
    U threshold;  ///< the plan's rank-th best
    U best;
  };

  sampled sample(const top_k_detail::filter_plan& plan) {
    scratch workspace(on_, stream_);
    U* values = nullptr;
    std::uint32_t* positions = nullptr;
    workspace.request(values, plan.samples);
    workspace.request(positions, plan.rank);
    workspace.allocate();
    const simt::host_page best(plan.rank * sizeof(U));
    settled_at_end wait(stream_);
    enqueue_sample(plan.samples, values);
    top_k_call of_sample = call_;
    of_sample.keys = values;
    of_sample.count = plan.samples;
    of_sample.k = plan.rank;
    of_sample.out_keys = best.get();
    of_sample.out_indices = positions;
    of_sample.index_bytes = sizeof(std::uint32_t);
    of_sample.first_index = 0;
    of_sample.order = ordering::sorted;
    top_k_filter.run(on_, &of_sample);
    wait.now();
    sampled found{};
    best.read(&found.threshold, (plan.rank - 1) * sizeof(U), sizeof(U));
    best.read(&found.best, 0, sizeof(U));
    return found;
  }

  void enqueue_sample(std::uint32_t samples, U* values) const {
    if (column_.kind == encoding::frame_of_reference && column_.patches == 0) {
      using kernel = sample_framed_values<U>;
      simt::launch(kernel{column_, samples, values}, shape_for(samples, kernel::block_size));
      return;
    }
    with_encoding(column_.kind, [&]<encoding Kind>(std::integral_constant<encoding, Kind>) {
      using kernel = sample_values<U, Kind>;
      simt::launch(kernel{column_, samples, values},
                   {.grid = (samples + kernel::warps - 1) / kernel::warps, .stream = stream_});
    });
  }

  void request_candidates(std::uint64_t count) {
    workspace_.request(indices_, count);
    workspace_.request(keys_, count);
    workspace_.request(positions_, call_.k);
    workspace_.allocate();
  }

  // Marks the values between the worse and the better of two, in the order of the call; returns how many.
  [[nodiscard]] std::uint64_t mark(U worse, U better) const {
    const bool largest = call_.select == selection::largest;
    return marks_.mark<U>(column_, largest ? worse : better, largest ? better : worse, stream_);
  }

  // The first `count` of those that were marked become candidates `at`, at + 1, …
  void take(std::uint64_t count, std::uint64_t at) const {
    const auto marked = marks_.enqueue_sums(stream_);
    with_encoding(column_.kind, [&]<encoding Kind>(std::integral_constant<encoding, Kind>) {
      using kernel = take_marked<U, Kind>;
      simt::launch(kernel{column_, marked, count, keys_ + at, indices_ + at},
                   {.grid = resident_grid<kernel>(marked.groups), .stream = stream_});
    });
  }

  top_k_statistics finish(std::uint64_t candidates, std::uint64_t reads) {
    require_few(candidates);
    top_k_call last = call_;
    last.keys = keys_;
    last.count = candidates;
    last.out_indices = positions_;
    last.index_bytes = sizeof(std::uint32_t);
    last.first_index = 0;
    top_k_filter.run(on_, &last);
    const auto name = [&]<class Index>(Index* out) {
      using kernel = name_positions<Index>;
      simt::launch(kernel{positions_, indices_, call_.first_index, call_.k, out},
                   shape_for(call_.k, kernel::block_size));
    };
    if (call_.index_bytes == 4) {
      name(static_cast<std::uint32_t*>(call_.out_indices));
    } else {
      name(static_cast<std::uint64_t*>(call_.out_indices));
    }
    return {"warp tiles", 0, reads, candidates};
  }

  // Where a threshold would not help: the plain top-k of all values.
  top_k_statistics decode_all() {
    require_few(column_.count);
    scratch workspace(on_, stream_);
    U* values = nullptr;
    workspace.request(values, column_.count);
    workspace.allocate();
    enqueue_values<U>(column_, 0, column_.count, values, stream_);
    top_k_call plain = call_;
    plain.keys = values;
    plain.count = column_.count;
    top_k_filter.run(on_, &plain);
    return {"warp tiles", 0, 1, column_.count};
  }

  void require_few(std::uint64_t items) const {
    if (items < std::numeric_limits<std::uint32_t>::max()) return;
    throw error(error_code::unsupported,
                "top_k: this backend selects among fewer than 2^32 candidates of a packed column, here there are " +
                    std::to_string(items),
                "cuda");
  }

  [[nodiscard]] simt::launch_shape shape_for(std::uint64_t items, unsigned block) const {
    constexpr std::uint64_t most = 1U << 16;
    return {.grid = static_cast<unsigned>(std::min((items + block - 1) / block, most)), .stream = stream_};
  }

  const execution& on_;
  CUstream_st* stream_;
  packed_layout column_;
  top_k_call call_;
  scratch workspace_;
  marks_on_device marks_;
  std::uint64_t* indices_ = nullptr;
  U* keys_ = nullptr;
  std::uint32_t* positions_ = nullptr;
};

template <class U>
void run_packed_top_k(const execution& on, const packed_top_k_call& call) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  const bool on_host = call.column.count > 0 && call.top_k.space == memory_space::host;
  const std::size_t index_bytes = call.top_k.k * static_cast<std::size_t>(call.top_k.index_bytes);
  scratch workspace(on, stream);
  const column_on_device column(workspace, call.column, call.top_k.space);
  U* keys = nullptr;
  std::byte* indices = nullptr;
  if (on_host) {
    workspace.request(keys, call.top_k.k);
    workspace.request(indices, index_bytes);
  }
  workspace.allocate();
  auto on_device = call.top_k;
  if (on_host) {
    on_device.out_keys = keys;
    on_device.out_indices = indices;
  }
  const settled_at_end wait(stream);
  const auto statistics = packed_top_k_run<U>(on, column.enqueue(stream), on_device).run();
  if (on_host) {
    // the caller's memory is written when nothing can fail any more
    simt::synchronize(stream);
    simt::copy(call.top_k.out_keys, keys, call.top_k.k * sizeof(U), stream);
    simt::copy(call.top_k.out_indices, indices, index_bytes, stream);
    simt::synchronize(stream);
  }
  if (call.top_k.statistics != nullptr) *call.top_k.statistics = statistics;
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
