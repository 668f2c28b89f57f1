#pragma once

/// \file
/// The kernels of strategy "blocks" that choose what is opened.

#include <algorithms/threshold_table/open.hpp>

namespace zenith::threshold_table_family {

/// Whether an entry is not worse than a bound.
template <class Entry>
struct reaches {
  const Entry* entries;
  const Entry* bound;

  ZENITH_FN bool operator()(u64 i) const { return !better(*bound, entries[i]); }
};

/// Whether a listed block is still to be opened: it was not in the last round, and may have one of the k best rows.
template <class Entry>
struct is_left {
  const Entry* bounds;
  const Entry* cut;
  const Entry* least;

  ZENITH_FN bool operator()(u64 i) const { return better(*cut, bounds[i]) && !better(*least, bounds[i]); }
};

/// What sorts listed blocks by falling bound. Of equal scores in 64 bits the order is any.
template <class Entry>
struct order_blocks {
  const Entry* bounds;
  const u32* chosen;  ///< places in the list; nullptr: all
  u64* keys;
  u32* places;

  ZENITH_FN void operator()(u64 i) const {
    places[i] = chosen == nullptr ? static_cast<u32>(i) : chosen[i];
    keys[i] = key(bounds[places[i]]);
  }

 private:
  [[nodiscard]] ZENITH_FN static u64 key(const ordered::entry32& bound) { return ~bound.packed; }
  [[nodiscard]] ZENITH_FN static u64 key(const ordered::entry64& bound) { return ~bound.high; }
};

/// Whether neither a block nor those behind it in this order may have one of the k best rows.
template <class Entry>
struct is_below {
  const Entry* bound;
  const Entry* least;

  ZENITH_FN bool operator()() const { return bound->image() < least->image(); }
};

/// Where listed blocks begin.
struct gather_begins {
  const u32* blocks;
  const u32* chosen;  ///< places in the list
  const u32* begins;
  u32* to_blocks;
  u32* to_begins;

  ZENITH_FN void operator()(u64 i) const {
    to_blocks[i] = blocks[chosen[i]];
    to_begins[i] = begins[to_blocks[i]];
  }
};

/// The block at a place of listed groups.
struct listed_blocks {
  const u32* groups;
  u64 blocks;

  [[nodiscard]] ZENITH_FN u64 at(u64 place) const {
    return u64{groups[place / group_blocks]} * group_blocks + place % group_blocks;
  }
};

/// What the first round opened: of the groups that reach one bound, the blocks that reach another.
template <class Entry>
struct opened_before {
  const Entry* groups;
  const Entry* group_cut;  ///< nullptr: nothing was opened
  const Entry* block_cut;

  [[nodiscard]] ZENITH_FN bool has(u64 block, const Entry& bound) const {
    return group_cut != nullptr && !better(*group_cut, groups[block / group_blocks]) && !better(*block_cut, bound);
  }
};

/// Whether the block at a place of listed groups may have one of the k best rows, and was not opened.
template <class Entry>
struct is_candidate {
  listed_blocks listed;
  const Entry* bounds;
  const Entry* least;
  opened_before<Entry> before;

  ZENITH_FN bool operator()(u64 place) const {
    const u64 block = listed.at(place);
    return block < listed.blocks && !better(*least, bounds[place]) && !before.has(block, bounds[place]);
  }
};

struct number_groups {
  u32* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = static_cast<u32>(i); }
};

template <class Entry>
struct gather_listed {
  listed_blocks listed;
  const Entry* bounds;
  const u32* places;
  Entry* to_bounds;
  u32* to_blocks;

  ZENITH_FN void operator()(u64 i) const {
    to_bounds[i] = bounds[places[i]];
    to_blocks[i] = static_cast<u32>(listed.at(places[i]));
  }
};

template <class Entry>
struct gather_left {
  const Entry* bounds;
  const u32* blocks;
  const u32* places;
  Entry* to_bounds;
  u32* to_blocks;

  ZENITH_FN void operator()(u64 i) const {
    to_bounds[i] = bounds[places[i]];
    to_blocks[i] = blocks[places[i]];
  }
};

}  // namespace zenith::threshold_table_family
