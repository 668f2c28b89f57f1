#include <zenith/machine.hpp>

#include <algorithm>

namespace zenith {

bool device_profile::offers_kernel(std::string_view operation, std::string_view strategy) const {
  return std::ranges::any_of(offers, [&](std::string_view one) {
    return one.size() == operation.size() + 1 + strategy.size() && one.starts_with(operation) &&
           one[operation.size()] == '/' && one.ends_with(strategy);
  });
}

double device_profile::rate(std::string_view name, double otherwise) const {
  const auto found = rates.find(name);
  return found == rates.end() ? otherwise : found->second;
}

const memory_level& device_profile::level_for(std::uint64_t bytes) const {
  const auto holds = [&](const memory_level& one) { return one.bytes >= bytes; };
  const auto found = std::ranges::find_if(levels, holds);
  return found == levels.end() ? levels.back() : *found;
}

const device_profile* machine::find(std::string_view backend, int device) const noexcept {
  const auto found = std::ranges::find_if(
      devices_, [&](const device_profile& one) { return one.backend == backend && one.device == device; });
  return found == devices_.end() ? nullptr : &*found;
}

const machine& machine::local() {
  static const machine here;
  return here;
}

}  // namespace zenith
