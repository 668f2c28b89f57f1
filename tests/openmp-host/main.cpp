// OpenMP binds the program's thread to one processor before main begins. The cpu backend uses the others all the same,
// and so it does where the program, with "tbb_first", has started TBB in that thread.

#include <omp.h>
#include <oneapi/tbb/parallel_for.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <zenith/zenith.hpp>

namespace {

int processors_of(pid_t thread) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return sched_getaffinity(thread, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

// The most processors that a thread of this process may run on.
int most_processors() {
  int most = 0;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string name = one.path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    most = std::max(most, processors_of(thread));
  }
  return most;
}

}  // namespace

int main(int count, char** arguments) {
  const int places = omp_get_num_places();
  if (places < 2 || processors_of(0) != 1) {
    std::printf("zenith: skipped: OpenMP has bound nothing here: %d places, %d processors\n", places, processors_of(0));
    return 0;
  }
  // TBB counts the processors of the thread that starts it
  if (count > 1 && std::string{arguments[1]} == "tbb_first") oneapi::tbb::parallel_for(0, 100, [](int) {});
  const auto on = zenith::make_executor("cpu");
  std::vector<float> keys(std::size_t{1} << 22);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<float>(i * 7919 % 4'000'037);
  bool is_right = true;
  // TBB's workers begin where the program's thread is bound, and leave when they first find work
  for (int i = 0; i < 2000 && (i < 20 || most_processors() < places); ++i) {
    const auto found = zenith::top_k(on, keys, 10);
    is_right = is_right && found.keys.front() == *std::max_element(keys.begin(), keys.end());
  }
  // more threads than places
  is_right = is_right &&
             zenith::top_k(zenith::cpu({.threads = places + 6}), keys, 10).keys == zenith::top_k(on, keys, 10).keys;
  std::printf("%d places, %d threads, workers on %d processors\n", places, on.threads(), most_processors());
  return is_right && on.threads() == places && most_processors() == places && processors_of(0) == 1 ? 0 : 1;
}
