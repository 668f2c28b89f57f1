#include "calibrate.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include <zenith/executor.hpp>
#include <zenith/top_k.hpp>
#include <zenith/version.hpp>

#include "calibrate_packed.hpp"
#include "calibrate_tables.hpp"
#include "fit.hpp"
#include "measure_top_k.hpp"

namespace zenith_study {
namespace {

using zenith::key_type;

constexpr std::uint64_t largest_bytes = std::uint64_t{256} << 20;

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::tm parts{};
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts))};
}

// Progress of a part of the whole.
zenith::progress_function part_of(const zenith::progress_function& whole, double begin, double share) {
  return [=](double done, std::string_view what) {
    if (whole) whole(begin + share * done, what);
  };
}

zenith::device_profile measure_device(const zenith::device_profile& shipped, const zenith::executor& on,
                                      const zenith::progress_function& progress) {
  const auto* backend = on.settings().target;
  if (backend->measure == nullptr) return shipped;
  auto measured = backend->measure(on.settings(), progress);
  measured.backend = shipped.backend;
  measured.device = shipped.device;
  measured.memory = shipped.memory;
  measured.offers = shipped.offers;
  return measured;
}

// Runs one strategy over counts and k, until a call takes too long to be worth it.
void measure_points(const zenith::device_profile& profile, const zenith::executor& on, std::string_view strategy,
                    const random_keys& keys, const zenith::progress_function& progress,
                    std::vector<measured_cost>& points) {
  const auto space = on.settings().target->memory;
  constexpr std::uint64_t ks[] = {1, 2, 8, 32, 128, 512, 1024, 2048, 4096};
  constexpr double too_long = 0.02;
  constexpr time_limits limits{.least_repeats = 3, .most_repeats = 100, .enough_seconds = 0.01};
  std::uint64_t first = 1 << 10;
  double done = 0;
  for (const auto k : ks) {
    progress(done / std::size(ks), "top_k/" + std::string{strategy} + ", " + std::string{to_string(keys.type())} +
                                       ", k = " + std::to_string(k));
    done += 1;
    // every other k has the counts that lie between those of its neighbours
    first = first == 1 << 10 ? 1 << 11 : 1 << 10;
    for (std::uint64_t count = first; count <= keys.count(); count *= 4) {
      if (k > count) continue;
      const zenith::top_k_problem problem{count, k, keys.type(), zenith::ordering::sorted, space};
      const double seconds = measure_top_k(on, strategy, keys, count, k, space, limits);
      points.push_back({zenith::top_k_cost(strategy, problem, profile), seconds});
      if (seconds > too_long) break;
    }
  }
}

}  // namespace

zenith::machine calibrate(const zenith::progress_function& progress) {
  if (progress) progress(0, "random keys");
  const random_keys narrow(key_type::float32, largest_bytes / 4, 1);
  const random_keys wide(key_type::float64, largest_bytes / 8, 2);

  auto devices = zenith::machine::defaults().devices();
  const double share = 1.0 / static_cast<double>(devices.size());
  double begin = 0;
  for (auto& device : devices) {
    const auto spec = device.backend + (device.device > 0 ? ":" + std::to_string(device.device) : "");
    const auto on = zenith::make_executor(spec);
    device = measure_device(device, on, part_of(progress, begin, 0.2 * share));
    device.origin = "calibrated";
    device.date = today();
    device.version = std::to_string(ZENITH_VERSION_MAJOR) + "." + std::to_string(ZENITH_VERSION_MINOR) + "." +
                     std::to_string(ZENITH_VERSION_PATCH);

    std::vector<std::string_view> offered;
    for (const auto strategy : zenith::top_k_strategies()) {
      if (device.offers_kernel(zenith::top_k_call::operation, strategy)) offered.push_back(strategy);
    }
    const double each = 0.25 * share / static_cast<double>(std::max<std::size_t>(offered.size(), 1));
    double at = begin + 0.2 * share;
    for (const auto strategy : offered) {
      // both widths together, since they share what a call costs
      std::vector<measured_cost> points;
      for (const auto* keys : {&narrow, &wide}) {
        measure_points(device, on, strategy, *keys, part_of(progress, at, each), points);
        at += each;
      }
      fit_rates(points, device);
    }
    std::vector<measured_cost> packed;
    const double rest = (begin + share - at) / 2;
    measure_packed_points(device, on, part_of(progress, at, rest), packed);
    fit_rates(packed, device);
    std::vector<measured_cost> tables;
    measure_table_points(device, on, part_of(progress, at + rest, rest), tables);
    fit_rates(tables, device);
    begin += share;
  }
  if (progress) progress(1, "done");
  return zenith::machine{std::move(devices)};
}

}  // namespace zenith_study
