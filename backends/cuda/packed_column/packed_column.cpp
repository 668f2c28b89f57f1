#include <backends/cuda/packed_column/packed_column.hpp>

#include <backends/cuda/packed_column/instances.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

namespace {

void pack_into(const execution& on, const pack_call& call, memory_space column) {
  size_of(call.type) == 4 ? run_pack<std::uint32_t>(on, call, column) : run_pack<std::uint64_t>(on, call, column);
}

}  // namespace

void pack(const execution& on, const pack_call& call) { pack_into(on, call, memory_space::host); }
void pack_on_device(const execution& on, const device_pack_call& call) { pack_into(on, call, memory_space::device); }

void unpack(const execution& on, const unpack_call& call) {
  size_of(call.column.type) == 4 ? run_unpack<std::uint32_t>(on, call) : run_unpack<std::uint64_t>(on, call);
}

void packed_sum(const execution& on, const packed_sum_call& call) {
  size_of(call.column.type) == 4 ? run_sum<std::uint32_t>(on, call) : run_sum<std::uint64_t>(on, call);
}

void packed_extremes(const execution& on, const packed_extremes_call& call) {
  size_of(call.column.type) == 4 ? run_extremes<std::uint32_t>(on, call) : run_extremes<std::uint64_t>(on, call);
}

void packed_select(const execution& on, const packed_select_call& call) {
  size_of(call.column.type) == 4 ? run_select<std::uint32_t>(on, call) : run_select<std::uint64_t>(on, call);
}

void packed_top_k(const execution& on, const packed_top_k_call& call) {
  size_of(call.column.type) == 4 ? run_packed_top_k<std::uint32_t>(on, call)
                                 : run_packed_top_k<std::uint64_t>(on, call);
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
