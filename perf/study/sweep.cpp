#include <perf/study/sweep.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <thread>

#include <perf/study/check.hpp>
#include <perf/study/clock.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/series.hpp>
#include <perf/study/statistics.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>
#include <zenith/top_k.hpp>

namespace zenith_study {
namespace {

// Calls shorter than this are timed in batches.
constexpr double shortest_sample = 2e-4;

// First, last, middle, then the middles of what is left: when the time runs out, what was measured still spans all.
std::vector<std::size_t> halving_order(std::size_t count) {
  std::vector<std::size_t> order;
  if (count > 0) order.push_back(0);
  if (count > 1) order.push_back(count - 1);
  for (std::size_t step = count; step > 1; step = (step + 1) / 2) {
    for (std::size_t at = step / 2; at < count; at += step) {
      if (std::ranges::find(order, at) == order.end()) order.push_back(at);
    }
  }
  for (std::size_t at = 0; at < count; ++at) {
    if (std::ranges::find(order, at) == order.end()) order.push_back(at);
  }
  return order;
}

template <class T>
class experiment {
 public:
  experiment(const sweep_options& options, progress& shown) : options_(options), shown_(shown) {
    result_.options = options;
    result_.all_series = list_series(options, result_.notes);
  }

  sweep run() {
    prepare();
    lay_out_points();
    std::vector<std::size_t> order(result_.all_series.size());
    for (std::size_t s = 0; s < order.size(); ++s) order[s] = s;
    // the fast ones first: what they leave of their share goes to the slow ones
    std::ranges::stable_sort(order, {}, [&](std::size_t s) { return predicted_total(s); });
    double left = options_.budget;
    for (std::size_t i = 0; i < order.size(); ++i) {
      left -= seconds_of([&] { measure_series(order[i], left / static_cast<double>(order.size() - i)); });
      measure_again(result_.floor, std::as_bytes(std::span{keys_}), options_.repeat);
    }
    for (auto& one : result_.all_series) {
      if (!one.resident && one.on.settings().target->memory == zenith::memory_space::host) {
        one.floor_seconds = median(result_.floor.seconds);
      }
    }
    lower_floors();
    return std::move(result_);
  }

 private:
  // Whether both read the same data from the same place.
  static bool share_a_floor(const series& a, const series& b) {
    const auto memory_of = [](const series& one) { return one.on.settings().target->memory; };
    if (a.resident != b.resident || memory_of(a) != memory_of(b)) return false;
    return memory_of(a) == zenith::memory_space::host || a.executor == b.executor;
  }

  // A strategy that was faster than every loop that only reads is a reading loop, too, and the better one.
  void lower_floors() {
    const auto before = result_.all_series;
    for (const auto& point : result_.points) {
      if (point.result != outcome::measured) continue;
      for (auto& one : result_.all_series) {
        if (one.floor_seconds <= point.time || !share_a_floor(one, before[point.series])) continue;
        one.floor_seconds = point.time;
        one.floor_origin =
            fmt::format("{} itself at k = {}; {} took {}", before[point.series].label, point.k,
                        before[point.series].floor_origin, format_seconds(before[point.series].floor_seconds));
      }
    }
  }

  void prepare() {
    const int threads = options_.threads > 0 ? options_.threads : static_cast<int>(std::thread::hardware_concurrency());
    shown_.show(0, fmt::format("generating {} {} values, {}", with_commas(options_.count),
                               zenith::to_string(options_.type), to_string(options_.values)));
    keys_ = generate<T>(options_.values, options_.count, options_.seed, threads);
    shown_.show(0, "one read of the data: a maximum with every instruction set");
    result_.floor = measure_read_floor(std::as_bytes(std::span{keys_}), threads, std::max(5, options_.repeat));
    for (auto& one : result_.all_series) find_floor(one);
    shown_.show(0, "the right answers, by the standard library");
    right_ = best_positions<T>(keys_, options_.ks.back(), options_.smallest);
  }

