#include <perf/study/key_type_name.hpp>

#include <fmt/format.h>

#include <perf/study/exit_status.hpp>

namespace zenith_study {

zenith::key_type parse_key_type(std::string_view what, std::string_view text) {
  using zenith::key_type;
  if (text == "float") return key_type::float32;
  if (text == "double") return key_type::float64;
  for (const auto type :
       {key_type::float32, key_type::float64, key_type::int32, key_type::uint32, key_type::int64, key_type::uint64}) {
    if (text == zenith::to_string(type)) return type;
  }
  reject(fmt::format("{} is '{}'; it must be float32, float64, int32, uint32, int64 or uint64", what, text));
}

}  // namespace zenith_study
