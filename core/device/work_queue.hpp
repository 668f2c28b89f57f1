#pragma once

/// \file
/// Work that teams make while they run: a queue of one launch, until nothing is left of it.

#include <core/device/atomics.hpp>
#include <core/device/kernel.hpp>

namespace zenith::device {

/// A view; `make_work_queue` allocates. Items come out in about the order in which they went in. Nothing is taken twice
/// and no place is used twice, so `capacity` bounds all items of the launch together.
template <class T>
struct work_queue {
  T* items = nullptr;
  u32* ready = nullptr;  ///< of each item, whether it is there
  u32* state = nullptr;
  u32 capacity = 0;

  ZENITH_FN u32* pushed() const { return state; }  ///< above `capacity`: some were refused
  ZENITH_FN u32* taken() const { return state + 1; }
  ZENITH_FN u32* left() const { return state + 2; }  ///< items that are not done

  /// By any lane that is in the body of `drain`. What it wrote before, whoever gets the item can read. False, and
  /// nothing done, when the queue is full.
  ZENITH_FN bool push(const T& item) const {
    const u32 at = atomic_add(pushed(), 1);
    if (at >= capacity) return false;
    items[at] = item;
    (void)atomic_add(left(), 1);
    atomic_publish(ready + at, 1);
    return true;
  }

  /// A word of the team: body(item) for one item after another, all lanes together, as long as any team may push
  /// another. What other lanes wrote, a barrier must order before a push. `ticket`: of the team's scratch.
  template <class Team, class Body>
  ZENITH_FN void drain(Team& team, u32* ticket, const Body& body) const {
    for (;;) {
      team.once([&]() ZENITH_BODY {
        const u32 at = atomic_add(taken(), 1);
        bool is_there = false;
        // no item is left: none will come; past the capacity neither
        if (at < capacity) {
          team.wait_until([&]() ZENITH_BODY {
            is_there = atomic_observe(ready + at) != 0;
            return is_there || atomic_observe(left()) == 0;
          });
        }
        *ticket = is_there ? at : ~u32{0};
      });
      team.barrier();
      const u32 at = *ticket;
      if (at == ~u32{0}) return;
      body(items[at]);
      team.barrier();
      team.once([this]() ZENITH_BODY { (void)atomic_add(left(), ~u32{0}); });
    }
  }
};

/// Item kernel: the items that a launch begins with.
template <class T>
struct begin_work {
  work_queue<T> queue;
  const T* first;
  u32 count;

  ZENITH_FN void operator()(u64 i) const {
    queue.items[i] = first[i];
    queue.ready[i] = 1;
    if (i == 0) *queue.pushed() = *queue.left() = count;
  }
};

/// A queue for `capacity` items, of which the first are these `count` <= capacity of the device's memory. Launches
/// begin_work<T>, which must be listed.
template <class T, class Context>
[[nodiscard]] work_queue<T> make_work_queue(Context& on, u64 capacity, const T* first, u64 count) {
  work_queue<T> queue{on.template buffer<T>(capacity), on.template buffer<u32>(capacity), on.template buffer<u32>(3),
                      static_cast<u32>(capacity)};
  on.fill_zero(queue.ready, capacity);
  on.fill_zero(queue.state, 3);
  on.for_each(count, begin_work<T>{queue, first, static_cast<u32>(count)});
  return queue;
}

}  // namespace zenith::device
