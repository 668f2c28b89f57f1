#pragma once

#include <utility>

#include <backends/cpu/context.hpp>
#include <backends/cpu/plain_kernels.hpp>
#include <zenith/strategies/strategy.hpp>

namespace zenith::strategies {

/// The CPU, with the threads and the scratch memory of an executor. Kernels are loops that this program's compiler
/// vectorises for the flags that it is given; the instruction set of the executor chooses the library's own functions
/// alone, which select and sort.
class cpu {
 public:
  static constexpr std::string_view name = "cpu";
  static constexpr memory_space memory = memory_space::host;

  /// All threads that the process may use. Throws `backend_unavailable`.
  cpu() : cpu(make_executor("cpu")) {}
  /// Throws `invalid_argument` for an executor of another backend.
  explicit cpu(executor on) : on_(std::move(on)) { detail::require_backend(name, on_); }

  /// Throws what `body` throws, `out_of_memory`, and std::logic_error for what a context forbids.
  template <class Kernels, class Body>
  void run(const Body& body) const {
    cpu_backend::context<Kernels> on(on_.settings(), cpu_backend::plain_entries<Kernels>::entries);
    body(on);
  }

 private:
  executor on_;
};

}  // namespace zenith::strategies
