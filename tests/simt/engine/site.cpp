#include <fmt/format.h>

#if __has_include(<backtrace.h>)
#include <backtrace.h>
#define ZENITH_SIMT_BACKTRACE 1
#endif

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "fault.hpp"

namespace zenith::simt_engine {
namespace {

// A site is 32 bits: either the distance of a return address from this module's own code, which is linked into the same
// program, or, with the top bit set, a number in the table of calls.
constexpr std::uint32_t call_bit = 0x80000000U;
constexpr std::uint32_t bias = 0x40000000U;

const char* anchor() noexcept { return reinterpret_cast<const char*>(&to_string); }

struct same_call {
  // The compiler keeps one text for each file and function name of a translation unit: addresses tell calls apart.
  std::size_t operator()(const std::source_location& a) const {
    return std::hash<const void*>{}(a.file_name()) * 31 + a.line() * 1021U + a.column();
  }
  bool operator()(const std::source_location& a, const std::source_location& b) const {
    return a.line() == b.line() && a.column() == b.column() && a.file_name() == b.file_name();
  }
};

struct call_table {
  std::mutex guard;
  std::vector<std::source_location> calls;
  std::unordered_map<std::source_location, std::uint32_t, same_call, same_call> numbers;
};

call_table& table() {
  static call_table instance;
  return instance;
}

std::string below_root(std::string_view file) {
  constexpr std::string_view root = ZENITH_SIMT_SOURCE_ROOT "/";
  if (file.starts_with(root)) file.remove_prefix(root.size());
  return std::string(file);
}

#ifdef ZENITH_SIMT_BACKTRACE
std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? plain.get() : name;
}

code_location from_debug_information(std::uintptr_t address) {
  static backtrace_state* state = backtrace_create_state(
      nullptr, 1, [](void*, const char*, int) {}, nullptr);
  code_location found;
  backtrace_pcinfo(
      state, address,
      [](void* to, std::uintptr_t, const char* file, int line, const char* function) {
        auto& where = *static_cast<code_location*>(to);
        if (file != nullptr) where.file = below_root(file);
        where.line = static_cast<unsigned>(line);
        if (function != nullptr) where.function = demangled(function);
        return 1;  // the innermost of the inlined frames is the access itself
      },
      [](void*, const char*, int) {}, &found);
  return found;
}
#endif

}  // namespace

site site::of_code(const void* return_address) noexcept {
  const std::ptrdiff_t distance = static_cast<const char*>(return_address) - 1 - anchor() + bias;
  if (distance <= 0 || distance >= static_cast<std::ptrdiff_t>(call_bit)) return {};
  return site(static_cast<std::uint32_t>(distance));
}

site site::of_call(const std::source_location& where) {
  // every word of the vocabulary comes by here, and a kernel has few of them
  struct remembered {
    std::source_location where;
    std::uint32_t number = 0;
  };
  thread_local std::array<remembered, 256> recent{};
  remembered& kept = recent[(where.line() * 31 + where.column()) % recent.size()];
  if (kept.number != 0 && same_call{}(kept.where, where)) return site(kept.number);

  auto& known = table();
  const std::lock_guard lock(known.guard);
  const auto [at, is_new] = known.numbers.try_emplace(where, static_cast<std::uint32_t>(known.calls.size()));
  if (is_new) known.calls.push_back(where);
  kept = {where, at->second | call_bit};
  return site(kept.number);
}

code_location site::resolve() const {
  if (id_ == 0) return {};
  if ((id_ & call_bit) != 0) {
    auto& known = table();
    const std::lock_guard lock(known.guard);
    const auto& call = known.calls[id_ & ~call_bit];
    return {below_root(call.file_name()), call.line(), call.function_name()};
  }
#ifdef ZENITH_SIMT_BACKTRACE
  return from_debug_information(reinterpret_cast<std::uintptr_t>(anchor()) + id_ - bias);
#else
  return {};
#endif
}

std::string site::text() const {
  const code_location at = resolve();
  return at.file.empty() ? "an unknown line (no debug information)" : fmt::format("{}:{}", at.file, at.line);
}

}  // namespace zenith::simt_engine
