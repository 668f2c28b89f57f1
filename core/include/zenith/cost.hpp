#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <zenith/machine.hpp>
#include <zenith/no_overload.hpp>

namespace zenith {

/// Bytes that a phase moves at one memory level. `working_set` picks the level: the smallest that holds it.
struct traffic {
  std::uint64_t working_set = 0;
  double read = 0;
  double written = 0;
};

/// Work that is counted, not in bytes: `count` units of the work called `rate` in the profile.
struct work {
  std::string_view rate;  ///< of static storage
  double count = 0;
  double default_seconds = 0;  ///< of one core for one unit, where the profile has no such rate
};

/// One phase of a strategy: resources that are used at the same time, so that the slowest decides.
struct phase {
  std::string_view name;  ///< of static storage
  std::vector<traffic> memory;
  std::vector<work> operations;
  double launches = 0;
  int cores = 0;  ///< that share the phase; 0: all of the device
};

/// A strategy's cost on one device: its phases one after another, and the transfers over the link.
struct cost {
  std::vector<phase> phases;
  double to_device_bytes = 0;
  double to_host_bytes = 0;
  double pieces = 1;  ///< that the way to the device is cut into: all but one overlap the phases
};

/// How many cores are worth waking for a pass over `bytes` bytes: one for each grain of them.
[[nodiscard]] int cores_for(double bytes, const device_profile& on);
/// The bytes of a working set that does not stay in the private caches of `workers` cores, because each takes another
/// part of it at each call. 0 for one worker, and where the profile does not say which caches are private.
[[nodiscard]] std::uint64_t set_beyond_own_caches(int workers, const device_profile& on);
/// The roofline: seconds of a phase, the slowest of its resources plus its launches.
[[nodiscard]] double seconds(const phase& of, const device_profile& on);
/// Seconds of all phases and transfers.
[[nodiscard]] double seconds(const cost& of, const device_profile& on);

/// One backend and strategy that was considered for a problem.
struct candidate {
  std::string backend;
  int device = 0;
  std::string strategy;
  double predicted_seconds = 0;  ///< infinity when it cannot run
  std::string reason;            ///< why it was not chosen; for the chosen one, why it was
};

/// What `decide` found.
struct decision {
  std::string backend;
  int device = 0;
  std::string strategy;
  double predicted_seconds = 0;
  std::string why;
  std::vector<candidate> rejected;  ///< fastest first, those that cannot run last
};

/// Takes what no overload of any header takes, so that the compiler's message is short: `decide` stands beside each
/// kind of problem, and takes a machine behind it.
ZENITH_NO_OVERLOAD(decide);
ZENITH_NO_OVERLOAD(seconds);

}  // namespace zenith
