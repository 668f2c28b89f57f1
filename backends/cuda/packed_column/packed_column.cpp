#include <backends/cuda/packed_column/packed_column.hpp>

#include <backends/cuda/packed_column/instances.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

void pack(const execution& on, const pack_call& call) {
  size_of(call.type) == 4 ? run_pack<std::uint32_t>(on, call) : run_pack<std::uint64_t>(on, call);
}

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
