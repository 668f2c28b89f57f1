#pragma once

/// \file
/// The kernels of strategy "filter" (filter.hpp).

#include <type_traits>

#include <algorithms/top_k/filter_plan.hpp>
#include <algorithms/top_k/request.hpp>
#include <algorithms/top_k/scan_order.hpp>
#include <core/device/kernel.hpp>
#include <core/device/shared_state.hpp>

namespace zenith::top_k_detail {

/// Phase 1: one item of each of so many strata.
template <class Source>
struct draw_sample {
  static constexpr u64 item_cost = 64;  // a line of memory

  Source source;
  source_order<Source> order;
  u32 samples;
  source_entry<Source>* to;

  ZENITH_FN void operator()(u64 i) const {
    to[i] = entry_at(source, order, sample_position(i, source.size(), samples));
  }
};

/// Phase 2: one read, which keeps what reaches the bound and the least image. The bound may rise on the way.
template <class Source, class Order>
struct scan_source {
  using entry = typename Order::entry;

  Source source;
  device::collection<entry> survivors;
  typename Order::image_t least = 0;

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    auto mine = team.open(survivors);
    const auto make = [&](u64 i) ZENITH_BODY { return entry_at(source, Order::images(), i); };
    if constexpr (Order::may_pass_all) {
      if (Order::passes_all_keys(wanted(mine.bound()))) {
        team.each_tile(source, [&](const auto& items) ZENITH_BODY {
          mine.append(team, items, team.flag(items, passes_all<typename Order::key>{}), make);
        });
        mine.close(team);
        return;
      }
    }
    auto reaches = Order::test(wanted(mine.bound()));
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      const auto reached = team.flag(items, reaches);
      if (!team.any(reached)) [[likely]]
        return;
      mine.append(team, items, reached, make);
      reaches = Order::test(wanted(mine.bound()));
    });
    mine.close(team);
  }

 private:
  /// The bound, or one that all entries of the least image reach.
  ZENITH_FN entry wanted(const entry& bound) const {
    return bound.image() < least ? entry::make(least, ~u32{0}) : bound;
  }
};

/// Whether the sample misled: fewer than k reached its bound, or more than the collection holds. No item of the least
/// image or a better one fails a bound of a lesser image: then fewer than k are all that are wanted.
template <class Entry>
struct misled {
  device::collection<Entry> survivors;
  typename Entry::image_t least = 0;

  ZENITH_FN bool operator()() const {
    if (*survivors.count > survivors.capacity) return true;
    return *survivors.count < survivors.k && !(survivors.bound->image() < least);
  }
};

/// Phase 4 finds an entry that at least k items reach and few more: digit by digit of the entries, the image's first
/// and then the index's, which tell equal keys apart.
inline constexpr unsigned digit_bits = 11;
inline constexpr u32 digit_bins = 1U << digit_bits;

/// Digit `pass` of an entry's words, from the highest bit on.
template <class Entry>
struct digit_place {
  static constexpr unsigned image_passes = (Entry::image_bits + digit_bits - 1) / digit_bits;
  static constexpr unsigned index_passes = (32 + digit_bits - 1) / digit_bits;
  static constexpr unsigned passes = image_passes + index_passes;

  using image_t = typename Entry::image_t;

  unsigned pass;

  ZENITH_FN bool is_of_index() const { return pass >= image_passes; }
  ZENITH_FN unsigned shift() const {
    const unsigned bits = is_of_index() ? 32 : Entry::image_bits;
    const unsigned above = (is_of_index() ? pass - image_passes : pass) * digit_bits;
    return bits - above < digit_bits ? 0 : bits - above - digit_bits;
  }
  ZENITH_FN u32 mask() const {
    const unsigned bits = is_of_index() ? 32 : Entry::image_bits;
    const unsigned above = (is_of_index() ? pass - image_passes : pass) * digit_bits;
    return bits - above < digit_bits ? (1U << (bits - above)) - 1 : digit_bins - 1;
  }
  /// The part of a word above this digit.
  template <class Word>
  ZENITH_FN Word above(Word word) const {
    const unsigned first = shift() + digit_bits;
    return mask() != digit_bins - 1    ? static_cast<Word>(word & ~static_cast<Word>(mask()))
           : first >= sizeof(Word) * 8 ? Word{0}
                                       : static_cast<Word>(word >> first << first);
  }
  template <class Word>
  ZENITH_FN u32 digit(Word word) const {
    return static_cast<u32>(word >> shift()) & mask();
  }
};

