#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace zenith_study {

/// Shows how far a long piece of work is: a bar that redraws itself on a terminal, a plain line for each step
/// elsewhere. Writes to standard error, so that standard output holds results only.
class progress {
 public:
  explicit progress(std::string_view title);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  /// `share` of the work is done (0 to 1), and `what` is next. On a plain stream, repeated words are not repeated.
  void show(double share, std::string_view what);
  /// Takes the bar off the terminal.
  void clear();

 private:
  std::string title_;
  std::string last_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool on_terminal_;
};

}  // namespace zenith_study
