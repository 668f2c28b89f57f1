#include <backends/cpu/collecting.hpp>

#include <backends/cpu/ordered_pieces.hpp>
#include <backends/cpu/select.hpp>

namespace zenith::cpu_backend {

template <class Entry>
void make_space(collecting_worker<Entry>& of) {
  selector<Entry>(*static_cast<const isa_table*>(of.isa), of.spare).select({of.entries, of.count}, of.k);
  of.count = of.k;
  // an item must now be better than the worst of the k best. None equals it, so "not worse" says the same.
  const Entry least = of.entries[of.k - 1];
  if (better(least, of.bound)) of.bound = least;
  const std::uint64_t raised = shared_bound(of.bound);
  (void)device::atomic_max(of.shared, raised);
  raise_to(of.bound, __atomic_load_n(of.shared, __ATOMIC_RELAXED));
}

template <class Entry>
Entry kth_of(const isa_table& isa, std::span<Entry> entries, std::uint64_t rank, Entry* spare) {
  selector<Entry>(isa, spare).select(entries, rank);
  return entries[rank - 1];
}

template <class Entry>
void order_best(const isa_table& isa, std::pmr::memory_resource& memory, int workers, std::span<Entry> entries,
                std::uint64_t k) {
  ordered_pieces<Entry>(isa, memory, workers, entries, k).run(true, [](std::uint64_t, std::span<const Entry>) {});
}

template void make_space(collecting_worker<ordered::entry32>&);
template void make_space(collecting_worker<ordered::entry64>&);
template ordered::entry32 kth_of(const isa_table&, std::span<ordered::entry32>, std::uint64_t, ordered::entry32*);
template ordered::entry64 kth_of(const isa_table&, std::span<ordered::entry64>, std::uint64_t, ordered::entry64*);
template void order_best(const isa_table&, std::pmr::memory_resource&, int, std::span<ordered::entry32>, std::uint64_t);
template void order_best(const isa_table&, std::pmr::memory_resource&, int, std::span<ordered::entry64>, std::uint64_t);

}  // namespace zenith::cpu_backend
