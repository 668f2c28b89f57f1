#pragma once

/// \file
/// A call of "pack": every group is measured and written on the device, what is to be written is decided on the host.

#include <algorithm>
#include <optional>
#include <vector>

#include <algorithms/packed_column/layout.hpp>
#include <backends/cuda/kernels/packed_column/pack.hpp>
#include <backends/cuda/packed_column/call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Where every group's share begins.
[[nodiscard]] inline std::vector<packed::group_place> places_of(const std::vector<packed::group_sizes>& sizes,
                                                                const packed_layout& made) {
  std::vector<packed::group_place> places(sizes.size());
  packed::group_place at;
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    places[g] = at;
    const auto taken = packed::place_in(sizes[g], made.kind, made.patches > 0);
    at.payload += taken.payload;
    at.patch += taken.patch;
  }
  return places;
}

[[nodiscard]] inline bool is_in_blocks(encoding kind) {
  return kind == encoding::frame_of_reference || kind == encoding::delta;
}

/// One call of "pack" whose values lie on the device.
template <class U>
class packing_on_device {
 public:
  packing_on_device(const execution& on, const pack_call& call, const U* values, CUstream_st* stream)
      : on_(on),
        call_(call),
        with_{values, call.count, packed::is_signed(call.type), call.patches, call.lanes},
        stream_(stream) {
    packed_layout shape;
    shape.count = call.count;
    sizes_.resize(shape.groups());
  }

  /// What every group takes. What takes the same whatever the values are need not be measured.
  void measure() {
    if (sizes_.empty() || call_.kind == encoding::plain) return;
    if (is_in_blocks(call_.kind)) {
      const bool is_delta = call_.kind == encoding::delta;
      const auto found = measured<block_sizes>([&](block_sizes* to) {
        simt::launch(measure_blocks<U>{with_, groups(), is_delta, to},
                     grid_of(measure_blocks<U>::block_size / simt::warp_size));
      });
      for (std::size_t g = 0; g < found.size(); ++g) {
        auto& group = sizes_[g];
        (is_delta ? group.delta_words : group.words) = found[g].words;
        (is_delta ? group.delta_patched_words : group.patched_words) = found[g].patched_words;
        (is_delta ? group.delta_patches : group.patches) = found[g].patches;
      }
    } else {
      sizes_ = measured<packed::group_sizes>([&](packed::group_sizes* to) {
        simt::launch(measure_groups<U>{with_, groups(), call_.kind, to}, grid_of(measure_groups<U>::block_size));
      });
    }
  }

  [[nodiscard]] packed_layout lay_out() const {
    packed::group_sizes total;
    for (const auto& one : sizes_) total.add(one);
    return *packed::lay_out(packed::choose(call_.type, call_.count, call_.kind, call_.patches, call_.lanes, total));
  }

  /// Enqueues the column's bytes; `bytes` are zeros.
  void write(const packed_layout& made, std::byte* bytes) {
    if (sizes_.empty()) return;
    places_ = places_of(sizes_, made);
    places_there_.emplace(on_, stream_);
    packed::group_place* there = nullptr;
    places_there_->request(there, places_.size());
    places_there_->allocate();
    simt::copy(there, places_.data(), places_.size() * sizeof(packed::group_place), stream_);
    if (is_in_blocks(made.kind)) {
      auto shape = grid_of(write_blocks<U>::warps);
      shape.shared_bytes = write_blocks<U>::shared_bytes;
      simt::launch(write_blocks<U>{with_, groups(), made, bytes, there}, shape);
    } else {
      simt::launch(write_groups<U>{with_, groups(), made, bytes, there}, grid_of(write_groups<U>::block_size));
    }
  }

 private:
  [[nodiscard]] std::uint64_t groups() const { return sizes_.size(); }

  [[nodiscard]] simt::launch_shape grid_of(unsigned groups_of_block) const {
    return {.grid = static_cast<unsigned>((groups() + groups_of_block - 1) / groups_of_block), .stream = stream_};
  }

  // What a launch stores for each group.
  template <class Size, class Launch>
  [[nodiscard]] std::vector<Size> measured(const Launch& launch) const {
    std::vector<Size> found(groups());
    scratch workspace(on_, stream_);
    Size* there = nullptr;
    workspace.request(there, groups());
    workspace.allocate();
    launch(there);
    simt::copy(found.data(), there, groups() * sizeof(Size), stream_);
    simt::synchronize(stream_);
    return found;
  }

  const execution& on_;
  const pack_call& call_;
  packed::encoder<U> with_;
  CUstream_st* stream_;
  std::vector<packed::group_sizes> sizes_;
  std::vector<packed::group_place> places_;  // of the host, until the stream was waited for
  std::optional<scratch> places_there_;
};

/// Enqueues the sums of the checksum of a column whose header is zeros, and waits for them.
[[nodiscard]] inline packed_digest digest_of(const execution& on, const packed_layout& made, const std::byte* bytes,
                                             CUstream_st* stream) {
  constexpr std::uint64_t rows_of_header = (sizeof(packed_header) + packed_alignment - 1) / packed_alignment;
  const std::uint64_t rows = made.total_bytes / packed_alignment;
  scratch workspace(on, stream);
  digest_sums* there = nullptr;
  workspace.request(there, 1);
  workspace.allocate();
  simt::fill_zero(there, sizeof(digest_sums), stream);
  const int resident = simt::limits().multiprocessors * simt::resident_blocks<digest_rows>();
  constexpr std::uint64_t rows_of_block = digest_rows::block_size * 2 / digest_sums::lanes;
  simt::launch(digest_rows{bytes, rows_of_header, rows, there},
               {.grid = static_cast<unsigned>(
                    std::min<std::uint64_t>(static_cast<std::uint64_t>(resident), rows / rows_of_block + 1)),
                .stream = stream});
  digest_sums sums{};
  simt::copy(&sums, there, sizeof(digest_sums), stream);
  simt::synchronize(stream);
  packed_digest digest;
  digest.first_row = rows_of_header;
  for (unsigned i = 0; i < digest_sums::lanes; ++i) {
    digest.sum[i] = sums.sum[i];
    digest.weighted[i] = 0 - sums.of_rows[i];
  }
  return digest;
}

template <class U>
void run_pack(const execution& on, const pack_call& call) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  scratch workspace(on, stream);
  U* copied = nullptr;
  const bool is_on_host = call.space == memory_space::host;
  if (is_on_host) workspace.request(copied, call.count);
  workspace.allocate();
  const auto* const values = is_on_host ? copied : static_cast<const U*>(call.values);
  packing_on_device<U> packing(on, call, values, stream);
  const settled_at_end wait(stream);
  if (is_on_host && call.count > 0) simt::copy(copied, call.values, call.count * sizeof(U), stream);

  packing.measure();
  packed_layout made = packing.lay_out();
  scratch column(on, stream);
  std::byte* bytes = nullptr;
  column.request(bytes, made.total_bytes);
  column.allocate();
  simt::fill_zero(bytes, made.total_bytes, stream);
  packing.write(made, bytes);
  const auto digest = digest_of(on, made, bytes, stream);
  std::byte* const out = call.allocate(call.context, made.total_bytes);
  simt::copy(out, bytes, made.total_bytes, stream);
  simt::synchronize(stream);
  made.bytes = out;
  *call.result = made;
  if (call.digest != nullptr) *call.digest = digest;
  if (call.statistics != nullptr) {
    *call.statistics = {is_in_blocks(made.kind) ? "a warp a group" : "a lane a group", 0};
  }
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
