#include <backends/cpu/isa.hpp>

#include <cstdlib>

#include <zenith/error.hpp>

namespace zenith::cpu_backend {

namespace sse2 {
extern const isa_table table;
}
namespace avx2 {
extern const isa_table table;
}
namespace avx512 {
extern const isa_table table;
}

std::span<const isa_table* const> built_isas() noexcept {
  static constexpr const isa_table* all[] = {&sse2::table, &avx2::table, &avx512::table};
  return all;
}

bool is_usable(const isa_table& isa) noexcept {
  // these ask the operating system too, unlike a bare cpuid
  if (&isa == &avx512::table) {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("bmi2") != 0;
  }
  if (&isa == &avx2::table) {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           __builtin_cpu_supports("bmi2") != 0;
  }
  return __builtin_cpu_supports("sse2") != 0;
}

const isa_table& find_isa(std::string_view name) {
  std::string_view origin = "isa";
  if (name.empty()) {
    if (const char* forced = std::getenv("ZENITH_FORCE_ISA"); forced != nullptr) {
      name = forced;
      origin = "ZENITH_FORCE_ISA";
    }
  }
  const isa_table* widest = nullptr;
  std::string known;
  for (const auto* isa : built_isas()) {
    if (isa->name == name) {
      if (is_usable(*isa)) return *isa;
      throw error(error_code::unsupported,
                  std::string{origin} + " is '" + std::string{name} + "', an instruction set that this CPU lacks",
                  "cpu");
    }
    known += known.empty() ? "" : ", ";
    known += isa->name;
    if (is_usable(*isa)) widest = isa;
  }
  if (!name.empty()) {
    throw error(error_code::invalid_argument,
                std::string{origin} + " is '" + std::string{name} + "'; it must be one of " + known, "cpu");
  }
  return *widest;
}

}  // namespace zenith::cpu_backend
