#include <perf/study/calibrate_packed.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <random>
#include <string>
#include <type_traits>

#include <perf/study/clock.hpp>
#include <zenith/packed_column.hpp>

namespace zenith_study {
namespace {

using zenith::encoding;
using zenith::packed_problem;

constexpr std::uint64_t counts[] = {1 << 14, 1 << 18, 1 << 22};
constexpr std::uint64_t k = 128;
constexpr double too_long = 0.3;
constexpr time_limits limits{.least_repeats = 3, .most_repeats = 50, .enough_seconds = 0.004};

// Values for which an encoding is made: steps for delta, runs for run_length, 12 random bits for the others.
template <class T>
std::vector<T> values_for(encoding kind, std::uint64_t count) {
  std::vector<T> values(count);
  std::mt19937_64 random(static_cast<std::uint64_t>(kind));
  T last = 0;
  for (auto& value : values) {
    const auto bits = static_cast<T>(random() & 4095);
    if (kind == encoding::delta) {
      last = static_cast<T>(last + bits / 256);
    } else if (kind != encoding::run_length || bits % 16 == 0) {
      last = bits;
    }
    value = last;
  }
  return values;
}

// Every operation on a column that lies on the host or on a device; `out_of` makes outputs of a type beside it.
template <class T, class Column, class OutOf>
void measure_column(const zenith::device_profile& profile, const zenith::executor& on, const Column& column,
                    packed_problem problem, const OutOf& out_of, std::vector<measured_cost>& points) {
  const auto add = [&](std::string_view operation, const auto& call) {
    if (!profile.offers_kernel(operation, "tiles")) return;
    problem.operation = operation;
    problem.k = operation == zenith::packed_top_k_call::operation ? k : 0;
    const double seconds = lower_quartile_seconds(
        [&] {
          call();
          on.synchronize();
        },
        limits);
    points.push_back({zenith::packed_cost(problem, profile), seconds});
  };
  auto decoded = out_of(std::type_identity<T>{}, column.size());
  auto words = out_of(std::type_identity<std::uint64_t>{}, (column.size() + 63) / 64);
  auto best = out_of(std::type_identity<T>{}, k);
  auto indices = out_of(std::type_identity<std::uint64_t>{}, k);
  add(zenith::unpack_call::operation, [&] { zenith::unpack(on, column, decoded.span()); });
  add(zenith::packed_sum_call::operation, [&] { static_cast<void>(zenith::sum(on, column)); });
  add(zenith::packed_extremes_call::operation, [&] { static_cast<void>(zenith::minimum(on, column)); });
  add(zenith::packed_select_call::operation, [&] { zenith::select_bitmap(on, column, T{100}, T{2000}, words.span()); });
  add(zenith::packed_top_k_call::operation, [&] { zenith::top_k(on, column, best.span(), indices.span()); });
}

template <class T>
struct host_output {
  std::vector<T> held;
  std::span<T> span() { return held; }
};
template <class T>
struct device_output {
  zenith::array<T> held;
  zenith::device_span<T> span() { return held.device(); }
};

template <class T>
void measure_encoding(const zenith::device_profile& profile, const zenith::executor& on, encoding kind,
                      std::vector<measured_cost>& points) {
  const auto values = values_for<T>(kind, *std::ranges::max_element(counts));
  const bool on_device = on.settings().target->memory == zenith::memory_space::device;
  for (const auto count : counts) {
    const std::span<const T> part(values.data(), count);
    packed_problem problem{
        zenith::pack_call::operation, count, static_cast<double>(8 * sizeof(T)), zenith::key_type_of<T>, kind, 0, 0.5,
        zenith::memory_space::host};
    const auto begin = std::chrono::steady_clock::now();
    const auto column = zenith::pack(on, part, kind);
    const auto expected = zenith::packed_cost(problem, profile);
    points.push_back(
        {expected, lower_quartile_seconds([&] { static_cast<void>(zenith::pack(on, part, kind)); }, limits)});
    if (on_device && profile.offers_kernel(zenith::device_pack_call::operation, "tiles")) {
      auto stays = problem;
      stays.operation = zenith::device_pack_call::operation;
      stays.space = zenith::memory_space::device;
      const zenith::array<T> there(on, part);
      zenith::packed_device_column<T> packed;
      points.push_back({zenith::packed_cost(stays, profile), lower_quartile_seconds(
                                                                 [&] {
                                                                   zenith::pack_into(on, there.device(), packed, kind);
                                                                   on.synchronize();
                                                                 },
                                                                 limits)});
    }
    if (kind == encoding::automatic) continue;
    problem.bits_per_value = column.bits_per_value();
    problem.kind = column.encoding();
    if (on_device) {
      problem.space = zenith::memory_space::device;
      const zenith::packed_device_column<T> there(on, column);
      measure_column<T>(
          profile, on, there, problem,
          [&]<class U>(std::type_identity<U>, std::size_t size) {
            return device_output<U>{zenith::array<U>(on, size)};
          },
          points);
    } else {
      measure_column<T>(
          profile, on, column, problem,
          []<class U>(std::type_identity<U>, std::size_t size) { return host_output<U>{std::vector<U>(size)}; },
          points);
    }
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > too_long) break;
  }
}

}  // namespace

void measure_packed_points(const zenith::device_profile& profile, const zenith::executor& on,
                           const zenith::progress_function& progress, std::vector<measured_cost>& points) {
  if (!profile.offers_kernel(zenith::pack_call::operation, "tiles")) return;
  std::vector<encoding> kinds(std::begin(zenith::packed_encodings), std::end(zenith::packed_encodings));
  kinds.push_back(encoding::automatic);
  double done = 0;
  for (const auto kind : kinds) {
    progress(done++ / static_cast<double>(kinds.size()), "packed columns, " + std::string{zenith::to_string(kind)});
    measure_encoding<std::int32_t>(profile, on, kind, points);
    measure_encoding<std::int64_t>(profile, on, kind, points);
  }
}

}  // namespace zenith_study
