#include <algorithm>
#include <bit>
#include <vector>

#include <algorithms/top_k/bitonic.hpp>
#include <backends/cpu/isa.hpp>
#include <backends/cpu/parallel.hpp>
#include <backends/cpu/scratch.hpp>
#include <backends/cpu/top_k.hpp>
#include <backends/cpu/top_k_finish.hpp>

namespace zenith::cpu_backend {
namespace {

// A tile and the running best fit in half of a 48 KB first-level cache as long as k allows.
constexpr std::uint64_t tile_bytes = 16 * 1024;

template <class T>
class bitonic_call {
 public:
  using image_t = top_k_detail::bits_t<T>;
  using entry = top_k_detail::entry_t<image_t>;

  bitonic_call(const execution& on, const top_k_call& call)
      : call_(call),
        isa_(find_isa(on.isa)),
        memory_(scratch_resource(on)),
        k_(std::bit_ceil(call.k)),
        lanes_(static_cast<std::uint64_t>(isa_.entry_lanes)),
        rows_(std::max(k_, std::bit_floor(tile_bytes / (lanes_ * words * sizeof(std::uint64_t))))),
        workers_(workers_for(on.threads, call.count * sizeof(T) * std::bit_width(k_))) {}

  void run() {
    std::vector<scratch<std::uint64_t>> best(static_cast<std::size_t>(workers_));
    run_workers(workers_, [&](int worker) { best[static_cast<std::size_t>(worker)] = reduce_share(worker); });

    const std::uint64_t each = k_ * lanes_;
    const scratch<entry> all(memory_, each * best.size());
    std::size_t count = 0;
    for (const auto& lists : best) {
      for (std::uint64_t i = 0; i < each; ++i) {
        const entry one = unpack(lists, i, each);
        all[count] = one;
        // what pads the lists is no item
        count += static_cast<std::size_t>(one.index() != entry::worst().index());
      }
    }
    finish<T>(call_, isa_, memory_, workers_, std::span<entry>{all.data(), count});
    if (call_.statistics != nullptr) *call_.statistics = {isa_.name, workers_, 1, 0};
  }

 private:
  static constexpr std::uint64_t words = sizeof(T) / 4;  // of an entry

  static entry unpack(const scratch<std::uint64_t>& lists, std::uint64_t i, std::uint64_t plane) {
    if constexpr (sizeof(T) == 4) {
      return {lists[i]};
    } else {
      return {lists[i], lists[i + plane]};
    }
  }

  scratch<std::uint64_t> reduce_share(int worker) {
    const auto mine = static_cast<std::uint64_t>(worker);
    const auto shares = static_cast<std::uint64_t>(workers_);
    const std::uint64_t begin = call_.count * mine / shares;
    const std::uint64_t end = call_.count * (mine + 1) / shares;
    const scratch<std::uint64_t> tile(memory_, rows_ * lanes_ * words);
    scratch<std::uint64_t> best(memory_, k_ * lanes_ * words);

    bitonic_request request;
    request.keys = static_cast<const T*>(call_.keys) + begin;
    request.count = end - begin;
    request.first_index = static_cast<std::uint32_t>(begin);
    request.smallest = call_.select == selection::smallest;
    request.nan_first = call_.nan_first;
    request.k = k_;
    request.rows = rows_;
    request.tile = tile.data();
    request.best = best.data();
    isa_.bitonic[static_cast<int>(call_.type)](request);
    return best;
  }

  const top_k_call& call_;
  const isa_table& isa_;
  std::pmr::memory_resource& memory_;
  std::uint64_t k_;
  std::uint64_t lanes_;
  std::uint64_t rows_;
  int workers_;
};

}  // namespace

template <class T>
void top_k_bitonic<T>::run(const execution& on, const top_k_call& call) {
  bitonic_call<T>(on, call).run();
}

template struct top_k_bitonic<float>;
template struct top_k_bitonic<double>;
template struct top_k_bitonic<std::int32_t>;
template struct top_k_bitonic<std::uint32_t>;
template struct top_k_bitonic<std::int64_t>;
template struct top_k_bitonic<std::uint64_t>;

}  // namespace zenith::cpu_backend
