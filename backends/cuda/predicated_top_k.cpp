#include <backends/cuda/predicated_top_k.hpp>

#include <cstdint>
#include <optional>

#include <backends/cuda/family.hpp>
#include <backends/cuda/packed_column/column_on_device.hpp>
#include <backends/cuda/packed_column/instances.hpp>
#include <backends/cuda/scratch.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

void predicated_top_k(const execution& on, const predicated_top_k_call& call) {
  using fused = runner<predicated_top_k_family::fused>;
  const auto& rows = call.rows;
  if (!rows.is_packed) return fused::run(on, call);
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  scratch workspace(on, stream);
  const column_on_device column(workspace, rows.column, call.result.space);
  std::uint64_t* taken = nullptr;
  workspace.request(taken, (rows.column.count + 63) / 64);
  workspace.allocate();
  std::optional<settled_at_end> wait;
  if (call.result.space == memory_space::host) wait.emplace(stream);
  const auto enqueue = [&, there = column.enqueue(stream)]<class U>(U low, U high) {
    enqueue_bitmap<U>(there, low, high, taken, stream);
  };
  if (size_of(rows.type) == 4) {
    enqueue(static_cast<std::uint32_t>(rows.low), static_cast<std::uint32_t>(rows.high));
  } else {
    enqueue(rows.low, rows.high);
  }
  auto known = call;
  known.rows.taken = taken;
  fused::run(on, known);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
