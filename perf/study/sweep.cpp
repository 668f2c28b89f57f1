#include <perf/study/sweep.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>

#include <perf/study/quantity.hpp>
#include <zenith/error.hpp>

namespace zenith_study {
namespace {

// Calls shorter than this are timed in batches.
constexpr double shortest_sample = 2e-4;

// First, last, middle, then the middles of what is left: when the time runs out, what was measured still spans all.
std::vector<std::size_t> halving_order(std::size_t count) {
  std::vector<std::size_t> order;
  const auto add = [&](std::size_t at) {
    if (at < count && std::ranges::find(order, at) == order.end()) order.push_back(at);
  };
  add(0);
  add(count - 1);
  for (std::size_t step = count; step > 1; step = (step + 1) / 2) {
    for (std::size_t at = step / 2; at < count; at += step) add(at);
  }
  for (std::size_t at = 0; at < count; ++at) add(at);
  return order;
}

class experiment {
 public:
  experiment(input& of, const std::vector<std::string_view>& operations, std::vector<series> all_series,
             const sweep_options& options, progress& shown)
      : of_(of), operations_(operations), options_(options), shown_(shown) {
    result_.all_series = std::move(all_series);
  }

  sweep run() {
    if (!of_.data().empty()) find_floors();
    lay_out_points();
    std::vector<std::size_t> order(result_.all_series.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // the fast ones first: what they leave of their share goes to the slow ones
    std::ranges::stable_sort(order, {}, [&](std::size_t s) { return predicted_total(s); });
    double left = options_.budget;
    for (std::size_t i = 0; i < order.size(); ++i) {
      left -= seconds_of([&] { measure_series(order[i], left / static_cast<double>(order.size() - i)); });
      if (!of_.data().empty()) measure_again(result_.floor, of_.data(), options_.repeat);
    }
    if (!of_.data().empty()) settle_floors();
    return std::move(result_);
  }

 private:
  static bool is_of_host(const series& one) { return one.on.settings().target->memory == zenith::memory_space::host; }

  // Whether both read the same data from the same place.
  static bool share_a_floor(const series& a, const series& b) {
    if (a.resident != b.resident || is_of_host(a) != is_of_host(b)) return false;
    return is_of_host(a) || a.executor == b.executor;
  }

  // A strategy that was faster than every loop that only reads is a reading loop, too, and the better one.
  void settle_floors() {
    for (auto& one : result_.all_series) {
      if (is_of_host(one)) one.floor_seconds = median(result_.floor.seconds);
    }
    const auto before = result_.all_series;
    for (const auto& point : result_.points) {
      if (point.result != outcome::measured) continue;
      for (auto& one : result_.all_series) {
        const auto& faster = before[point.series];
        if (one.floor_seconds <= point.time || !share_a_floor(one, faster)) continue;
        one.floor_seconds = point.time;
        one.floor_origin = fmt::format("{} itself, {}; {} took {}", faster.label, of_.label(point.point),
                                       faster.floor_origin, format_seconds(faster.floor_seconds));
      }
    }
  }

  void find_floors() {
    const int threads = options_.threads > 0 ? options_.threads : static_cast<int>(std::thread::hardware_concurrency());
    shown_.show(0, "one read of the data: a sum with every instruction set");
    result_.floor = measure_read_floor(of_.data(), threads, std::max(5, options_.repeat));
    for (auto& one : result_.all_series) find_floor(one);
  }

  void find_floor(series& one) {
    const auto& backend = *one.on.settings().target;
    if (is_of_host(one)) {
      one.floor_origin = "a sum of the data's words, " + result_.floor.how;
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
    const auto bytes = static_cast<double>(of_.data().size());
    if (one.resident) {
      one.floor_seconds = bytes / profile.levels.back().read;
      one.floor_origin = "the read bandwidth of the device, measured in this run";
    } else if (profile.host_to_device > 0) {
      one.floor_seconds = bytes / profile.host_to_device;
      one.floor_origin = "the bandwidth of the link to the device, measured in this run";
    }
  }

  // This machine with as many threads as the executor has.
  static zenith::machine machine_of(const zenith::executor& on) {
    auto devices = zenith::machine::local().devices();
    for (auto& device : devices) {
      if (device.backend == on.backend() && device.device == on.device()) device = device.with_threads(on.threads());
    }
    return zenith::machine{std::move(devices)};
  }

  void lay_out_points() {
    std::vector<zenith::machine> machines;
    for (const auto& one : result_.all_series) machines.push_back(machine_of(one.on));
    for (std::size_t p = 0; p < of_.points(); ++p) {
      for (std::size_t s = 0; s < result_.all_series.size(); ++s) {
        const auto& one = result_.all_series[s];
        const auto& here = machines[s];
        for (const auto operation : operations_) {
          measurement point{p, s, operation};
          if (one.is_profiled) point.predicted = predict(of_, p, operation, one, here);
          try {
            const auto decided = of_.decide(p, operation, one.space(), here);
            // operations that are measured together may have strategies of other names
            const bool is_of_series = decided.strategy == one.strategy || !offers(one.on, operation, one.strategy);
            point.is_chosen = one.is_profiled && decided.backend == one.on.backend() &&
                              decided.device == one.on.device() && is_of_series;
          } catch (const zenith::error& fault) {
            if (fault.code() != zenith::error_code::unsupported) throw;
          }
          result_.points.push_back(std::move(point));
        }
      }
    }
  }

  double predicted_total(std::size_t s) const {
    double total = 0;
    for (const auto& point : result_.points) {
      if (point.series == s) total += point.predicted.value_or(1e6);
    }
    return total;
  }

  // Those of one series and one question, an operation each.
  std::span<measurement> points_at(std::size_t s, std::size_t p) {
    const auto each = operations_.size();
    return std::span(result_.points).subspan((p * result_.all_series.size() + s) * each, each);
  }

  void measure_series(std::size_t s, double share) {
    const auto& one = result_.all_series[s];
    double left = share;
    const auto order = halving_order(of_.points());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto points = points_at(s, order[i]);
      shown_.show(static_cast<double>(done_++) / static_cast<double>(result_.all_series.size() * order.size()),
                  fmt::format("{}, {}", one.label, of_.label(order[i])));
      const double expected = expect(points.front());
      if (expected > left) {
        for (auto& point : points) {
          point.note = fmt::format("about {} a call, past its share of --budget", format_seconds(expected));
        }
        continue;
      }
      left -= seconds_of([&] {
        try {
          for (const auto& placed : of_.place(order[i], one)) {
            const auto point = std::ranges::find(points, placed.operation, &measurement::operation);
            if (point != points.end()) measure_point(placed, *point, left / static_cast<double>(order.size() - i));
          }
        } catch (const zenith::error& fault) {
          for (auto& point : points) {
            point.result = outcome::failed;
            point.note = fault.what();
          }
        }
      });
    }
  }

  // What one call will take: the nearest measured point of the series, moved by the model's ratio where there is one.
  double expect(const measurement& point) const {
    const measurement* nearest = nullptr;
    const auto distance = [&](const measurement& other) {
      return other.point > point.point ? other.point - point.point : point.point - other.point;
    };
    for (const auto& other : result_.points) {
      if (other.series != point.series || other.result != outcome::measured) continue;
      if (nearest == nullptr || distance(other) < distance(*nearest)) nearest = &other;
    }
    if (nearest == nullptr) return point.predicted.value_or(0);
    const bool both = point.predicted && nearest->predicted;
    return nearest->time * (both ? *point.predicted / *nearest->predicted : 1);
  }

  static bool is_right(const trial& placed, measurement& point) {
    point.note = placed.fault();
    if (!point.note.empty()) point.result = outcome::wrong;
    return point.note.empty();
  }

  void measure_point(const trial& placed, measurement& point, double allowance) {
    const double first = seconds_of(placed.call);
    if (!is_right(placed, point)) return;
    if (placed.look) placed.look(point.seen);
    time_limits limits;
    if (options_.limits) {
      limits = *options_.limits;
    } else {
      limits.shortest_sample = shortest_sample;
      limits.enough_seconds = 0;
      limits.least_repeats = static_cast<int>(
          std::clamp(std::floor((allowance - first) / std::max(first, shortest_sample)), 0.0, options_.repeat * 1.0));
    }
    point.seconds = sampled_seconds(placed.call, first, limits);
    if (point.seconds.empty()) {
      point.seconds.push_back(first);
      point.note = "timed once";
    } else if (!is_right(placed, point)) {
      return;
    }
    point.time = options_.limits ? lower_quartile(point.seconds) : median(point.seconds);
    point.result = outcome::measured;
  }

  input& of_;
  const std::vector<std::string_view>& operations_;
  const sweep_options& options_;
  progress& shown_;
  sweep result_;
  std::map<std::string, zenith::device_profile> measured_;  // by executor
  std::size_t done_ = 0;
};

}  // namespace

sweep run_sweep(input& of, const std::vector<std::string_view>& operations, std::vector<series> all_series,
                const sweep_options& options, progress& shown) {
  return experiment(of, operations, std::move(all_series), options, shown).run();
}

}  // namespace zenith_study
