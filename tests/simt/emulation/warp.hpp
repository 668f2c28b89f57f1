#pragma once

/// \file
/// The warp operations of the vocabulary, emulated. See <backends/cuda/simt/vocabulary.hpp>.

#include <source_location>
#include <type_traits>

#include <backends/cuda/simt/common.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

namespace detail {

using operation = ::zenith::simt_engine::warp_operation;

template <class T>
T exchange(operation how, std::uint32_t mask, const T& value, unsigned argument, const std::source_location& where) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0 &&
                sizeof(T) <= ::zenith::simt_engine::widest_warp_value);
  T moved = value;
  ::zenith::simt_engine::warp_meet(how, mask, &moved, sizeof(T), argument, where);
  return moved;
}

inline std::uint32_t vote(operation how, std::uint32_t mask, bool predicate, const std::source_location& where) {
  return ::zenith::simt_engine::warp_meet(how, mask, nullptr, 0, predicate ? 1 : 0, where);
}

template <class T>
std::uint32_t combine(operation how, std::uint32_t mask, T value, const std::source_location& where) {
  return ::zenith::simt_engine::warp_meet(how, mask, &value, sizeof(T), 0, where);
}

}  // namespace detail

inline void warp_barrier(std::uint32_t mask, std::source_location where = std::source_location::current()) {
  detail::vote(detail::operation::barrier, mask, false, where);
}

template <class T>
T shuffle(std::uint32_t mask, const T& value, unsigned source,
          std::source_location where = std::source_location::current()) {
  return detail::exchange(detail::operation::shuffle, mask, value, source, where);
}

template <class T>
T shuffle_up(std::uint32_t mask, const T& value, unsigned distance,
             std::source_location where = std::source_location::current()) {
  return detail::exchange(detail::operation::shuffle_up, mask, value, distance, where);
}

template <class T>
T shuffle_down(std::uint32_t mask, const T& value, unsigned distance,
               std::source_location where = std::source_location::current()) {
  return detail::exchange(detail::operation::shuffle_down, mask, value, distance, where);
}

template <class T>
T shuffle_xor(std::uint32_t mask, const T& value, unsigned lanes,
              std::source_location where = std::source_location::current()) {
  return detail::exchange(detail::operation::shuffle_xor, mask, value, lanes, where);
}

inline std::uint32_t ballot(std::uint32_t mask, bool predicate,
                            std::source_location where = std::source_location::current()) {
  return detail::vote(detail::operation::ballot, mask, predicate, where);
}
inline bool any(std::uint32_t mask, bool predicate, std::source_location where = std::source_location::current()) {
  return detail::vote(detail::operation::any, mask, predicate, where) != 0;
}
inline bool all(std::uint32_t mask, bool predicate, std::source_location where = std::source_location::current()) {
  return detail::vote(detail::operation::all, mask, predicate, where) != 0;
}

inline std::uint32_t match_any(std::uint32_t mask, std::uint32_t value,
                               std::source_location where = std::source_location::current()) {
  return detail::combine(detail::operation::match_any, mask, value, where);
}
inline std::uint32_t match_any(std::uint32_t mask, std::uint64_t value,
                               std::source_location where = std::source_location::current()) {
  return detail::combine(detail::operation::match_any, mask, value, where);
}

inline std::uint32_t reduce_add(std::uint32_t mask, std::uint32_t value,
                                std::source_location where = std::source_location::current()) {
  return detail::combine(detail::operation::reduce_add, mask, value, where);
}
inline std::uint32_t reduce_min(std::uint32_t mask, std::uint32_t value,
                                std::source_location where = std::source_location::current()) {
  return detail::combine(detail::operation::reduce_min, mask, value, where);
}
inline std::uint32_t reduce_max(std::uint32_t mask, std::uint32_t value,
                                std::source_location where = std::source_location::current()) {
  return detail::combine(detail::operation::reduce_max, mask, value, where);
}

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM
