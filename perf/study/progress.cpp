#include <perf/study/progress.hpp>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <perf/study/table.hpp>

namespace zenith_study {
namespace {

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

progress::progress(std::string_view title) : title_(title), on_terminal_(isatty(STDERR_FILENO) == 1) {}

progress::~progress() { clear(); }

void progress::show(double share, std::string_view what) {
  if (!on_terminal_) {
    if (what == last_) return;
    last_ = what;
    fmt::print(stderr, "[{:3.0f} %] {}: {}\n", share * 100, title_, printable(what));
    return;
  }
  constexpr std::size_t cells = 28;
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * cells);
  std::string bar;
  for (std::size_t i = 0; i < cells; ++i) bar += i < full ? "█" : "░";
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
  const auto head = fmt::format("{} {:3.0f} % {:3.0f} s  ", title_, share * 100, taken.count());
  const std::size_t width = terminal_width() - std::min(terminal_width(), head.size() + cells + 4);
  fmt::print(stderr, "\r\x1b[K{}{}  {}", head, bar, printable(what.substr(0, width)));
  std::fflush(stderr);
}

void progress::clear() {
  if (!on_terminal_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace zenith_study
