#pragma once

#include <backends/kokkos/context.hpp>
#include <catch.hpp>
#include <core/device/sequential.hpp>
#include <settings.hpp>
#include <tests/device/suite.hpp>

/// The suite of the device context on Kokkos' contexts, of which each takes a unit of its own.
template <class Teams>
void check_words(const zenith::device_suite::suite_limits& limits) {
  const auto faults = zenith::device_suite::run_suite(
      [] { return zenith::kokkos_backend::context_on<Teams>(zenith::execution{}); }, limits);
  for (const auto& fault : faults) FAIL_CHECK(fault);
  CHECK(faults.empty());
}
