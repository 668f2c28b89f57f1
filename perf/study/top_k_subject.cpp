#include <perf/study/top_k_subject.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <type_traits>
#include <utility>

#include <perf/study/check.hpp>
#include <perf/study/key_type_name.hpp>
#include <perf/study/placed.hpp>
#include <zenith/top_k.hpp>

namespace zenith_study {
namespace {

using zenith::key_type;

template <class T>
using shared_keys = std::shared_ptr<const std::vector<T>>;

// The first `count` of the keys.
template <class T>
class top_k_input final : public input {
 public:
  top_k_input(shared_keys<T> keys, std::uint64_t count, std::vector<std::uint64_t> ks, bool smallest)
      : all_(std::move(keys)), keys_(all_->data(), count), ks_(std::move(ks)), smallest_(smallest) {}

  [[nodiscard]] std::size_t points() const override { return ks_.size(); }
  [[nodiscard]] std::string label(std::size_t point) const override {
    return fmt::format("k = {} of {} {}", ks_[point], keys_.size(), to_string(zenith::key_type_of<T>));
  }
  [[nodiscard]] std::vector<coordinate> coordinates(std::size_t point) override { return {{"k", ks_[point]}}; }
  [[nodiscard]] std::span<const std::byte> data() const override { return std::as_bytes(keys_); }

  [[nodiscard]] std::vector<trial> place(std::size_t point, const placement& at) override {
    const auto to = std::make_shared<outputs>(at, ks_[point]);
    const auto there = at.resident ? there_.on(at, keys_) : zenith::device_span<const T>{};
    const auto call = [this, to, at, there](zenith::top_k_statistics* statistics) {
      const zenith::top_k_options options{
          .select = smallest_ ? zenith::selection::smallest : zenith::selection::largest,
          .strategy = at.strategy,
          .statistics = statistics};
      to->ran = at.resident ? zenith::top_k(at.on, there, to->keys.device(), to->indices.device(), options)
                            : zenith::top_k(at.on, keys_, to->keys.host(), to->indices.host(), options);
      at.on.synchronize();
    };
    return {{zenith::top_k_call::operation, [call] { call(nullptr); }, [this, to, at] { return fault(*to, at); },
             [call](facts& into) {
               zenith::top_k_statistics statistics;
               call(&statistics);
               into.variant = statistics.variant;
             }}};
  }

  [[nodiscard]] std::optional<zenith::cost> cost(std::size_t point, std::string_view /*operation*/, const placement& at,
                                                 const zenith::device_profile& on) override {
    const auto modelled = zenith::top_k_strategies();
    if (std::ranges::find(modelled, at.strategy) == modelled.end()) return {};
    return zenith::top_k_cost(at.strategy, problem(point, at.space()), on);
  }
  [[nodiscard]] zenith::decision decide(std::size_t point, std::string_view /*operation*/, zenith::memory_space space,
                                        const zenith::machine& on) override {
    return zenith::decide(problem(point, space), on);
  }

 private:
  struct outputs {
    outputs(const placement& at, std::size_t k) : keys(at, k), indices(at, k) {}

    output<T> keys;
    output<std::uint32_t> indices;
    zenith::top_k_run ran;
  };

  [[nodiscard]] zenith::top_k_problem problem(std::size_t point, zenith::memory_space space) const {
    return {keys_.size(), ks_[point], zenith::key_type_of<T>, zenith::ordering::sorted, space};
  }

  std::string fault(outputs& of, const placement& at) {
    if (right_.empty()) right_ = best_positions<T>(keys_, std::ranges::max(ks_), smallest_);
    auto found = find_fault<T>(keys_, right_, of.keys.read(), of.indices.read());
    if (found.empty() && (of.ran.backend != at.on.backend() || of.ran.strategy != at.strategy)) {
      found = fmt::format("{}/{} ran instead", of.ran.backend, of.ran.strategy);
    }
    return found;
  }

