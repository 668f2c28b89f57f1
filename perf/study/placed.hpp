#pragma once

#include <span>
#include <string>
#include <vector>

#include <perf/study/subject.hpp>
#include <zenith/array.hpp>

/// \file
/// Values where a placement says: on the host or on the executor's device.

namespace zenith_study {

/// An output.
template <class T>
class output {
 public:
  output(const placement& at, std::size_t size) : held_(size) {
    if (at.resident) there_ = zenith::array<T>(at.on, size);
  }
  [[nodiscard]] std::vector<T>& host() { return held_; }
  [[nodiscard]] auto device() { return there_.device(); }
  [[nodiscard]] std::span<const T> read() {
    if (there_.size() > 0) there_.copy_to(held_);
    return held_;
  }

 private:
  std::vector<T> held_;
  zenith::array<T> there_;
};

/// A copy of values on the device that was last asked for.
template <class T>
class device_copy {
 public:
  [[nodiscard]] auto on(const placement& at, std::span<const T> values) {
    if (executor_ != at.executor) there_ = zenith::array<T>(at.on, values);
    executor_ = at.executor;
    return std::as_const(there_).device();
  }

 private:
  std::string executor_;
  zenith::array<T> there_;
};

}  // namespace zenith_study
