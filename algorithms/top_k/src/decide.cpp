#include <zenith/error.hpp>
#include <zenith/top_k.hpp>

namespace zenith {

decision decide(const top_k_problem& /*problem*/, const machine& on) {
  for (const auto& device : on.devices()) {
    if (!device.offers.empty()) return {device.backend, device.device, "filter", 0, {}, {}};
  }
  throw error(error_code::unsupported, "decide: no device of this machine offers top_k");
}

}  // namespace zenith
