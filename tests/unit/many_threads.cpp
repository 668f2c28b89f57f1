// Workers beyond the processors: all of their work is done, and nothing is written to the standard error output.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

#include <catch.hpp>

#include <core/workers.hpp>
#include <zenith/executor.hpp>
#include <zenith/top_k.hpp>

namespace {

// What is written to the standard error output while it lives.
class written_errors {
 public:
  written_errors() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    REQUIRE(file_ != nullptr);
    std::fflush(stderr);
    REQUIRE(dup2(fileno(file_), STDERR_FILENO) >= 0);
  }
  written_errors(const written_errors&) = delete;
  written_errors& operator=(const written_errors&) = delete;
  ~written_errors() {
    restore();
    close(before_);
    (void)std::fclose(file_);
  }

  [[nodiscard]] std::string text() {
    restore();
    std::rewind(file_);
    std::string all(4096, '\0');
    all.resize(std::fread(all.data(), 1, all.size(), file_));
    return all;
  }

 private:
  void restore() {
    std::fflush(stderr);
    (void)dup2(before_, STDERR_FILENO);
  }

  std::FILE* file_;
  int before_;
};

}  // namespace

TEST_CASE("workers beyond the processors do their work, and no library writes a warning", "[many_threads]") {
  const int processors = zenith::detail::hardware_threads();
  written_errors errors;
  // each number is larger than those before, since a warning is written once for each limit
  for (const int workers : {processors + 1, processors + 6, zenith::detail::most_threads}) {
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(workers));
    zenith::detail::run_workers(workers, [&](int worker) { ++done[static_cast<std::size_t>(worker)]; });
    CHECK(std::ranges::all_of(done, [](const auto& one) { return one == 1; }));
  }
  const auto said = errors.text();
  INFO(said);
  CHECK(said.empty());
}

TEST_CASE("a call with more threads than processors gives what one thread gives", "[many_threads]") {
  std::vector<float> keys(1 << 22);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<float>(i * 7919 % 4194301);
  const auto expected = zenith::top_k(zenith::cpu({.threads = 1}), keys, 100);
  written_errors errors;
  for (const int threads : {5, 64, 1000}) {
    const auto best = zenith::top_k(zenith::cpu({.threads = threads}), keys, 100);
    CHECK(best.keys == expected.keys);
    CHECK(best.indices == expected.indices);
  }
  const auto said = errors.text();
  INFO(said);
  CHECK(said.empty());
}
