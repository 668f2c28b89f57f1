#include <core/choose.hpp>

#include <core/message.hpp>

namespace zenith::detail {

const kernel& check_backend(const execution& on, std::string_view operation, std::string_view function,
                            std::string_view given, memory_space space, std::string_view strategy) {
  const auto& name = on.target->name;
  if (space == memory_space::device && on.target->memory != memory_space::device) {
    throw error(
        error_code::invalid_argument,
        std::string{function} + ": " + std::string{given} + " is a device_span, but this backend works on host memory",
        name);
  }
  if (const auto* found = find_kernel(*on.target, operation, strategy)) return *found;
  std::string offers;
  for (const auto& entry : on.target->kernels) {
    if (entry.run != nullptr && entry.operation == operation)
      offers += (offers.empty() ? "" : ", ") + std::string{entry.strategy};
  }
  throw error(error_code::unsupported,
              std::string{function} + ": options.strategy is '" + shown(strategy) +
                  "', which this backend does not offer; it offers: " + offers,
              name);
}

void reject_choice(std::string_view function, std::string_view lies, memory_space space, std::string_view asked,
                   std::span<const std::string_view> names) {
  std::string message{function};
  if (asked == "auto") {
    message += ": no device of this machine can run it";
    if (space == memory_space::device) message += "; " + std::string{lies} + " in the memory of a device";
    throw error(error_code::unsupported, message);
  }
  message += ": options.strategy is '" + shown(asked) + "', which no usable device offers; there are: ";
  for (const auto name : names) message += (name == names.front() ? "" : ", ") + std::string{name};
  throw error(error_code::unsupported, message);
}

}  // namespace zenith::detail
