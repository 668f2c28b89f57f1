#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include <algorithms/top_k/filter_tile.hpp>
#include <backends/cpu/collector.hpp>
#include <backends/cpu/isa.hpp>
#include <backends/cpu/parallel.hpp>
#include <backends/cpu/top_k.hpp>
#include <backends/cpu/top_k_finish.hpp>
#include <core/with_key_type.hpp>

namespace zenith::cpu_backend {
namespace {

// Sampling fewer items, or bringing fewer entries together, costs less than waking a worker.
constexpr std::uint64_t least_samples_of_worker = 2048;
constexpr std::uint64_t least_gathered_together = 16384;
constexpr std::uint64_t samples_at_a_time = 512;
// Workers take chunk after chunk: several each, so that one that wakes late, or shares its core, leaves its part to the
// others, and none so small that handing it out costs more than that.
constexpr std::uint64_t most_chunk_bytes = 1024 * 1024;
constexpr std::uint64_t least_chunk_bytes = 64 * 1024;
constexpr std::uint64_t chunks_of_worker = 4;

template <class Image>
void raise_to(std::atomic<Image>& shared, Image image) {
  Image seen = shared.load(std::memory_order_relaxed);
  while (seen < image && !shared.compare_exchange_weak(seen, image, std::memory_order_relaxed)) {
  }
}

/// One call of the filter, phase by phase.
template <class T, class Keys>
class filter_call {
 public:
  using image_t = top_k_detail::bits_t<T>;
  using entry = top_k_detail::entry_t<image_t>;

  filter_call(const execution& on, const top_k_call& call, const Keys& keys)
      : call_(call),
        keys_(keys),
        isa_(find_isa(on.isa)),
        memory_(scratch_resource(on)),
        order_(top_k_detail::order_of<T>(call)),
        plan_(top_k_detail::plan_filter(call.count, call.k)),
        workers_(workers_for(on.threads, call.count * sizeof(T))) {}

  void run() {
    const auto threshold = sample();
    if (!scan(threshold, survivors_allowed()) || held() < call_.k) {
      scan(refine(), call_.count);
    }
    finish_call();
  }

 private:
  /// Phase 1: the threshold, an image that at least k items reach but for bad luck; 0 without a sample.
  image_t sample() {
    if (plan_.samples == 0) return 0;
    const scratch<entry> entries(memory_, plan_.samples);
    const std::uint64_t shares =
        std::clamp<std::uint64_t>(plan_.samples / least_samples_of_worker, 1, static_cast<std::uint64_t>(workers_));
    run_workers(static_cast<int>(shares), [&](int worker) {
      const std::uint64_t count = call_.count;
      const std::uint32_t samples = plan_.samples;
      const auto mine = static_cast<std::uint64_t>(worker);
      const std::uint64_t end = samples * (mine + 1) / shares;
      T keys[samples_at_a_time];
      for (std::uint64_t first = samples * mine / shares; first < end; first += samples_at_a_time) {
        const auto some = static_cast<std::size_t>(std::min(samples_at_a_time, end - first));
        keys_.gather([=](std::size_t i) { return top_k_detail::sample_position(first + i, count, samples); }, some,
                     keys);
        for (std::size_t i = 0; i < some; ++i) {
          entries[first + i] = entry::make(order_.image(keys[i]), static_cast<std::uint32_t>(first + i));
        }
      }
    });
    const scratch<entry> other(memory_, plan_.samples + spare_slack);
    return kth_of<entry>(isa_, {entries.data(), plan_.samples}, plan_.rank, other.data()).image();
  }

  /// More survivors than this and the sample misled: two reads for the exact threshold cost less.
  [[nodiscard]] std::uint64_t survivors_allowed() const {
    if (plan_.samples == 0) return call_.count;
    return static_cast<std::uint64_t>(4 * plan_.expected_survivors) + call_.count / 16;
  }

  /// Phase 2: one read. False when more than `allowed` items survived and it gave up.
  bool scan(image_t threshold, std::uint64_t allowed) {
    collectors_.clear();
    collectors_.resize(static_cast<std::size_t>(workers_));
    std::atomic<std::uint64_t> next_chunk{0};
    std::atomic<std::uint64_t> survivors{0};
    std::atomic<image_t> shared{threshold};
    const std::uint64_t share = call_.count * sizeof(T) / (chunks_of_worker * static_cast<std::uint64_t>(workers_));
    const std::uint64_t chunk = std::clamp(std::bit_floor(share | 1), least_chunk_bytes, most_chunk_bytes) / sizeof(T);
    const std::uint64_t chunks = (call_.count + chunk - 1) / chunk;

    run_workers(workers_, [&](int worker) {
      // chunks are handed out by rising index, so each worker sees its items in the order that breaks ties
      auto& mine =
          collectors_[static_cast<std::size_t>(worker)].emplace(memory_, isa_, keys_, order_, call_.k, spare());
      for (auto at = next_chunk++; at < chunks; at = next_chunk++) {
        if (survivors.load(std::memory_order_relaxed) > allowed) return;
        const auto before = mine.survivors();
        mine.raise(shared.load(std::memory_order_relaxed));
        mine.scan(at * chunk, std::min(call_.count, (at + 1) * chunk));
        raise_to(shared, mine.floor());
        survivors += mine.survivors() - before;
      }
      if (workers_ > 1) mine.keep_best();
    });
    ++reads_;
    survivors_ = survivors;
    return survivors_ <= allowed;
  }

  /// What a collector holds beyond k before it selects.
  [[nodiscard]] std::size_t spare() const {
    return static_cast<std::size_t>(std::min(call_.count - call_.k, std::max<std::uint64_t>(call_.k, 1024)));
  }

