#include "scenario.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <thread>

#include <catch.hpp>
#include <settings.hpp>
#include <zenith/error.hpp>

#include "failing_memory.hpp"

namespace zenith_test {
namespace {

// Threads do not race elsewhere when another allocation fails: there a run draws some of them, other builds try each.
#ifdef __SANITIZE_THREAD__
constexpr std::int64_t step = 4;
#else
constexpr std::int64_t step = 1;
#endif

enum class outcome { finished, out_of_memory, other_error };

struct attempt {
  outcome how;
  bool failed;  ///< an allocation did
  std::int64_t kept_blocks;
  std::string said;
};

attempt call_with_failure(const scenario& of, std::int64_t n) {
  attempt made{outcome::finished, false, 0, {}};
  const auto before = failing_memory::live_blocks();
  failing_memory::fail_at(n);
  try {
    of.call();
  } catch (const std::bad_alloc&) {
    made.how = outcome::out_of_memory;
  } catch (const zenith::error& fault) {
    failing_memory::stop();
    made.how = fault.code() == zenith::error_code::out_of_memory ? outcome::out_of_memory : outcome::other_error;
    made.said = fault.what();
  } catch (const std::exception& fault) {
    failing_memory::stop();
    made.how = outcome::other_error;
    made.said = fault.what();
  }
  made.failed = failing_memory::stop();
  // TBB frees an arena when its last worker has left it: after the call, and one from before may be among the others
  const std::int64_t message = made.said.capacity() > 15 ? 1 : 0;
  constexpr int most_waits = 200;
  for (int i = 0; i < most_waits; ++i) {
    made.kept_blocks = failing_memory::live_blocks() - before - message;
    if (made.kept_blocks <= 0 || made.how == outcome::finished) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return made;
}

}  // namespace

void check_allocations(const scenario& of) {
  INFO(of.name);
  const failing_memory::scratch_not_kept each_from_new;
  // what is made once a program is made here
  of.reset();
  of.call();
  REQUIRE(of.is_right());

  constexpr std::int64_t most = 20'000;
  const auto first = static_cast<std::int64_t>(seed_of(of.name, 0) % step);
  for (std::int64_t n = first; n < most; n += step) {
    of.reset();
    auto made = call_with_failure(of, n);
    // What is kept for later calls is kept once: a leak comes again.
    if (made.how != outcome::finished && made.kept_blocks > 0) {
      of.reset();
      made = call_with_failure(of, n);
    }
    if (!made.failed) {
      CHECK(of.is_right());
      return;
    }
    INFO("allocation " << n << " failed; " << made.said);
    CHECK(made.how != outcome::other_error);
    if (made.how == outcome::finished) {
      CHECK(of.is_right());
    } else {
      CHECK(made.kept_blocks <= 0);
      CHECK(of.is_untouched());
    }
  }
  FAIL("the call does not end to allocate");
}

std::vector<target> strategies_of(std::string_view operation) {
  std::vector<target> found;
  for (const auto& one : targets(operation)) {
    const auto same = std::ranges::find_if(found, [&](const target& other) {
      return other.on.backend() == one.on.backend() && other.strategy == one.strategy;
    });
    if (same == found.end()) {
      found.push_back(one);
    } else if (one.on.threads() >= same->on.threads()) {
      *same = one;
    }
  }
  return found;
}

}  // namespace zenith_test