  shared_keys<T> all_;
  std::span<const T> keys_;
  std::vector<std::uint64_t> ks_;
  bool smallest_;
  std::vector<std::uint32_t> right_;  // of the largest k: those of a smaller one are its first
  device_copy<T> there_;
};

int all_threads() { return static_cast<int>(std::thread::hardware_concurrency()); }

class top_k_family final : public subject {
 public:
  top_k_family()
      : subject("top_k", {zenith::top_k_call::operation},
                {zenith::top_k_strategies().begin(), zenith::top_k_strategies().end()}, false) {}

  [[nodiscard]] std::vector<ladder> ladders() override {
    constexpr std::uint64_t largest_bytes = std::uint64_t{256} << 20;
    std::vector<ladder> all;
    for (const auto type : {key_type::float32, key_type::float64}) {
      const auto most = largest_bytes / zenith::size_of(type);
      std::uint64_t first = 1 << 10;
      for (const std::uint64_t k : {1, 2, 8, 32, 128, 512, 1024, 2048, 4096}) {
        // every other k has the counts that lie between those of its neighbours
        first = first == 1 << 10 ? 1 << 11 : 1 << 10;
        all.push_back({fmt::format("{}, k = {}", to_string(type), k), {}});
        for (std::uint64_t count = first; count <= most; count *= 4) {
          if (k <= count) all.back().rungs.push_back(ask(type, count, k, most, 1));
        }
      }
    }
    return all;
  }

  // Every count and k of the grid is as likely as every other, with each type.
  [[nodiscard]] std::vector<question> draw(int questions, unsigned seed, int most_log_count) override {
    constexpr std::array types{key_type::float32, key_type::float64, key_type::int32,
                               key_type::uint32,  key_type::int64,   key_type::uint64};
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> log_count(10, most_log_count);
    std::uniform_int_distribution<int> log_k(0, 12);
    std::vector<std::vector<question>> of_type(types.size());
    for (int drawn = 0; drawn < questions;) {
      const auto count = std::uint64_t{1} << log_count(random);
      const auto k = std::uint64_t{1} << log_k(random);
      if (k > count) continue;
      const auto t = static_cast<std::size_t>(drawn++) % types.size();
      of_type[t].push_back(ask(types[t], count, k, std::uint64_t{1} << most_log_count, seed));
    }
    // one type after the other, so that the keys of few are held
    std::vector<question> all;
    for (auto& some : of_type) std::ranges::move(some, std::back_inserter(all));
    return all;
  }

 private:
  // The keys are prefixes of what was last made of their type; those of two types are held.
  question ask(key_type type, std::uint64_t count, std::uint64_t k, std::uint64_t most, std::uint64_t seed) {
    return {zenith::top_k_call::operation,
            [=, this](std::uint32_t) {
              return with_key_type(type, [&]<class T>(std::type_identity<T>) -> std::shared_ptr<input> {
                auto found = std::ranges::find(held_, type, &held::type);
                if (found == held_.end()) {
                  if (held_.size() == 2) held_.erase(held_.begin());
                  auto keys = generate<T>(distribution::uniform, most, seed, all_threads());
                  held_.push_back({type, std::make_shared<const std::vector<T>>(std::move(keys))});
                  found = held_.end() - 1;
                }
                return std::make_shared<top_k_input<T>>(std::static_pointer_cast<const std::vector<T>>(found->keys),
                                                        count, std::vector{k}, false);
              });
            },
            0};
  }

  struct held {
    key_type type;
    std::shared_ptr<const void> keys;
  };
  std::vector<held> held_;
};

}  // namespace

std::shared_ptr<input> make_top_k_input(const top_k_input_options& options) {
  return with_key_type(options.type, [&]<class T>(std::type_identity<T>) -> std::shared_ptr<input> {
    const int threads = options.threads > 0 ? options.threads : all_threads();
    auto keys = generate<T>(options.values, options.count, options.seed, threads);
    return std::make_shared<top_k_input<T>>(std::make_shared<const std::vector<T>>(std::move(keys)), options.count,
                                            options.ks, options.smallest);
  });
}

std::unique_ptr<subject> top_k_subject() { return std::make_unique<top_k_family>(); }

}  // namespace zenith_study
