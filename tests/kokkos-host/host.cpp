// A program that uses Kokkos and Zenith's Kokkos backend: who initialises, who finalises, and what is said afterwards.
// Every way is a process of its own, as Kokkos lives once in one.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <zenith/zenith.hpp>

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

std::vector<std::int32_t> scattered(std::uint32_t seed) {
  std::vector<std::int32_t> keys(100000);
  for (auto& key : keys) {
    seed = seed * 1664525U + 1013904223U;
    key = static_cast<std::int32_t>(seed >> 8);
  }
  return keys;
}

void require_right(const zenith::executor& on, const std::vector<std::int32_t>& keys, std::string_view strategy) {
  const auto found = zenith::top_k(on, keys, 100, {.strategy = strategy});
  const auto expected = zenith::top_k(zenith::reference(), keys, 100);
  require(found.keys == expected.keys && found.indices == expected.indices, "a result differs from the reference");
}

bool is_usable() {
  for (const auto& one : zenith::backends()) {
    if (one.name == "kokkos") return one.usable;
  }
  throw std::runtime_error("there is no kokkos backend");
}

void require_unavailable(const zenith::executor& on) {
  try {
    const auto found = zenith::top_k(on, scattered(1), 10);
    require(false, "a call after finalize() did not throw");
  } catch (const zenith::error& fault) {
    require(fault.code() == zenith::error_code::backend_unavailable, "the wrong error after finalize()");
    require(std::string_view{fault.what()}.find("finalize") != std::string_view::npos, "the error does not say why");
  }
  require(!is_usable(), "the backend is listed as usable after finalize()");
}

void sum_up(const char* label) {
  std::int64_t sum = 0;
  Kokkos::parallel_reduce(
      label, 1000, KOKKOS_LAMBDA(const int i, std::int64_t& part) { part += i; }, sum);
  require(sum == 499500, "the program's own Kokkos work is wrong");
}

void host_owns_it() {
  require(is_usable(), "the backend is not usable before Kokkos runs");
  const auto on = zenith::kokkos();
  require(!Kokkos::is_initialized(), "asking for an executor initialised Kokkos");
  Kokkos::initialize();
  sum_up("program: before");
  require_right(on, scattered(1), "filter");
  sum_up("program: between");
  require_right(on, scattered(2), "bitonic");
  Kokkos::finalize();
  require_unavailable(on);
}

void two_threads() {
  Kokkos::initialize();
  std::string faults[2];
  const auto work = [&](std::uint32_t which) {
    try {
      const auto on = zenith::kokkos();
      for (std::uint32_t i = 0; i < 20; ++i) {
        require_right(on, scattered(2 * i + which), (i + which) % 2 == 0 ? "filter" : "bitonic");
      }
    } catch (const std::exception& fault) {
      faults[which] = fault.what();
    }
  };
  std::thread other(work, 1U);
  work(0);
  other.join();
  require(faults[0].empty() && faults[1].empty(), (faults[0] + faults[1]).c_str());
  Kokkos::finalize();
}

// Registered before Zenith's own, hence called after it.
void require_finalized_at_exit() {
  if (!Kokkos::is_initialized()) return;
  std::fputs("Kokkos is still initialised at the end of the program\n", stderr);
  std::_Exit(1);
}

void zenith_starts_it() {
  std::atexit(require_finalized_at_exit);
  require_right(zenith::kokkos(), scattered(3), "filter");
  require(Kokkos::is_initialized(), "Kokkos does not run after a call");
  sum_up("program: after");
}

void host_ends_it() {
  const auto on = zenith::kokkos();
  require_right(on, scattered(4), "filter");
  Kokkos::finalize();
  require_unavailable(on);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view way = count > 1 ? arguments[1] : "";
  try {
    if (way == "host_owns_it") {
      host_owns_it();
    } else if (way == "two_threads") {
      two_threads();
    } else if (way == "zenith_starts_it") {
      zenith_starts_it();
    } else if (way == "host_ends_it") {
      host_ends_it();
    } else {
      throw std::runtime_error("the way is one of host_owns_it, two_threads, zenith_starts_it, host_ends_it");
    }
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s: %s\n", arguments[0], fault.what());
    return 1;
  }
  return 0;
}
