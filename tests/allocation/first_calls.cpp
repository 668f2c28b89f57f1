// The first call of a process with each of its allocations failing: what is made once a process must not be made wrong.
// Each attempt is a process of its own. The program replaces operator new and calls nothing itself, so it stands alone.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <catch.hpp>
#include <zenith/zenith.hpp>

#include "failing_memory.hpp"

namespace failing_memory = zenith_test::failing_memory;

namespace {

enum outcome { finished = 10, out_of_memory, not_reached, other_error, wrong, next_is_wrong };

/// Calls twice, the first time with an allocation of the calling thread that fails: where TBB's own threads begin and
/// find no memory, they end the process. `call` says whether its result is right.
outcome attempt(const std::function<bool()>& call, std::int64_t n) {
  outcome how = finished;
  failing_memory::fail_at_in_this_thread(n);
  try {
    if (!call()) how = wrong;
  } catch (const std::bad_alloc&) {
    how = out_of_memory;
  } catch (const zenith::error& fault) {
    how = fault.code() == zenith::error_code::out_of_memory ? out_of_memory : other_error;
  } catch (...) {
    how = other_error;
  }
  const bool has_failed = failing_memory::stop();
  if (how != finished && how != out_of_memory) return how;
  try {
    if (!call()) return next_is_wrong;
  } catch (...) {
    return next_is_wrong;
  }
  return has_failed ? how : not_reached;
}

int status_of(const std::function<int()>& child) {
  const pid_t made = fork();
  REQUIRE(made >= 0);
  if (made == 0) {
    alarm(120);  // one that waits for ever ends, too
    try {
      _exit(child());
    } catch (...) {
      _exit(other_error);
    }
  }
  int status = 0;
  REQUIRE(waitpid(made, &status, 0) == made);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Returns how often an allocation failed. Of a process that takes long, under a sanitizer or beside a GPU's driver,
/// only some fail.
int check_first_call(const std::function<bool()>& call) {
  constexpr std::int64_t most = 20'000;
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(status_of([&] { return attempt(call, most); }) == not_reached);
  const auto took = std::chrono::steady_clock::now() - start;
  const auto step = 1 + took / std::chrono::milliseconds(10);
  int failures = 0;
  for (std::int64_t n = 0; n < most; n += step) {
    const int status = status_of([&] { return attempt(call, n); });
    if (status == not_reached) return failures;
    INFO("allocation " << n << " failed");
    CHECK((status == finished || status == out_of_memory));
    ++failures;
  }
  FAIL("the call does not end to allocate");
  return failures;
}

bool top_k_is_right(const std::string& on, std::string_view strategy) {
  // worth one thread: where TBB finds no memory while it shares out work, its next work may wait for ever
  std::vector<float> keys(70'001, 1);
  keys[69'000] = 2;
  keys[500] = 3;
  const auto best = zenith::top_k(zenith::make_executor(on), keys, 2, {.strategy = strategy});
  return best.keys == std::vector<float>{3, 2} && best.indices == std::vector<std::uint64_t>{500, 69'000};
}

/// A profile of this machine that says it was calibrated: with it nothing is measured.
class kept_profile {
 public:
  kept_profile() {
    const int status = status_of([&] {
      auto devices = zenith::machine::defaults().devices();
      for (auto& one : devices) {
        one.origin = "calibrated";
        one.date = "2026-01-01T00:00:00Z";
      }
      zenith::machine(std::move(devices)).write(file_);
      return 0;
    });
    REQUIRE(status == 0);
    setenv("ZENITH_PROFILE", file_.c_str(), 1);
  }
  ~kept_profile() {
    unsetenv("ZENITH_PROFILE");
    std::filesystem::remove(file_);
  }
  kept_profile(const kept_profile&) = delete;
  kept_profile& operator=(const kept_profile&) = delete;

 private:
  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("zenith-first-calls-" + std::to_string(getpid()) + ".json");
};

bool is_usable(std::string_view name) {
  return status_of([&] {
           for (const auto& one : zenith::backends()) {
             if (one.name == name && one.usable) return 0;
           }
           return 1;
         }) == 0;
}

}  // namespace

TEST_CASE("the first call on the CPU when memory runs out", "[allocation]") {
  CHECK(check_first_call([] { return top_k_is_right("cpu", "filter"); }) > 0);
}

TEST_CASE("the first call of all that chooses its device when memory runs out", "[allocation]") {
  const kept_profile nothing_is_measured;
  CHECK(check_first_call([] { return top_k_is_right("auto", "auto"); }) > 0);
}

TEST_CASE("a calibrated profile is not lost when memory runs out", "[allocation]") {
  const kept_profile calibrated;
  CHECK(check_first_call([] {
          const auto* const cpu = zenith::machine::local().find("cpu");
          return cpu != nullptr && cpu->origin == "calibrated";
        }) > 0);
}

TEST_CASE("the first call of Kokkos when memory runs out", "[allocation]") {
  if (!is_usable("kokkos")) return;
  CHECK(check_first_call([] { return top_k_is_right("kokkos", "filter"); }) > 0);
}

TEST_CASE("a probe for which there is no memory gives the shipped profile", "[allocation]") {
  setenv("ZENITH_PROFILE", "/a file that is not there", 1);
  const int status = status_of([] {
    failing_memory::fail_beyond(std::size_t{1} << 20);
    const auto* const cpu = zenith::machine::local().find("cpu");
    const auto shipped = zenith::machine::defaults();
    return cpu != nullptr && cpu->levels.front().read == shipped.find("cpu")->levels.front().read ? 0 : 1;
  });
  unsetenv("ZENITH_PROFILE");
  CHECK(status == 0);
}
