#pragma once

/// \file
/// The team in plain loops: one lane, which holds everything. It runs every kernel in tests and debuggers, and says
/// what each word of the vocabulary means. Between two of these words no lane of any team has an identity.
///
///     index()                    which of the launch's teams this is
///     is_one_lane                whether one lane is all there is, whatever the device: then no word shares out work
///     scratch<T>(byte_offset)    the team's own memory, `scratch_bytes` of its kernel
///     for_each(n, f)             f(0) … f(n - 1), shared out to the lanes; orders nothing
///     once(f)                    f() by one lane; orders nothing
///     barrier()                  orders what lanes wrote to scratch or device memory before what they read after
///     reduce(n, none, f, op)     op over f(0) … f(n - 1), `none` where n is 0; every lane gets it; a barrier
///     any(n, f), count(n, f)     the same of a predicate
///     scan(values, n)            values[i] in scratch becomes the sum of those before it; returns the total; a barrier
///     add(at, more)              to scratch, atomic among the lanes; returns what was there before
///     each_list(n, open)         open(0) … open(n - 1) are lists, whose items have flags: bit j of word(i), where i
///                                is less than `words`, is that of item 32 i + j. Of each: put(item, rank) for all
///                                that are flagged, `rank` of them before it. It orders nothing: what is put needs
///                                places of its own
///     each_parted(n, open)       open(0) … open(n - 1) are lists of `count` <= 1024 items with unsigned keys
///                                (key_type): the `left` least items, of equal ones the first, come before the
///                                others, and both stay in their order. Of each: put(i, place) for every item i; if
///                                there are others and it asks_pivot, pivot(i) for the first of the least of them;
///                                `keys` is memory for `count` keys. It orders nothing
///     each_reduced(n, open)      open(0) … open(n - 1) are lists of `count` items. Of each: take(i, load(i), values)
///                                for every item i, once, joins what the item has to `values`,
///                                value_type[value_count], a power of two up to 32, which are none() at first;
///                                put(v, value) gets each value of all items, joined by join(a, b), if there are
///                                items. A lane loads `at_once` items before it takes them. It orders nothing
///     wait_until(test)           by one lane: returns once test() is true, which other teams must make it
///                                (work_queue.hpp)
///     each_tile(source, body)    body(items) for each of this team's tiles. Inside, no barrier and none of the words
///                                above but `add`
///     flag(items, is)            flags of a tile: is(lane)
///     any(flags)                 whether an item is flagged
///     each_item(items, use)      use(key) for every key of the tile
///     open(collection)           the team's end of a collection: bound(), append(team, items, flags, make),
///                                close(team)
///
/// `body`, `is` and `use` are called with tiles and lanes of several types. All lanes of a team must say the same words
/// in the same order; n and values must be the same for all.

#include <core/device/atomics.hpp>
#include <core/device/kernel.hpp>
#include <core/device/part_list.hpp>
#include <core/device/shared_state.hpp>

namespace zenith::device {

/// A tile that is not in memory: a function of the item. Where one thread runs a tile, loading, computing and testing
/// become one loop, which compilers vectorise; a tile that is filled first costs a store and a load an item.
template <formula_source Source, bool Full>
struct lazy_tile {
  static constexpr bool is_full = Full;
  const Source& source;
  u64 first;
  u32 count;

  ZENITH_FN auto key(u32 i) const { return key_at(source, first + i); }
};

/// One lane goes through a list of `each_list`.
template <class List>
ZENITH_FN void take_list(const List& list) {
  u32 rank = 0;
  for (u32 i = 0; i < list.words; ++i) {
    u32 flags = list.word(i);
    for (u32 j = 0; flags != 0; ++j, flags >>= 1) {
      if ((flags & 1) != 0) list.put(32 * i + j, rank++);
    }
  }
}

/// One lane goes through a list of `each_reduced`.
template <class List>
ZENITH_FN void reduce_list(const List& list) {
  if (list.count == 0) return;
  typename List::value_type values[List::value_count];
  for (u32 v = 0; v < List::value_count; ++v) values[v] = List::none();
  for (u32 i = 0; i < list.count; ++i) list.take(i, list.load(i), values);
  for (u32 v = 0; v < List::value_count; ++v) list.put(v, values[v]);
}

/// A tile of keys that were decoded to memory.
template <class Key, bool Full>
struct decoded_tile {
  static constexpr bool is_full = Full;
  const Key* keys;
  u64 first;
  u32 count;

