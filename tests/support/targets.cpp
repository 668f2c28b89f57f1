#include <targets.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include <settings.hpp>
#include <zenith/backend.hpp>
#include <zenith/error.hpp>

namespace zenith_test {
namespace {

bool takes(const zenith::backend& one, std::string_view option) {
  return std::ranges::find(one.options, option) != one.options.end();
}

// And the build.
bool cpu_has([[maybe_unused]] std::string_view isa) {
#if defined(__x86_64__) || defined(__i386__)
  if (isa == "sse2") return __builtin_cpu_supports("sse2") != 0;
  if (isa == "avx2") return __builtin_cpu_supports("avx2") != 0;
#if defined(ZENITH_TEST_AVX512)
  if (isa == "avx512") {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  }
  if (isa == "avx512bw") return cpu_has("avx512") && __builtin_cpu_supports("avx512vbmi") != 0;
#endif
#endif
  return false;
}

// One thread races with nobody: the thread sanitizer, under which all takes ten times as long, need not see it.
#if defined(__SANITIZE_THREAD__)
constexpr const char* thread_settings[] = {"threads=3"};
#else
constexpr const char* thread_settings[] = {"threads=1", "threads=2", "threads=3"};
#endif

std::vector<std::string> executor_strings(const zenith::backend& one, std::string_view operation) {
  std::vector<std::string> settings{""};
  if (takes(one, "isa")) {
    settings.clear();
    for (const char* isa : {"sse2", "avx2", "avx512", "avx512bw"}) {
      // the plain keys of top-k have no use for byte permutations
      if (isa == std::string_view{"avx512bw"} && operation == "top_k") continue;
      if (cpu_has(isa)) {
        settings.push_back(std::string{"isa="} + isa);
      } else {
        std::printf("zenith: this CPU or this build has no %s\n", isa);
      }
    }
    if (settings.empty()) settings.emplace_back();
  }
  if (takes(one, "threads")) {
    std::vector<std::string> with_threads;
    for (const auto& before : settings) {
      for (const char* threads : thread_settings) {
        with_threads.push_back(before + (before.empty() ? "" : ",") + threads);
      }
    }
    settings = with_threads;
  }
  std::vector<std::string> all;
  for (const auto& one_setting : settings) {
    all.push_back(std::string{one.name} + (one_setting.empty() ? "" : ":") + one_setting);
  }
  return all;
}

bool is_wanted(const std::string& backend) {
  return std::getenv("ZENITH_TEST_BACKENDS") == nullptr || is_listed("ZENITH_TEST_BACKENDS", backend);
}

// A backend that a person requires must be there; any other is left out with a line.
void leave_out(const std::string& backend, const std::string& why) {
  if (is_listed("ZENITH_REQUIRE_BACKENDS", backend)) {
    throw std::runtime_error("ZENITH_REQUIRE_BACKENDS names " + backend + ", which cannot be tested: " + why);
  }
  // CTest takes the word for the whole run, so it is said only when nothing else is tested
  const bool alone = std::getenv("ZENITH_TEST_BACKENDS") != nullptr;
  std::printf("zenith: %s %s: %s\n", alone ? "skipped:" : "not run here:", backend.c_str(), why.c_str());
}

std::vector<target> list_executors(std::string_view operation, const std::vector<std::string>& backends) {
  std::vector<target> all;
  for (const auto& info : zenith::backends()) {
    if (std::ranges::find(backends, info.name) == backends.end() || !is_wanted(info.name)) continue;
    if (!info.usable) {
      leave_out(info.name, info.why_not);
      continue;
    }
    const auto& one = zenith::find_backend(info.name);
    const auto offers = [&](const zenith::kernel& entry) {
      return entry.run != nullptr && entry.operation == operation;
    };
    if (std::ranges::none_of(one.kernels, offers)) {
      leave_out(info.name, "it does not offer " + std::string{operation});
      continue;
    }
    for (const auto& text : executor_strings(one, operation))
      all.push_back({text, {}, zenith::make_executor(text), one.memory});
  }
  return all;
}

}  // namespace

std::vector<target> executors(std::string_view operation, const std::vector<std::string>& backends) {
  // once a program and question: what is left out is said once
  static std::map<std::pair<std::string, std::vector<std::string>>, std::vector<target>> known;
  const auto [at, is_new] = known.try_emplace({std::string{operation}, backends});
  if (is_new) at->second = list_executors(operation, backends);
  return at->second;
}

std::vector<target> one_executor_per_isa(std::string_view operation, threads those) {
  std::vector<target> all;
  for (const auto& on : executors(operation, {"cpu"})) {
    const auto same = std::ranges::find(all, on.on.isa(), [](const target& other) { return other.on.isa(); });
    if (same == all.end()) {
      all.push_back(on);
    } else if (those == threads::fewest ? on.on.threads() < same->on.threads() : on.on.threads() > same->on.threads()) {
      *same = on;
    }
  }
  return all;
}

std::vector<target> targets(std::string_view operation, const std::vector<std::string>& backends) {
  std::vector<target> all;
  for (const auto& on : executors(operation, backends)) {
    for (const auto& entry : zenith::find_backend(on.on.backend()).kernels) {
      if (entry.run == nullptr || entry.operation != operation) continue;
      all.push_back(on);
      all.back().strategy = entry.strategy;
    }
  }
  return all;
}

}  // namespace zenith_test