  [[nodiscard]] std::uint64_t held() const {
    std::uint64_t total = 0;
    for (const auto& one : collectors_) total += one->entries().size();
    return total;
  }

  /// Phase 4: the exact image of the k-th best, or one below it that few enough items reach: a histogram of 16 bits of
  /// the images at each read, among those that agree with the bits found so far.
  image_t refine() {
    constexpr int digit_bits = 16;
    constexpr std::size_t buckets = std::size_t{1} << digit_bits;
    collectors_.clear();
    std::uint64_t wanted = call_.k;
    image_t prefix = 0;
    for (int shift = static_cast<int>(sizeof(image_t) * 8) - digit_bits;; shift -= digit_bits) {
      auto counts = histogram(prefix, shift, buckets);
      std::size_t bucket = buckets - 1;
      while (counts[bucket] < wanted) wanted -= counts[bucket--];
      prefix |= static_cast<image_t>(bucket) << shift;
      if (shift == 0 || counts[bucket] <= call_.k + call_.count / 64) return prefix;
    }
  }

  std::vector<std::uint64_t> histogram(image_t prefix, int shift, std::size_t buckets) {
    const bool whole = shift + 16 == static_cast<int>(sizeof(image_t) * 8);
    const image_t mask = whole ? image_t{0} : static_cast<image_t>(~image_t{0} << (shift + 16));
    const auto workers = static_cast<std::uint64_t>(workers_);
    std::vector<scratch<std::uint32_t>> partial(workers);
    run_workers(workers_, [&](int worker) {
      const auto mine = static_cast<std::uint64_t>(worker);
      auto& counts = partial[mine] = scratch<std::uint32_t>(memory_, buckets);
      std::memset(counts.data(), 0, buckets * sizeof(std::uint32_t));
      const std::uint64_t end = call_.count * (mine + 1) / workers;
      keys_.for_each(call_.count * mine / workers, end, [&](std::uint64_t, T key) {
        const auto image = order_.image(key);
        if ((image & mask) == prefix) ++counts[(image >> shift) & (buckets - 1)];
      });
    });
    ++reads_;
    std::vector<std::uint64_t> total(buckets);
    for (const auto& counts : partial) {
      for (std::size_t i = 0; i < buckets; ++i) total[i] += counts[i];
    }
    return total;
  }

  /// Phase 3.
  void finish_call() {
    if (collectors_.size() == 1) {
      finish<T>(call_, isa_, memory_, 1, collectors_.front()->entries());
    } else {
      const auto all = gather_held();
      finish<T>(call_, isa_, memory_, workers_, {all.data(), all.size()});
    }
    if (call_.statistics != nullptr) *call_.statistics = {isa_.name, workers_, reads_, survivors_};
  }

  /// What the collectors hold. When that is much, less what cannot be among the k best: if each holds k / workers
  /// entries that reach the same one, so do k of all, and unless the order of the input is adversarial, few more do.
  scratch<entry> gather_held() {
    const bool together = held() >= least_gathered_together;
    const auto each = [&](const auto& use) {
      const std::size_t step = together ? collectors_.size() : 1;
      run_workers(static_cast<int>(step), [&](int worker) {
        for (auto i = static_cast<std::size_t>(worker); i < collectors_.size(); i += step) use(i);
      });
    };
    if (together) {
      const auto rank = static_cast<std::size_t>((call_.k + collectors_.size() - 1) / collectors_.size());
      std::vector<entry> ranked(collectors_.size());
      each([&](std::size_t i) { ranked[i] = collectors_[i]->nth_best(rank); });
      const entry least =
          *std::ranges::min_element(ranked, [](const entry& a, const entry& b) { return better(b, a); });
      each([&](std::size_t i) { collectors_[i]->keep(rank, least); });
    }
    std::vector<std::size_t> begin{0};
    for (const auto& one : collectors_) begin.push_back(begin.back() + one->entries().size());
    scratch<entry> all(memory_, begin.back());
    each([&](std::size_t i) { std::ranges::copy(collectors_[i]->entries(), all.data() + begin[i]); });
    return all;
  }

  const top_k_call& call_;
  const Keys& keys_;
  const isa_table& isa_;
  std::pmr::memory_resource& memory_;
  scan_order<T> order_;
  top_k_detail::filter_plan plan_;
  int workers_;
  std::vector<std::optional<collector<T, Keys>>> collectors_;
  std::uint64_t survivors_ = 0;
  std::uint64_t reads_ = 0;
};

}  // namespace

template <class T>
void top_k_filter<T>::run(const execution& on, const top_k_call& call) {
  const scan_order<T> order(top_k_detail::order_of<T>(call));
  const plain_keys<T> keys(static_cast<const T*>(call.keys),
                           order.variant(find_isa(on.isa).scan[static_cast<int>(key_type_of<T>)]));
  filter_call<T, plain_keys<T>>(on, call, keys).run();
}

template struct top_k_filter<float>;
template struct top_k_filter<double>;
template struct top_k_filter<std::int32_t>;
template struct top_k_filter<std::uint32_t>;
template struct top_k_filter<std::int64_t>;
template struct top_k_filter<std::uint64_t>;

void filter_packed(const execution& on, const top_k_call& call, const packed_layout& column,
                   std::uint64_t first_block) {
  detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      const packed_keys<T> keys(column, first_block, find_packed(on.isa), call.select == selection::smallest);
      filter_call<T, packed_keys<T>>(on, call, keys).run();
    }
  });
}

}  // namespace zenith::cpu_backend
