#pragma once

/// \file
/// A call of "pack": every group is measured and written on the device, what is to be written is decided on the host.

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

template <class U>
void run_pack(const execution& on, const pack_call& call) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  packed_layout shape;
  shape.count = call.count;
  const std::uint64_t groups = shape.groups();
  std::vector<packed::group_sizes> sizes(groups);
  std::vector<packed::group_place> places;
  const settled_at_end wait(stream);

  scratch workspace(on, stream);
  U* copied = nullptr;
  packed::group_sizes* device_sizes = nullptr;
  packed::group_place* device_places = nullptr;
  if (call.space == memory_space::host) workspace.request(copied, call.count);
  workspace.request(device_sizes, groups);
  workspace.request(device_places, groups);
  workspace.allocate();
  if (call.space == memory_space::host && call.count > 0) {
    simt::copy(copied, call.values, call.count * sizeof(U), stream);
  }
  const packed::encoder<U> with{call.space == memory_space::host ? copied : static_cast<const U*>(call.values),
                                call.count, packed::is_signed(call.type), call.patches, call.lanes};
  constexpr unsigned block = measure_groups<U>::block_size;
  const simt::launch_shape for_groups{.grid = static_cast<unsigned>((groups + block - 1) / block), .stream = stream};

  // what takes the same whatever the values are need not be measured
  if (groups > 0 && call.kind != encoding::plain) {
    simt::launch(measure_groups<U>{with, groups, call.kind, device_sizes}, for_groups);
    simt::copy(sizes.data(), device_sizes, groups * sizeof(packed::group_sizes), stream);
    simt::synchronize(stream);
  }
  packed::group_sizes total;
  for (const auto& one : sizes) total.add(one);
  packed_layout made =
      *packed::lay_out(packed::choose(call.type, call.count, call.kind, call.patches, call.lanes, total));

  scratch column(on, stream);
  std::byte* bytes = nullptr;
  column.request(bytes, made.total_bytes);
  column.allocate();
  simt::fill_zero(bytes, made.total_bytes, stream);
  if (groups > 0) {
    places = places_of(sizes, made);
    simt::copy(device_places, places.data(), groups * sizeof(packed::group_place), stream);
    simt::launch(write_groups<U>{with, groups, made, bytes, device_places}, for_groups);
  }
  simt::synchronize(stream);
  std::byte* const out = call.allocate(call.context, made.total_bytes);
  simt::copy(out, bytes, made.total_bytes, stream);
  simt::synchronize(stream);
  made.bytes = out;
  *call.result = made;
  if (call.statistics != nullptr) *call.statistics = {"a lane a group", 0};
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
