#include <backends/cpu/predicated_top_k.hpp>

#include <backends/cpu/family.hpp>
#include <backends/cpu/packed_column.hpp>
#include <backends/cpu/scratch.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::cpu_backend {

void predicated_top_k(const execution& on, const predicated_top_k_call& call) {
  using fused = runner<predicated_top_k_family::fused>;
  if (!call.rows.is_packed) return fused::run(on, call);
  const auto& column = call.rows.column;
  const scratch<std::uint64_t> taken(scratch_resource(on), column.blocks() * (packed_block_items / 64));
  std::uint64_t matches = 0;
  packed_select_call select;
  select.column = column;
  select.low = call.rows.low;
  select.high = call.rows.high;
  select.bitmap = taken.data();
  select.matches = &matches;
  packed_select(on, select);
  auto known = call;
  known.rows.taken = taken.data();
  fused::run(on, known);
}

}  // namespace zenith::cpu_backend
