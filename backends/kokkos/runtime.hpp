#pragma once

#include <mutex>
#include <string>

#include <zenith/backend.hpp>

namespace zenith::kokkos_backend {

/// Whether Kokkos can run, or could be started, now. Starts nothing: a host program that asks what there is must still
/// be free to initialise Kokkos itself.
[[nodiscard]] availability state();

/// "Kokkos 3.4.01 Serial (single-threaded)".
[[nodiscard]] std::string space_name();

/// How many threads or device lanes the space has; before Kokkos runs, what it would have on the host.
[[nodiscard]] int concurrency();

/// The right to call Kokkos: while one lives, Kokkos is initialised and no other thread is inside this backend.
///
/// One at a time, because the default instance of an execution space is one queue with one pool of scratch: Kokkos 3.4
/// hands that scratch to every caller (concurrent scans gave silently wrong results), and later releases promise
/// concurrent dispatch only to distinct instances.
///
/// Initialises Kokkos when nobody has, and then finalises it at exit unless somebody else did. Throws
/// backend_unavailable when it was finalised already.
class session {
 public:
  session();

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace zenith::kokkos_backend
