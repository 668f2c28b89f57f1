// The device context's selections among entries, compiled once for both.

#include <backends/cuda/context.hpp>
#include <backends/cuda/primitives/select.hpp>
#include <backends/cuda/top_k/bitonic.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class Entry>
void context::kth_best(Entry* entries, u64 n, u64 rank, Entry* to) {
  require_outside("kth_best");
  if (n <= tuning::most_samples) {
    simt::launch(find_kth<Entry>{entries, static_cast<u32>(n), static_cast<u32>(rank), to},
                 {.stream = memory_.stream()});
    return;
  }
  sort_entries(entries, n);
  copy(to, entries + (rank - 1), 1);
}

template <class Entry>
const Entry* context::select_best(const device::collection<Entry>& of, u64 k) {
  require_outside("select_best");
  if (k > tuning::most_k_in_block) {
    for_each(of.capacity, pad_entries<Entry>{of.entries, of.count});
    sort_entries(of.entries, of.capacity);
    return of.entries;
  }
  Entry* const best = memory_.allocate<Entry>(k);
  if (of.capacity <= tuning::most_in_block) {
    simt::launch(finish_collection<Entry>{of.entries, of.count, of.capacity, static_cast<u32>(k), best},
                 {.stream = memory_.stream()});
    return best;
  }
  scratch workspace(memory_.on(), memory_.stream());
  bitonic_reduction<collected<Entry>> reduction(workspace, of.capacity, static_cast<u32>(k));
  workspace.allocate();
  copy(best, reduction.enqueue({of.entries, of.count, of.capacity}, memory_.stream()), k);
  return best;
}

template <class Entry>
const Entry* context::select_best(Entry* entries, u64 n, u64 k) {
  require_outside("select_best");
  if (k > tuning::most_k_in_block || n > tuning::most_in_block) {
    sort_entries(entries, n);
    return entries;
  }
  Entry* const best = memory_.allocate<Entry>(k);
  simt::launch(finish_collection<Entry>{entries, nullptr, static_cast<u32>(n), static_cast<u32>(k), best},
               {.stream = memory_.stream()});
  return best;
}

void context::sort_entries(ordered::entry32* entries, u64 n) {
  static_assert(sizeof(ordered::entry32) == sizeof(u64));
  library::sort_falling(memory_, &entries->packed, n);
}
void context::sort_entries(ordered::entry64* entries, u64 n) {
  u64* const images = memory_.allocate<u64>(n);
  u32* const indices = memory_.allocate<u32>(n);
  for_each(n, split_entries{entries, images, indices});
  // stable: by index first, and then by what ranks above it
  library::sort_pairs(memory_, indices, images, n);
  library::sort_pairs(memory_, images, indices, n);
  for_each(n, join_entries{images, indices, entries});
}

#define ZENITH_INSTANCE(Entry)                                                              \
  template void context::kth_best<Entry>(Entry*, u64, u64, Entry*);                         \
  template const Entry* context::select_best<Entry>(const device::collection<Entry>&, u64); \
  template const Entry* context::select_best<Entry>(Entry*, u64, u64);
ZENITH_INSTANCE(ordered::entry32)
ZENITH_INSTANCE(ordered::entry64)
#undef ZENITH_INSTANCE

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
