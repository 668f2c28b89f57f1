#pragma once

/// \file
/// How fast a core is beside the one that the models' estimates are of.

#include <vector>

#include <zenith/machine.hpp>

namespace zenith::detail {

/// The estimate for work that vectors do, of which cores do more or less than of other work.
[[nodiscard]] inline double vector_estimate(double seconds, const device_profile& on) {
  const double of_other_work = on.rate("core.estimate", 1);
  return seconds * on.rate("core.vector", of_other_work) / of_other_work;
}

/// A piece of work that is timed again and again, some of it now and some of it later. Other programs and the chip's
/// clock make a core slower for a while, and a moment in which nothing does says as little about the calls to come: so
/// the middle of all counts.
class core_speed {
 public:
  /// Times the work: a sort of some values, other ones each time. It takes about .2 ms.
  void probe(int times);
  void add(double seconds) { seconds_.push_back(seconds); }

  [[nodiscard]] bool is_known() const { return !seconds_.empty(); }
  /// Seconds of this core for what takes the other one a second.
  [[nodiscard]] double factor() const;

  static constexpr double typical_seconds = 195e-6;  ///< of the other core, for a piece

 private:
  std::vector<double> seconds_;
};

}  // namespace zenith::detail
