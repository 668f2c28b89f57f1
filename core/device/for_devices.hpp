#pragma once

/// \file
/// Strategies that only hosts offer: a strategy (family.hpp) may say `static constexpr bool is_for_hosts = true`. Its
/// text is one worker's, and a device's one lane would take hundreds of times as long; or there is none for devices.

#include <type_traits>

#include <core/device/list.hpp>

namespace zenith::device {

template <class Strategy>
concept host_strategy = requires {
  requires Strategy::is_for_hosts;
};

namespace detail {

template <class Strategies>
struct for_devices;
template <class... Strategies>
struct for_devices<list<Strategies...>> {
  using type = device::concat<std::conditional_t<host_strategy<Strategies>, list<>, list<Strategies>>...>;
};

}  // namespace detail

/// Those of a list that every device offers.
template <class Strategies>
using for_devices = typename detail::for_devices<Strategies>::type;

/// Those that a backend offers whose teams may be the host's threads (`runs_on_host`).
template <class Strategies, bool RunsOnHost>
using offered_by = std::conditional_t<RunsOnHost, Strategies, for_devices<Strategies>>;

}  // namespace zenith::device
