#include <backends/cpu/packed_column.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <algorithms/packed_column/pack.hpp>
#include <backends/cpu/for_blocks.hpp>
#include <backends/cpu/isa.hpp>
#include <backends/cpu/pack_once.hpp>
#include <backends/cpu/scratch.hpp>
#include <backends/cpu/unit_groups.hpp>

namespace zenith::cpu_backend {
namespace {

/// Encodes as the plain encoder does, and whole groups of frame of reference and delta by an instruction set's unit.
template <class U>
class fast_encoder {
 public:
  fast_encoder(const pack_call& call, const packed_table& isa, std::pmr::memory_resource& memory)
      : plain_(packed::plain_encoder<U>(call)),
        unit_(call, isa),
        whole_groups_(call.count / packed_group_items),
        frames_(memory, plain_.wants(call.kind, encoding::frame_of_reference) ? whole_groups_ : 0),
        deltas_(memory, plain_.wants(call.kind, encoding::delta) ? whole_groups_ : 0) {}

  [[nodiscard]] packed::group_sizes measure(std::uint64_t group, encoding asked) const {
    if (group >= whole_groups_) return plain_.measure(group, asked);
    packed::group_sizes found;
    if (asked == encoding::automatic) {
      for (const auto one : {encoding::null_suppression_fixed, encoding::null_suppression_variable,
                             encoding::run_length, encoding::vertical}) {
        found.add(plain_.measure(group, one));
      }
    } else if (!is_by_unit(asked)) {
      return plain_.measure(group, asked);
    }
    if (frames_.size() > 0) found.add(unit_.measure(group, encoding::frame_of_reference, frames_[group]));
    if (deltas_.size() > 0) found.add(unit_.measure(group, encoding::delta, deltas_[group]));
    return found;
  }

  void write(std::uint64_t group, const packed_layout& to, std::byte* out, packed::group_place at) const {
    if (group >= whole_groups_ || (!is_by_unit(to.kind) && to.kind != encoding::plain))
      return plain_.write(group, to, out, at);
    if (to.kind == encoding::plain) {
      const std::uint64_t bytes = packed_group_items * sizeof(U);
      std::memcpy(out + to.payload_at + group * bytes, unit_.values(group), bytes);
      return;
    }
    const auto& shapes = to.kind == encoding::delta ? deltas_ : frames_;
    packed_rows rows;
    begin_rows(rows, to, out, at.payload, false);
    unit_.write(group, to, out, shapes[group], rows, at);
    unit_.finish(rows);
  }

 private:
  packed::encoder<U> plain_;
  unit_groups<U> unit_;
  std::uint64_t whole_groups_;
  scratch<packed_group_shape> frames_;
  scratch<packed_group_shape> deltas_;
};

}  // namespace

void pack(const execution& on, const pack_call& call) {
  const auto& isa = find_packed(on.isa);
  const int workers = workers_for(on.threads, call.count * size_of(call.type));
  if (call.statistics != nullptr) *call.statistics = {isa.name, workers};
  if (pack_once(call, isa, workers)) return;

  auto& memory = scratch_resource(on);
  const auto for_groups = [&](std::uint64_t groups, const auto& work) {
    for_chunks(workers, 0, groups, chunk_groups, [&](int, std::uint64_t begin, std::uint64_t end) {
      for (auto g = begin; g < end; ++g) work(g);
    });
  };
  size_of(call.type) == 4 ? packed::pack_groups(call, fast_encoder<std::uint32_t>(call, isa, memory), for_groups)
                          : packed::pack_groups(call, fast_encoder<std::uint64_t>(call, isa, memory), for_groups);
}

}  // namespace zenith::cpu_backend
