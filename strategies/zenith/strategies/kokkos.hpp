#pragma once

#include <utility>

#include <backends/kokkos/context.hpp>
#include <zenith/strategies/strategy.hpp>

namespace zenith::strategies {

/// Wherever Kokkos' default execution space runs. One thread at a time is inside Kokkos: others wait in `run`.
class kokkos {
 public:
  static constexpr std::string_view name = "kokkos";
  static constexpr memory_space memory = kokkos_backend::is_host_space ? memory_space::host : memory_space::device;

  /// Throws `backend_unavailable`.
  kokkos() : kokkos(make_executor("kokkos")) {}
  /// Throws `invalid_argument` for an executor of another backend.
  explicit kokkos(executor on) : on_(std::move(on)) { detail::require_backend(name, on_); }

  /// Throws the library's errors as `body` does, `out_of_memory` for std::bad_alloc, and `device_failure` for whatever
  /// else it throws.
  template <class Kernels, class Body>
  void run(const Body& body) const {
    kokkos_backend::reporting([&] {
      kokkos_backend::context on(on_.settings());
      body(on);
    });
  }

 private:
  executor on_;
};

}  // namespace zenith::strategies
