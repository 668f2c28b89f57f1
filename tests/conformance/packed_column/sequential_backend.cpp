#include <sequential_backend.hpp>

#include <mutex>

#include <algorithms/packed_column/strategies.hpp>
#include <core/device/family.hpp>
#include <core/device/sequential.hpp>
#include <zenith/backend.hpp>

namespace conformance::packed {
namespace {

template <class Strategy>
struct runner {
  static void run(const zenith::execution& /*where*/, const typename Strategy::call_type& call) {
    zenith::device::sequential_context on;
    Strategy::run(on, call);
  }
};

constexpr auto kernels = zenith::device::kernel_entries<runner>(zenith::packed_column_family::strategies{});
constexpr zenith::backend descriptor{.name = "sequential",
                                     .description = "the shared text on the sequential context",
                                     .needs = "nothing: it is for tests",
                                     .kernels = kernels};

}  // namespace

void register_sequential() {
  static std::once_flag once;
  std::call_once(once, [] { zenith::register_backend(descriptor); });
}

}  // namespace conformance::packed
