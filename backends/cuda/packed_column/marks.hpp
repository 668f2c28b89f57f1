#pragma once

/// \file
/// The values in a range as a bitmap on the device, for calls that go on from there.

#include <backends/cuda/kernels/packed_column/indices.hpp>
#include <backends/cuda/packed_column/call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Enqueues a selection of [low, high] from a column on the device, and waits for how many match. `matches_in_group`
/// may be nullptr. Defined in the instances of "packed_select".
template <class U>
std::uint64_t mark_values(const packed_layout& column, U low, U high, std::uint64_t* bitmap,
                          std::uint32_t* matches_in_group, CUstream_st* stream);

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

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
