#include <backends/cpu/packed_column.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <type_traits>

#include <algorithms/packed_column/pack.hpp>
#include <backends/cpu/for_blocks.hpp>
#include <backends/cpu/fresh_pages.hpp>
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

/// From here on all workers clear a column's memory and sum its checksum: waking them takes less.
constexpr std::uint64_t worth_all_workers = fresh_page;

/// A call as the plain skeleton gets it: all workers clear what it allocates.
struct cleared_call {
  const pack_call& asked;
  int workers;

  [[nodiscard]] pack_call call() {
    auto made = asked;
    made.allocate = allocate;
    made.context = this;
    return made;
  }
  static std::byte* allocate(void* context, std::uint64_t bytes) {
    const auto& self = *static_cast<const cleared_call*>(context);
    std::byte* const column = self.asked.allocate(self.asked.context, bytes);
    if (bytes >= worth_all_workers) {
      fresh_pages pages(column, bytes);
      run_workers(self.workers, [&](int) { pages.clear(); });
    }
    return column;
  }
};

/// Sums a column's checksum, but for its header.
void sum_rows(const packed_layout& column, int workers, packed_digest& to) {
  constexpr std::uint64_t row_bytes = packed_alignment;
  constexpr std::uint64_t chunk_rows = 256 * 1024 / row_bytes;
  static_assert(sizeof(packed_header) <= row_bytes);
  auto* const bytes = const_cast<std::byte*>(column.bytes);  // this call has just written it
  packed::clear_padding(column, bytes);
  std::mutex guard;
  for_chunks(workers, 1, column.total_bytes / row_bytes, chunk_rows, [&](int, std::uint64_t begin, std::uint64_t end) {
    packed_digest part;
    packed::add_bytes(part, bytes, begin * row_bytes, end * row_bytes);
    const std::scoped_lock lock(guard);
    for (unsigned lane = 0; lane < 8; ++lane) {
      to.sum[lane] += part.sum[lane];
      to.weighted[lane] += part.weighted[lane];
    }
  });
  to.first_row = 1;
}

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
  cleared_call cleared{call, workers};
  const auto by_groups = workers > 1 ? cleared.call() : call;
  size_of(call.type) == 4 ? packed::pack_groups(by_groups, fast_encoder<std::uint32_t>(call, isa, memory), for_groups)
                          : packed::pack_groups(by_groups, fast_encoder<std::uint64_t>(call, isa, memory), for_groups);
  if (call.digest != nullptr && workers > 1 && call.result->total_bytes >= worth_all_workers) {
    sum_rows(*call.result, workers, *call.digest);
  }
}

}  // namespace zenith::cpu_backend
