#pragma once

#include <utility>

#include <backends/cuda/context.hpp>
#include <zenith/strategies/strategy.hpp>

namespace zenith::strategies {

/// An NVIDIA GPU, on the stream of an executor. For units that nvcc compiles, with -fmad=false where scores are to have
/// the same bits as elsewhere. Host memory is copied at each call.
class cuda {
 public:
  static constexpr std::string_view name = "cuda";
  static constexpr memory_space memory = memory_space::device;

  /// Throws `backend_unavailable`.
  cuda() : cuda(make_executor("cuda")) {}
  /// Throws `invalid_argument` for an executor of another backend.
  explicit cuda(executor on) : on_(std::move(on)) { detail::require_backend(name, on_); }

  /// Throws what `body` throws, `out_of_memory`, `device_failure`.
  template <class Kernels, class Body>
  void run(const Body& body) const {
    cuda_backend::context on(on_.settings());
    body(on);
  }

 private:
  executor on_;
};

}  // namespace zenith::strategies