/// What is known of the bound so far.
struct narrowed_bound {
  u64 image;
  u32 complement;  ///< of the index
  u32 passes;
  u64 wanted;  ///< of the items inside, so many are among the k best
  u64 above;   ///< items better than all inside
  u64 inside;  ///< items that begin with the digits found
};

struct begin_narrowing {
  narrowed_bound* found;
  u64 count;
  u64 k;

  ZENITH_FN void operator()(u64 /*i*/) const { *found = {0, 0, 0, k, 0, count}; }
};

/// Whether too many items are still inside.
struct is_too_wide {
  const narrowed_bound* found;
  u64 most;

  ZENITH_FN bool operator()() const { return found->above + found->inside > most; }
};

struct clear_bins {
  u32* bins;

  ZENITH_FN void operator()(u64 i) const { bins[i] = 0; }
};

/// Counts a digit of the images of all items that begin with the digits found: one read.
template <class Source>
struct count_image_digits {
  using entry = source_entry<Source>;
  static constexpr u32 scratch_bytes = digit_bins * sizeof(u32);

  Source source;
  source_order<Source> order;
  const narrowed_bound* found;
  u32* bins;
  digit_place<entry> place;

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    u32* const mine = team.template scratch<u32>();
    team.for_each(digit_bins, [&](u64 i) ZENITH_BODY { mine[i] = 0; });
    team.barrier();
    const auto prefix = static_cast<typename entry::image_t>(found->image);
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      team.each_item(items, [&](typename Source::key key) ZENITH_BODY {
        const auto image = order.image(key);
        if (place.above(image) == prefix) team.add(mine + place.digit(image), 1U);
      });
    });
    team.barrier();
    team.for_each(digit_bins, [&](u64 i) ZENITH_BODY {
      if (mine[i] != 0) (void)device::atomic_add(bins + i, mine[i]);
    });
  }
};

/// The same of the complemented indices of items whose image is the bound's. Seldom: it takes more equal keys
/// than the collection holds.
template <class Source>
struct count_index_digits {
  using entry = source_entry<Source>;

  Source source;
  source_order<Source> order;
  const narrowed_bound* found;
  u32* bins;
  digit_place<entry> place;

  ZENITH_FN void operator()(u64 i) const {
    if (order.image(device::key_at(source, i)) != static_cast<typename entry::image_t>(found->image)) return;
    const u32 complement = ~static_cast<u32>(i);
    if (place.above(complement) == found->complement) (void)device::atomic_add(bins + place.digit(complement), 1U);
  }
};

template <class Entry>
struct choose_digit {
  narrowed_bound* found;
  const u32* bins;
  digit_place<Entry> place;

  ZENITH_FN void operator()(u64 /*i*/) const {
    u32 digit = place.mask();
    while (bins[digit] < found->wanted) {
      found->wanted -= bins[digit];
      found->above += bins[digit];
      --digit;
    }
    found->inside = bins[digit];
    ++found->passes;
    if (place.is_of_index()) {
      found->complement |= digit << place.shift();
    } else {
      found->image |= static_cast<u64>(digit) << place.shift();
    }
  }
};

/// The scan of phase 4 begins with the bound that was found.
template <class Entry>
struct set_bound {
  const narrowed_bound* found;
  device::collection<Entry> survivors;

  ZENITH_FN void operator()(u64 /*i*/) const {
    *survivors.count = 0;
    *survivors.bound = Entry::make(static_cast<typename Entry::image_t>(found->image), ~found->complement);
  }
};

}  // namespace zenith::top_k_detail
