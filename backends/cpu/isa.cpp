#include <backends/cpu/isa.hpp>

#include <cstdlib>

#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith::cpu_backend {

namespace sse2 {
extern const isa_table table;
extern const packed_table packed_functions;
}  // namespace sse2
namespace avx2 {
extern const isa_table table;
extern const packed_table packed_functions;
}  // namespace avx2
#if defined(ZENITH_HAS_AVX512)
namespace avx512 {
extern const isa_table table;
extern const packed_table packed_functions;
}  // namespace avx512
namespace avx512vbmi {
extern const packed_table packed_functions;
}  // namespace avx512vbmi
#endif

namespace {

// AVX-512 as its first CPUs had it, which lack the byte permutations of VBMI.
constexpr std::string_view without_vbmi = "avx512bw";

}  // namespace

std::span<const isa_table* const> built_isas() noexcept {
  static constexpr const isa_table* all[] = {
    &sse2::table,
    &avx2::table,
#if defined(ZENITH_HAS_AVX512)
    &avx512::table,
#endif
  };
  return all;
}

bool is_usable(const isa_table& isa) noexcept {
  // these ask the operating system too, unlike a bare cpuid
#if defined(ZENITH_HAS_AVX512)
  if (&isa == &avx512::table) {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("bmi2") != 0;
  }
#endif
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
  const auto wanted = name == without_vbmi ? std::string_view{"avx512"} : name;
  for (const auto* isa : built_isas()) {
    if (isa->name == wanted) {
      if (is_usable(*isa)) return *isa;
      throw error(error_code::unsupported,
                  std::string{origin} + " is '" + std::string{name} + "', an instruction set that this CPU lacks",
                  "cpu");
    }
    if (name.empty() && is_usable(*isa)) widest = isa;
  }
  if (!name.empty()) {
    std::string known;
    for (const auto* isa : built_isas()) known += (known.empty() ? "" : ", ") + std::string{isa->name};
    if (built_isas().back()->name == std::string_view{"avx512"}) known += ", " + std::string{without_vbmi};
    throw error(error_code::invalid_argument,
                std::string{origin} + " is '" + detail::shown(name) + "'; it must be one of " + known, "cpu");
  }
  return *widest;
}

std::size_t position_of(const isa_table& isa) noexcept {
  const auto all = built_isas();
  std::size_t at = 0;
  while (all[at] != &isa) ++at;
  return at;
}

std::string isa_name(std::string_view name) {
  const char* forced = std::getenv("ZENITH_FORCE_ISA");
  const auto& found = find_isa(name);
  if (name == without_vbmi || (name.empty() && forced != nullptr && forced == without_vbmi)) {
    return std::string{without_vbmi};
  }
  return found.name;
}

const packed_table& find_packed(std::string_view name) {
  const auto& isa = find_isa(name);
  if (&isa == &sse2::table) return sse2::packed_functions;
#if defined(ZENITH_HAS_AVX512)
  if (&isa == &avx512::table) {
    // xsimd from version 13 on compiles for VBMI with IFMA alone
    const bool has_vbmi = __builtin_cpu_supports("avx512ifma") != 0 && __builtin_cpu_supports("avx512vbmi") != 0 &&
                          __builtin_cpu_supports("avx512vbmi2") != 0;
    return has_vbmi && name != without_vbmi ? avx512vbmi::packed_functions : avx512::packed_functions;
  }
#endif
  return avx2::packed_functions;
}

}  // namespace zenith::cpu_backend
