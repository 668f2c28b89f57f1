#pragma once

/// \file
/// State that the teams of a launch share: views, which kernels hold as members. The context allocates what they show.

#include <core/device/atomics.hpp>

namespace zenith::device {

/// A bound that all teams raise and that never falls: an image of which larger is better (core/key_order.hpp).
template <class Image>
struct running_threshold {
  Image* at = nullptr;

  ZENITH_FN Image get() const { return atomic_load(at); }
  ZENITH_FN void raise(Image image) const {
    if (atomic_load(at) < image) (void)atomic_max(at, image);
  }
};

/// Results of unknown number, in no order. Counts on past its capacity and stores nothing there: who reads the count
/// sees the overflow.
template <class T>
struct appender {
  T* items = nullptr;
  u32* count = nullptr;
  u32 capacity = 0;

  ZENITH_FN void append(const T& item) const {
    const u32 at = atomic_add(count, 1);
    if (at < capacity) items[at] = item;
  }
};

/// Counts events by name (`context::counter`). One that nobody asked for costs a test of a null pointer.
struct event_counter {
  u64* at = nullptr;

  ZENITH_FN bool is_on() const { return at != nullptr; }
  ZENITH_FN void add(u64 more) const {
    if (at != nullptr) (void)atomic_add(at, more);
  }
};

/// Survivors of unknown number: at least the k best entries (core/entry.hpp) of those that it was given. What is worse
/// than k others may be dropped, and then the bound rises. That is a promise; how it is kept is the device's business:
/// a buffer for each worker that selects when it is full, or one array and a counter.
///
/// A kernel that collects holds its collection as a member called `survivors`.
template <class Entry>
struct collection {
  Entry* entries = nullptr;  ///< the first `count` hold them, in any order, once the launch has ended
  u32* count = nullptr;      ///< exact once the launch has ended; above `capacity`: some were lost
  Entry* bound = nullptr;    ///< what is worse need not be given; begins as the worst, and may be set before a launch
  u32 capacity = 0;
  u32 k = 0;
  void* workers = nullptr;  ///< the device's own
};

}  // namespace zenith::device
