#pragma once

#include <memory_resource>
#include <string>
#include <string_view>

#include <zenith/backend.hpp>
#include <zenith/no_overload.hpp>

namespace zenith {

/// Where and how a call runs; the first argument of every algorithm. A small copyable value. It borrows the stream and
/// the memory resource that it was made with: they must outlive it, and arrays and device structures made with it. A
/// call does not change it, so several threads may use one at the same time; on a GPU their calls follow each other in
/// its stream.
class executor {
 public:
  /// The same as `make_executor("auto")`.
  executor() = default;
  /// Settings that were resolved by their backend's `configure`.
  explicit executor(execution settings) : settings_(std::move(settings)) {}
  ZENITH_NO_CONSTRUCTOR(executor);  // of a name: `make_executor`

  /// "cpu", "cuda", …, or "auto".
  [[nodiscard]] std::string_view backend() const noexcept;
  [[nodiscard]] int device() const noexcept { return settings_.device; }
  [[nodiscard]] int threads() const noexcept { return settings_.threads; }
  /// The instruction set that runs ("avx2"), or empty where the backend has no such choice.
  [[nodiscard]] const std::string& isa() const noexcept { return settings_.isa; }
  /// True when each call chooses its backend by cost.
  [[nodiscard]] bool is_automatic() const noexcept { return settings_.target == nullptr; }
  [[nodiscard]] const execution& settings() const noexcept { return settings_; }

  /// Waits for the work this executor was given; throws `device_failure` when it ended in a fault.
  void synchronize() const;

 private:
  execution settings_;
};

/// An executor from a string: `name[:setting[,setting…]]`, where a setting is `key=value` or a bare device number.
/// Examples: "auto", "reference", "cpu", "cpu:threads=4,isa=avx2", "cuda:1", "kokkos". Throws `backend_unavailable` for
/// an unknown or unusable backend and `invalid_argument` for a setting that it does not take; an instruction set that
/// this CPU lacks is `unsupported`. The environment variable ZENITH_FORCE_BACKEND, when set, names the backend that
/// "auto" takes; `decide` does not look at it.
[[nodiscard]] executor make_executor(std::string_view spec);

struct cpu_options {
  int threads = 0;       ///< at most 1024, of which no more run than there are processors; 0: all of these
  std::string isa = {};  ///< "sse2", "avx2", "avx512", "avx512bw"; empty: the widest usable
  /// For the scratch of queries and of packing, from any thread of a call; it must outlive the executor. Results,
  /// arrays and the building of tables and indexes have memory of their own. nullptr: the default resource. If that is
  /// new and delete, the process keeps up to 64 MiB of freed scratch for later calls. Nothing is kept of a resource
  /// that is given here.
  std::pmr::memory_resource* memory = nullptr;
};

/// The CPU: TBB over tiles, SIMD by the widest instruction set, or as `options` says.
[[nodiscard]] executor cpu(const cpu_options& options = {});
/// The slowest, most obvious implementation of everything: the oracle of the tests.
[[nodiscard]] executor reference();
/// Wherever Kokkos' default execution space runs.
[[nodiscard]] executor kokkos();

}  // namespace zenith
