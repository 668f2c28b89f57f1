#pragma once

/// \file
/// Registration of a family. Its folder has
///
///     family.hpp       light: its call structures, its strategies as types, and `using strategies = list<...>`
///     strategies.hpp   their texts, and `using kernels = list<...>`: every kernel that they launch on hosts, for the
///                      CPU's units; other backends compile what the texts launch there
///
/// in namespace zenith::<family>, and algorithms/CMakeLists.txt has a line `zenith_family(<family>)`. From these follow
/// the units of every backend and instruction set and the kernel tables.
///
/// A strategy is a type with
///
///     static constexpr std::string_view name = "…";
///     using call_type = …;         the call structure of its operation (zenith/backend.hpp)
///     template <device_context Context>
///     static void run(Context& on, const call_type& call);

#include <array>
#include <type_traits>

#include <core/device/list.hpp>
#include <zenith/backend.hpp>

namespace zenith::device {

/// Entries of a backend's kernel table. `Runner<S>::run(execution, call)` makes the backend's context and runs S there.
template <template <class> class Runner, class... Strategies>
[[nodiscard]] constexpr std::array<::zenith::kernel, sizeof...(Strategies)> kernel_entries(
    list<Strategies...> /*all*/) {
  return {make_kernel<typename Strategies::call_type, Runner<Strategies>::run>(Strategies::name)...};
}

/// A backend's own kernels, and those of the families behind them.
template <std::size_t A, std::size_t B>
[[nodiscard]] constexpr std::array<::zenith::kernel, A + B> joined(const ::zenith::kernel (&own)[A],
                                                                   const std::array<::zenith::kernel, B>& families) {
  std::array<::zenith::kernel, A + B> all{};
  for (std::size_t i = 0; i < A; ++i) all[i] = own[i];
  for (std::size_t i = 0; i < B; ++i) all[A + i] = families[i];
  return all;
}

/// Makes a unit hold Runner<S>::run of every strategy: `template struct keep<runner, strategies>;`
template <template <class> class Runner, class Strategies>
struct keep;
template <template <class> class Runner, class... Strategies>
struct keep<Runner, list<Strategies...>> {
  static const void* const all[];
};
template <template <class> class Runner, class... Strategies>
const void* const keep<Runner, list<Strategies...>>::all[] = {
    reinterpret_cast<const void*>(&Runner<Strategies>::run)..., nullptr};

}  // namespace zenith::device
