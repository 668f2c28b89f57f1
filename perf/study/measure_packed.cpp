#include <perf/study/measure_packed.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <zenith/error.hpp>

namespace zenith_study {
namespace {

void require(bool holds, const packed_measurement& of, std::string_view what) {
  if (holds) return;
  throw zenith::error(zenith::error_code::device_failure, fmt::format("{} of a column in {} on {} is WRONG", what,
                                                                      zenith::to_string(of.kind), of.executor));
}

template <class T>
void time_on_host(packed_measurement& of, const zenith::executor& on, const zenith::packed_column<T>& column,
                  std::span<const T> values, const time_limits& limits) {
  std::vector<T> decoded(values.size());
  of.unpack_seconds = lower_quartile_seconds([&] { zenith::unpack(on, column, decoded); }, limits);
  require(std::ranges::equal(decoded, values), of, "the decoding");
  of.sum_seconds = lower_quartile_seconds([&] { static_cast<void>(zenith::sum(on, column)); }, limits);
}

template <class T>
void time_on_device(packed_measurement& of, const zenith::executor& on, const zenith::packed_column<T>& column,
                    std::span<const T> values, const time_limits& limits) {
  const zenith::packed_device_column<T> there(on, column);
  zenith::array<T> decoded(on, values.size());
  of.unpack_seconds = lower_quartile_seconds(
      [&] {
        zenith::unpack(on, there, decoded.device());
        on.synchronize();
      },
      limits);
  std::vector<T> back(values.size());
  decoded.copy_to(back);
  require(std::ranges::equal(back, values), of, "the decoding");
  of.sum_seconds = lower_quartile_seconds([&] { static_cast<void>(zenith::sum(on, there)); }, limits);
}

}  // namespace

template <zenith::packable T>
std::vector<packed_measurement> measure_packed(std::span<const T> values, std::span<const std::string> executors,
                                               const time_limits& limits) {
  using sum_t = zenith::detail::sum_t<T>;
  std::uint64_t expected = 0;
  for (const auto value : values) expected += static_cast<std::uint64_t>(value);
  const auto packer = zenith::make_executor("cpu");
  const auto smallest = zenith::pack(packer, values).encoding();

  std::vector<packed_measurement> found;
  for (const auto kind : zenith::packed_encodings) {
    const auto column = zenith::pack(packer, values, kind);
    for (const auto& name : executors) {
      const auto on = zenith::make_executor(name);
      packed_measurement one{name, kind, column.bits_per_value(), 0, 0, kind == smallest};
      if (on.settings().target->memory == zenith::memory_space::device) {
        time_on_device(one, on, column, values, limits);
      } else {
        time_on_host(one, on, column, values, limits);
      }
      require(zenith::sum(on, column) == static_cast<sum_t>(expected), one, "the sum");
      found.push_back(std::move(one));
    }
  }
  return found;
}

template std::vector<packed_measurement> measure_packed(std::span<const std::int32_t>, std::span<const std::string>,
                                                        const time_limits&);
template std::vector<packed_measurement> measure_packed(std::span<const std::int64_t>, std::span<const std::string>,
                                                        const time_limits&);
template std::vector<packed_measurement> measure_packed(std::span<const std::uint64_t>, std::span<const std::string>,
                                                        const time_limits&);

}  // namespace zenith_study
