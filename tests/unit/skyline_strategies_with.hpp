#pragma once

/// \file
/// What defines `strategies_with<Strategies>` (skyline_on_device.hpp): for one unit each.

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <vector>

#include <algorithms/skyline/strategies.hpp>
#include <tests/device/listing_context.hpp>
#include <tests/unit/skyline_on_device.hpp>

namespace skyline_on_device {

template <class K>
inline constexpr bool is_filter = false;
template <class Request, unsigned Columns>
inline constexpr bool is_filter<zenith::skyline_family::filter_by_tiles<Request, Columns>> = true;
template <class K>
inline constexpr bool is_last_of_order = false;
template <class T>
inline constexpr bool is_last_of_order<zenith::skyline_family::order_ties<T>> = true;

/// Counts its memory: that for a sort, and for what the host gets, as other devices do.
class counting_device : public zenith::device_suite::device_like {
 public:
  template <class T>
  T* buffer(std::uint64_t n) {
    T* const at = device_like::buffer<T>(n);
    sizes_[at] = n * sizeof(T);
    now_ += n * sizeof(T);
    note(now_);
    return at;
  }
  template <class T>
  T* zeroed(std::uint64_t n) {
    T* const at = buffer<T>(n);
    fill_zero(at, n);
    return at;
  }
  void release(const void* at) {
    device_like::release(at);
    now_ -= sizes_.at(at);
    sizes_.erase(at);
  }
  template <class T>
  T* output(T* to, std::uint64_t n, zenith::memory_space space) {
    if (space == zenith::memory_space::device) return to;
    T* const at = buffer<T>(n);
    deliveries_.push_back([=] { std::copy_n(at, n, to); });
    return at;
  }
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, std::uint64_t n, int bits = 8 * sizeof(Key), int ignored = 0) {
    note(now_ + n * (sizeof(Key) + sizeof(Value)));
    device_like::sort_pairs(keys, values, n, bits, ignored);
  }
  template <zenith::device::item_kernel K>
  void for_each(std::uint64_t n, const K& run) {
    device_like::for_each(n, run);
    if constexpr (is_last_of_order<K>) {
      if (finds_ties) *run.has_ties = 1;
    }
  }
  template <zenith::device::team_kernel K>
  void for_teams(std::uint64_t n, const K& run) {
    if (!(skips_filters && is_filter<K>)) device_like::for_teams(n, run);
  }
  void finish() {
    device_like::finish();
    for (const auto& deliver : deliveries_) deliver();
    deliveries_.clear();
  }

 private:
  static void note(std::uint64_t bytes) { most_bytes = std::max(most_bytes, bytes); }

  std::uint64_t now_ = 0;
  std::unordered_map<const void*, std::uint64_t> sizes_;
  std::vector<std::function<void()>> deliveries_;
};
static_assert(zenith::device::device_context<counting_device>);

/// The other operations are tested by the conformance suite.
template <class Strategies>
std::vector<named_strategy> strategies_with() {
  std::vector<named_strategy> found;
  zenith::device::for_each_type(Strategies{}, [&]<class Strategy>(std::type_identity<Strategy>) {
    if constexpr (std::is_same_v<typename Strategy::call_type, zenith::skyline_call>) {
      found.push_back({Strategy::name, [](const zenith::skyline_call& call) {
                         counting_device on;
                         Strategy::run(on, call);
                       }});
    }
  });
  return found;
}

}  // namespace skyline_on_device