  void find_floor(series& one) {
    const auto& backend = *one.on.settings().target;
    if (backend.memory == zenith::memory_space::host) {
      one.floor_origin = "a maximum over the data, " + result_.floor.how;
      return;
    }
    if (backend.measure == nullptr) return;
    // the series of one device share one measurement
    auto& profile = measured_[one.executor];
    if (profile.levels.empty()) {
      profile = backend.measure(one.on.settings(), [&](double, std::string_view what) {
        shown_.show(0, fmt::format("{}: {}", one.executor, what));
      });
    }
    const auto bytes = static_cast<double>(options_.count * sizeof(T));
    if (one.resident) {
      one.floor_seconds = bytes / profile.levels.back().read;
      one.floor_origin = "the read bandwidth of the device, measured in this run";
    } else if (profile.host_to_device > 0) {
      one.floor_seconds = bytes / profile.host_to_device;
      one.floor_origin = "the bandwidth of the link to the device, measured in this run";
    }
  }

  zenith::top_k_problem problem(std::uint64_t k, bool resident) const {
    zenith::top_k_problem of;
    of.count = options_.count;
    of.k = k;
    of.type = options_.type;
    of.space = resident ? zenith::memory_space::device : zenith::memory_space::host;
    return of;
  }

  void lay_out_points() {
    const auto& here = zenith::machine::local();
    for (const auto k : options_.ks) {
      for (std::size_t s = 0; s < result_.all_series.size(); ++s) {
        const auto& one = result_.all_series[s];
        measurement point;
        point.series = s;
        point.k = k;
        point.predicted = predict(one, problem(k, one.resident));
        try {
          const auto decided = zenith::decide(problem(k, one.resident), here);
          point.is_chosen = one.is_default && decided.backend == one.on.backend() &&
                            decided.device == one.on.device() && decided.strategy == one.strategy;
        } catch (const zenith::error& fault) {
          if (fault.code() != zenith::error_code::unsupported) throw;
        }
        result_.points.push_back(std::move(point));
      }
    }
  }

  static std::optional<double> predict(const series& one, const zenith::top_k_problem& of) {
    const auto* profile = zenith::machine::local().find(one.on.backend(), one.on.device());
    const auto modelled = zenith::top_k_strategies();
    if (profile == nullptr || !one.is_default || std::ranges::find(modelled, one.strategy) == modelled.end()) return {};
    const double time = zenith::seconds(zenith::top_k_cost(one.strategy, of, *profile), *profile);
    return std::isfinite(time) ? std::optional{time} : std::nullopt;
  }

  double predicted_total(std::size_t s) const {
    double total = 0;
    for (const auto& point : result_.points) {
      if (point.series == s) total += point.predicted.value_or(1e6);
    }
    return total;
  }

  measurement& point_at(std::size_t s, std::size_t k) { return result_.points[k * result_.all_series.size() + s]; }

  void measure_series(std::size_t s, double share) {
    auto& one = result_.all_series[s];
    zenith::array<T> device_keys;
    double left = share;
    const auto order = halving_order(options_.ks.size());
    bool has_keys = false;
    for (std::size_t i = 0; i < order.size(); ++i) {
      auto& point = point_at(s, order[i]);
      shown_.show(static_cast<double>(done_++) / static_cast<double>(result_.points.size()),
                  fmt::format("{}, k = {}", one.label, point.k));
      const double expected = expect(s, point);
      if (expected > left) {
        point.note = fmt::format("about {} a call, past its share of --budget", format_seconds(expected));
        continue;
      }
      left -= seconds_of([&] {
        try {
          if (one.resident && !has_keys) device_keys = zenith::array<T>(one.on, std::span<const T>{keys_});
          has_keys = true;
          measure_point(one, device_keys, point, left / static_cast<double>(order.size() - i));
        } catch (const zenith::error& fault) {
          point.result = outcome::failed;
          point.note = fault.what();
        }
      });
    }
  }

  // What one call will take: the nearest measured point of the series, moved by the model's ratio where there is one.
  double expect(std::size_t s, const measurement& point) const {
    const measurement* nearest = nullptr;
    const auto distance = [&](const measurement& other) {
      return std::abs(std::log2(static_cast<double>(other.k)) - std::log2(static_cast<double>(point.k)));
    };
    for (const auto& other : result_.points) {
      if (other.series != s || other.result != outcome::measured) continue;
      if (nearest == nullptr || distance(other) < distance(*nearest)) nearest = &other;
    }
    if (nearest == nullptr) return point.predicted.value_or(0);
    const bool both = point.predicted && nearest->predicted;
    return nearest->time * (both ? *point.predicted / *nearest->predicted : 1);
  }

  void measure_point(const series& one, const zenith::array<T>& device_keys, measurement& point, double allowance) {
    std::vector<T> out_keys(point.k);
    std::vector<std::uint32_t> out_indices(point.k);
    zenith::array<T> device_out_keys;
    zenith::array<std::uint32_t> device_out_indices;
    if (one.resident) {
      device_out_keys = zenith::array<T>(one.on, point.k);
      device_out_indices = zenith::array<std::uint32_t>(one.on, point.k);
    }
    zenith::top_k_statistics statistics;
    zenith::top_k_options options;
    options.select = options_.smallest ? zenith::selection::smallest : zenith::selection::largest;
    options.strategy = one.strategy;
    zenith::top_k_run ran;
    const auto call = [&] {
      ran = one.resident ? zenith::top_k(one.on, device_keys.device(), device_out_keys.device(),
                                         device_out_indices.device(), options)
                         : zenith::top_k(one.on, keys_, out_keys, out_indices, options);
      one.on.synchronize();
    };
    const auto is_right = [&] {
      if (one.resident) {
        device_out_keys.copy_to(out_keys);
        device_out_indices.copy_to(out_indices);
      }
      point.note = find_fault<T>(keys_, right_, out_keys, out_indices);
      if (point.note.empty() && (ran.backend != one.on.backend() || ran.strategy != one.strategy)) {
        point.note = fmt::format("{}/{} ran instead", ran.backend, ran.strategy);
      }
      if (!point.note.empty()) point.result = outcome::wrong;
      return point.note.empty();
    };

    options.statistics = &statistics;
    const double first = seconds_of(call);
    options.statistics = nullptr;
    if (!is_right()) return;
    point.variant = statistics.variant;
    const auto batch = static_cast<int>(std::clamp(std::ceil(shortest_sample / std::max(first, 1e-9)), 1.0, 1000.0));
    const double sample = first * batch;
    const auto repeats = static_cast<int>(
        std::clamp(std::floor((allowance - first) / sample), 0.0, static_cast<double>(options_.repeat)));
    for (int i = 0; i < repeats; ++i) {
      point.seconds.push_back(seconds_of([&] {
                                for (int j = 0; j < batch; ++j) call();
                              }) /
                              batch);
    }
    if (repeats == 0) {
      point.seconds.push_back(first);
      point.note = "timed once";
    } else if (!is_right()) {
      return;
    }
    point.time = median(point.seconds);
    point.result = outcome::measured;
  }

  sweep_options options_;
  progress& shown_;
  sweep result_;
  std::vector<T> keys_;
  std::vector<std::uint32_t> right_;
  std::map<std::string, zenith::device_profile> measured_;  // by executor
  std::size_t done_ = 0;
};

void check(const sweep_options& options) {
  const auto reject = [](const std::string& why) { throw zenith::error(zenith::error_code::invalid_argument, why); };
  if (options.count == 0 || options.count > (std::uint64_t{1} << 32)) {
    reject(fmt::format("--count is {}; it must be from 1 to 2^32", with_commas(options.count)));
  }
  if (options.ks.front() == 0) reject("--k is 0; there is nothing to time in the best 0");
  if (options.ks.back() > options.count) {
    reject(
        fmt::format("--k is {}, but --count is only {}", with_commas(options.ks.back()), with_commas(options.count)));
  }
}

}  // namespace

sweep run_sweep(const sweep_options& options, progress& shown) {
  check(options);
  switch (options.type) {
    case zenith::key_type::float32: return experiment<float>(options, shown).run();
    case zenith::key_type::float64: return experiment<double>(options, shown).run();
    case zenith::key_type::int32: return experiment<std::int32_t>(options, shown).run();
    case zenith::key_type::uint32: return experiment<std::uint32_t>(options, shown).run();
    case zenith::key_type::int64: return experiment<std::int64_t>(options, shown).run();
    case zenith::key_type::uint64: break;
  }
  return experiment<std::uint64_t>(options, shown).run();
}

}  // namespace zenith_study
