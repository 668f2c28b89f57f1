#include <perf/study/measure_packed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include <zenith/error.hpp>

namespace zenith_study {
namespace {

constexpr std::array encodings{
    zenith::encoding::plain,      zenith::encoding::null_suppression_fixed, zenith::encoding::null_suppression_variable,
    zenith::encoding::run_length, zenith::encoding::frame_of_reference,     zenith::encoding::delta,
    zenith::encoding::vertical,
};

template <class Call>
double lower_quartile_seconds(const Call& call, double enough) {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t least = 3;
  call();
  std::vector<double> times;
  for (double spent = 0; times.size() < least || (spent < enough && times.size() < 1000); spent += times.back()) {
    const auto begin = clock::now();
    call();
    times.push_back(std::chrono::duration<double>(clock::now() - begin).count());
  }
  const auto quartile = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
  std::ranges::nth_element(times, quartile);
  return *quartile;
}

void require(bool holds, const packed_measurement& of, std::string_view what) {
  if (holds) return;
  throw zenith::error(zenith::error_code::device_failure, fmt::format("{} of a column in {} on {} is WRONG", what,
                                                                      zenith::to_string(of.kind), of.executor));
}

template <class T>
void time_on_host(packed_measurement& of, const zenith::executor& on, const zenith::packed_column<T>& column,
                  std::span<const T> values, double seconds) {
  std::vector<T> decoded(values.size());
  of.unpack_seconds = lower_quartile_seconds([&] { zenith::unpack(on, column, decoded); }, seconds);
  require(std::ranges::equal(decoded, values), of, "the decoding");
  of.sum_seconds = lower_quartile_seconds([&] { static_cast<void>(zenith::sum(on, column)); }, seconds);
}

template <class T>
void time_on_device(packed_measurement& of, const zenith::executor& on, const zenith::packed_column<T>& column,
                    std::span<const T> values, double seconds) {
  const zenith::packed_device_column<T> there(on, column);
  zenith::array<T> decoded(on, values.size());
  of.unpack_seconds = lower_quartile_seconds(
      [&] {
        zenith::unpack(on, there, decoded.device());
        on.synchronize();
      },
      seconds);
  std::vector<T> back(values.size());
  decoded.copy_to(back);
  require(std::ranges::equal(back, values), of, "the decoding");
  of.sum_seconds = lower_quartile_seconds([&] { static_cast<void>(zenith::sum(on, there)); }, seconds);
}

}  // namespace

std::span<const zenith::encoding> packed_encodings() noexcept { return encodings; }

template <zenith::packable T>
std::vector<packed_measurement> measure_packed(std::span<const T> values, std::span<const std::string> executors,
                                               double seconds) {
  using sum_t = zenith::detail::sum_t<T>;
  std::uint64_t expected = 0;
  for (const auto value : values) expected += static_cast<std::uint64_t>(value);
  const auto packer = zenith::make_executor("cpu");
  const auto smallest = zenith::pack(packer, values).encoding();

  std::vector<packed_measurement> found;
  for (const auto kind : encodings) {
    const auto column = zenith::pack(packer, values, kind);
    for (const auto& name : executors) {
      const auto on = zenith::make_executor(name);
      packed_measurement one{name, kind, column.bits_per_value(), 0, 0, kind == smallest};
      if (on.settings().target->memory == zenith::memory_space::device) {
        time_on_device(one, on, column, values, seconds);
      } else {
        time_on_host(one, on, column, values, seconds);
      }
      require(zenith::sum(on, column) == static_cast<sum_t>(expected), one, "the sum");
      found.push_back(std::move(one));
    }
  }
  return found;
}

template std::vector<packed_measurement> measure_packed(std::span<const std::int32_t>, std::span<const std::string>,
                                                        double);
template std::vector<packed_measurement> measure_packed(std::span<const std::int64_t>, std::span<const std::string>,
                                                        double);

}  // namespace zenith_study