  ZENITH_FN Key key(u32 i) const { return keys[i]; }
};

/// Items of a tile of a plain team: one bit each in a word.
inline constexpr u32 plain_tile_items = 64;

/// Flags of items `key(0)` … by plain loops. Two: hardly any tile has an item to flag, and the first loop is one that
/// compilers vectorise.
template <class Tile, class Predicate>
ZENITH_FN u64 plain_flags(const Tile& items, const Predicate& is) {
  const u32 count = Tile::is_full ? plain_tile_items : items.count;
  int some = 0;
  for (u32 i = 0; i < count; ++i) some |= is(items.key(i)) ? 1 : 0;
  if (some == 0) [[likely]]
    return 0;
  u64 flags = 0;
  for (u32 i = 0; i < count; ++i) flags |= static_cast<u64>(is(items.key(i)) ? 1 : 0) << i;
  return flags;
}

/// Calls body with the tiles of items [begin, end). `begin` is at a block's beginning where the source has blocks.
template <class Source, class Body>
ZENITH_FN void each_plain_tile(const Source& source, u64 begin, u64 end, const Body& body) {
  constexpr u32 size = plain_tile_items;
  if constexpr (block_source<Source>) {
    using key = typename Source::key;
    constexpr u32 block = Source::block_items;
    static_assert(block % size == 0);
    key keys[block];
    for (u64 at = begin; at < end; at += block) {
      source.decode(at / block, keys);
      for (u32 part = 0; part < block && at + part < end; part += size) {
        const u64 left = end - at - part;
        if (left >= size) {
          body(decoded_tile<key, true>{keys + part, at + part, size});
        } else {
          body(decoded_tile<key, false>{keys + part, at + part, static_cast<u32>(left)});
        }
      }
    }
  } else {
    u64 at = begin;
    for (; at + size <= end; at += size) body(lazy_tile<Source, true>{source, at, size});
    if (at < end) body(lazy_tile<Source, false>{source, at, static_cast<u32>(end - at)});
  }
}

/// Teams that run beside one another.
struct waits_for_others {
  template <class Test>
  static void until(const Test& test) {
    wait_until(test);
  }
};

/// `Sink<Entry>` is what the device makes of a collection.
template <template <class> class Sink, class Waits = waits_for_others>
class plain_team {
 public:
  static constexpr bool is_one_lane = true;

  plain_team(u64 index, u64 begin, u64 end, void* scratch)
      : index_(index), begin_(begin), end_(end), scratch_(scratch) {}

  [[nodiscard]] u64 index() const { return index_; }

  template <class T>
  [[nodiscard]] T* scratch(u32 byte_offset = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(scratch_) + byte_offset);
  }
  template <class F>
  void for_each(u64 n, const F& f) const {
    for (u64 i = 0; i < n; ++i) f(i);
  }
  template <class F>
  void once(const F& f) const {
    f();
  }
  void barrier() const {}

  template <class T, class F, class Op>
  T reduce(u64 n, T none, const F& f, const Op& op) const {
    T all = none;
    for (u64 i = 0; i < n; ++i) all = op(all, f(i));
    return all;
  }
  template <class F>
  bool any(u64 n, const F& f) const {
    bool found = false;
    for (u64 i = 0; i < n; ++i) found = found || f(i);
    return found;
  }
  template <class F>
  u64 count(u64 n, const F& f) const {
    u64 found = 0;
    for (u64 i = 0; i < n; ++i) found += f(i) ? 1 : 0;
    return found;
  }
  template <class T>
  T scan(T* values, u64 n) const {
    T sum{};
    for (u64 i = 0; i < n; ++i) {
      const T value = values[i];
      values[i] = sum;
      sum += value;
    }
    return sum;
  }
  template <class T>
  T add(T* at, std::type_identity_t<T> more) const {
    const T before = *at;
    *at = before + more;
    return before;
  }
  template <class Open>
  void each_list(u64 n, const Open& open) const {
    for (u64 i = 0; i < n; ++i) take_list(open(i));
  }
  template <class Open>
  void each_parted(u64 n, const Open& open) const {
    for (u64 i = 0; i < n; ++i) part_list(open(i));
  }
  template <class Open>
  void each_reduced(u64 n, const Open& open) const {
    for (u64 i = 0; i < n; ++i) reduce_list(open(i));
  }
  template <class Test>
  void wait_until(const Test& test) const {
    Waits::until(test);
  }

  template <class Source, class Body>
  void each_tile(const Source& source, const Body& body) const {
    each_plain_tile(source, begin_, end_, body);
  }
  template <class Tile, class Predicate>
  u64 flag(const Tile& items, const Predicate& is) const {
    return plain_flags(items, is);
  }
  bool any(u64 flags) const { return flags != 0; }
  template <class Tile, class Use>
  void each_item(const Tile& items, const Use& use) const {
    for (u32 i = 0; i < items.count; ++i) use(items.key(i));
  }
  template <class Entry>
  Sink<Entry> open(const collection<Entry>& to) const {
    return Sink<Entry>(to);
  }

 private:
  u64 index_;
  u64 begin_;
  u64 end_;
  void* scratch_;
};

}  // namespace zenith::device
