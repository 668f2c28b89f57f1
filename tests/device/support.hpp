#pragma once

/// \file
/// What the suite's checks share: a context for each trial, data in and out of its memory, and the faults found. No
/// Catch2: nvcc and the emulation compile this too.

#include <cstddef>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <tests/device/kernels.hpp>

namespace zenith::device_suite {

struct suite_limits {
  u64 most_items = u64{1} << 20;
  u64 seed = 1;
  double share = 1;    ///< of the trials that are run; the seed draws which
  bool brief = false;  ///< fewer combinations of the same things, for contexts that run lane by lane
};

struct random_numbers {
  u64 state;

  u64 operator()() { return mixed(++state, 0x5eed); }
};

template <class Context>
Context& context_in(Context& made) {
  return made;
}
template <class Context>
Context& context_in(std::unique_ptr<Context>& made) {
  return *made;
}

template <class T>
std::string said(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (requires { value.index(); }) {
    return std::to_string(value.image()) + "@" + std::to_string(value.index());
  } else {
    return "…";
  }
}

template <class T>
bool equal(const T& a, const T& b) {
  if constexpr (requires { better(a, b); }) {
    return !better(a, b) && !better(b, a);
  } else {
    return a == b;
  }
}

template <class Make>
class examiner {
 public:
  static constexpr std::size_t most_faults = 100;

  examiner(const Make& make, const suite_limits& limits) : make_(make), limits_(limits) {}

  [[nodiscard]] const suite_limits& limits() const { return limits_; }
  [[nodiscard]] random_numbers random(u64 number) const { return {mixed(limits_.seed, number)}; }

  /// Those of the sizes that this run takes.
  [[nodiscard]] std::vector<u64> sizes(std::initializer_list<u64> all) const {
    std::vector<u64> some;
    for (const u64 n : all) {
      if (n <= limits_.most_items) some.push_back(n);
    }
    return some;
  }

  /// Runs body(on) on a fresh context. What it throws is a fault.
  template <class Body>
  void trial(const std::string& name, const Body& body) {
    name_ = name;
    if (faults_.size() >= most_faults) return;
    if (static_cast<double>(mixed(limits_.seed, ++trials_)) > limits_.share * 0x1p64) return;
    try {
      auto&& made = make_();
      body(context_in(made));
    } catch (const std::exception& fault) {
      say(std::string{"threw: "} + fault.what());
    }
  }

  void that(bool holds, const std::string& what) {
    if (!holds) say(what);
  }
  template <class T>
  void same(const std::string& what, const T& got, const std::type_identity_t<T>& wanted) {
    if (!equal(got, wanted)) say(what + " is " + said(got) + ", not " + said(wanted));
  }
  template <class T>
  void same(const std::string& what, const std::vector<T>& got, const std::vector<T>& wanted) {
    if (got.size() != wanted.size()) {
      say(what + ": " + std::to_string(got.size()) + " of them, not " + std::to_string(wanted.size()));
      return;
    }
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t i = got.size(); i-- > 0;) {
      if (equal(got[i], wanted[i])) continue;
      ++wrong;
      first = i;
    }
    if (wrong != 0)
      say(what + ": " + std::to_string(wrong) + " of " + std::to_string(got.size()) + " are wrong, first [" +
          std::to_string(first) + "]: " + said(got[first]) + ", not " + said(wanted[first]));
  }

  [[nodiscard]] std::vector<std::string> faults() const { return faults_; }

 private:
  void say(const std::string& what) {
    if (faults_.size() < most_faults) faults_.push_back(name_ + ": " + what);
  }

  const Make& make_;
  suite_limits limits_;
  std::string name_;
  std::vector<std::string> faults_;
  u64 trials_ = 0;
};

/// n elements where kernels can write them, beginning as `from`.
template <class Context, class T>
T* upload(Context& on, const std::vector<T>& from) {
  T* const at = on.template buffer<T>(from.size() + 1);
  if (!from.empty()) on.copy(at, on.input(from.data(), from.size(), memory_space::host), from.size());
  return at;
}
template <class T, class Context>
T* zeros(Context& on, u64 n) {
  T* const at = on.template buffer<T>(n + 1);
  on.fill_zero(at, n);
  return at;
}
/// Has `finish` write all of `to`.
template <class Context, class T>
void deliver(Context& on, const T* from, std::vector<T>& to) {
  if (!to.empty()) on.copy(on.output(to.data(), to.size(), memory_space::host), from, to.size());
}

inline std::string of_size(const std::string& name, u64 n) { return name + ", n = " + std::to_string(n); }

}  // namespace zenith::device_suite
