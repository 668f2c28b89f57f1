#pragma once

/// \file
/// What defines `strategies_with<Method>` (skyline_on_device.hpp): for one unit each.

#include <algorithms/skyline/strategies.hpp>
#include <tests/device/listing_context.hpp>
#include <tests/unit/skyline_on_device.hpp>

namespace skyline_on_device {

struct counting_device : zenith::device_suite::device_like {
  template <class T>
  T* buffer(std::uint64_t n) {
    bytes_asked_for += n * sizeof(T);
    return device_like::buffer<T>(n);
  }
  template <class T>
  T* zeroed(std::uint64_t n) {
    bytes_asked_for += n * sizeof(T);
    return device_like::zeroed<T>(n);
  }
};

/// The other operations are tested by the conformance suite.
template <class Method>
std::vector<named_strategy> strategies_with() {
  std::vector<named_strategy> found;
  zenith::device::for_each_type(zenith::skyline_family::strategies{},
                                [&]<class Strategy>(std::type_identity<Strategy>) {
                                  if constexpr (std::is_same_v<typename Strategy::call_type, zenith::skyline_call>) {
                                    using method = std::remove_cv_t<decltype(Strategy::how)>;
                                    static_assert(std::is_same_v<method, zenith::skyline_family::bitmap_method> ||
                                                      std::is_same_v<method, zenith::skyline_family::value_method> ||
                                                      std::is_same_v<method, zenith::skyline_family::tree_method>,
                                                  "every_strategy() leaves this one out");
                                    if constexpr (std::is_same_v<method, Method>) {
                                      found.push_back({Strategy::name, [](const zenith::skyline_call& call) {
                                                         counting_device on;
                                                         Strategy::run(on, call);
                                                       }});
                                    }
                                  }
                                });
  return found;
}

}  // namespace skyline_on_device
