#pragma once

/// \file
/// Kernel table entries of templates over the key's type.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <zenith/backend.hpp>
#include <zenith/types.hpp>

namespace zenith::detail {

/// The entry finds both types again: it runs `OfType<T>::run(on, call)` for a call whose member `type` names T.
template <class Call, template <class> class OfType>
[[nodiscard]] constexpr kernel make_kernel_by_type(std::string_view strategy) noexcept {
  return {Call::operation, strategy, [](const execution& on, const void* call) {
            // in the order of key_type
            constexpr void (*all[])(const execution&, const Call&) = {
                OfType<float>::run,         OfType<double>::run,       OfType<std::int32_t>::run,
                OfType<std::uint32_t>::run, OfType<std::int64_t>::run, OfType<std::uint64_t>::run};
            const auto& asked = *static_cast<const Call*>(call);
            all[static_cast<std::size_t>(asked.type)](on, asked);
          }};
}

}  // namespace zenith::detail
