#pragma once

/// \file
/// The atomics of core/device, emulated: in a kernel they are the vocabulary's, so that the engine knows them as
/// atomic; outside of one there is a single thread. ZENITH_DEVICE_ATOMICS_HEADER names this file.

#include <source_location>
#include <type_traits>

#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::device {

namespace detail {

template <class T, class Change>
ZENITH_FN T change_alone(T* at, const Change& change) {
  const T before = *at;
  *at = change(before);
  return before;
}

}  // namespace detail

template <class T>
ZENITH_FN T atomic_add(T* at, std::type_identity_t<T> value,
                       std::source_location where = std::source_location::current()) {
  if (simt_engine::is_in_kernel()) return simt::atomic_add(at, value, where);
  return detail::change_alone(at, [&](T before) { return simt::detail::wrapping_sum(before, value); });
}
template <class T>
ZENITH_FN T atomic_max(T* at, std::type_identity_t<T> value,
                       std::source_location where = std::source_location::current()) {
  if (simt_engine::is_in_kernel()) return simt::atomic_max(at, value, where);
  return detail::change_alone(at, [&](T before) { return std::max(before, value); });
}
template <class T>
ZENITH_FN T atomic_min(T* at, std::type_identity_t<T> value,
                       std::source_location where = std::source_location::current()) {
  if (simt_engine::is_in_kernel()) return simt::atomic_min(at, value, where);
  return detail::change_alone(at, [&](T before) { return std::min(before, value); });
}
template <class T>
ZENITH_FN T atomic_or(T* at, std::type_identity_t<T> value,
                      std::source_location where = std::source_location::current()) {
  const auto change = [&](T before) { return static_cast<T>(before | value); };
  if (simt_engine::is_in_kernel()) return simt::detail::atomic_change<simt::scope::device>(at, where, change);
  return detail::change_alone(at, change);
}
template <class T>
ZENITH_FN T atomic_load(const T* at, std::source_location where = std::source_location::current()) {
  return simt_engine::is_in_kernel() ? simt::atomic_load(at, where) : *at;
}
template <class T>
ZENITH_FN void atomic_store(T* at, std::type_identity_t<T> value,
                            std::source_location where = std::source_location::current()) {
  if (simt_engine::is_in_kernel()) {
    simt::atomic_store(at, value, where);
  } else {
    *at = value;
  }
}
template <class T>
ZENITH_FN void atomic_publish(T* at, std::type_identity_t<T> value,
                              std::source_location where = std::source_location::current()) {
  if (simt_engine::is_in_kernel()) simt::fence();
  atomic_store(at, value, where);
}
template <class T>
ZENITH_FN T atomic_observe(const T* at, std::source_location where = std::source_location::current()) {
  const T value = atomic_load(at, where);
  if (simt_engine::is_in_kernel()) simt::fence();
  return value;
}
/// The test's atomics let other threads run; a test that never holds is a fault of the engine's.
template <class Test>
ZENITH_FN void wait_until(const Test& test) {
  while (!test()) {
  }
}

}  // namespace zenith::device
