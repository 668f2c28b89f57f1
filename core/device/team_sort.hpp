#pragma once

/// \file
/// A team sorts several segments of its scratch at once. A bitonic sorter, whose first step of a merge compares
/// mirrored places: so every comparison puts the smaller word first, and a segment may have any length, as if words
/// above all others followed. Lanes take 16 words at a time to registers, which is four steps for one way through
/// scratch.

#include <core/device/kernel.hpp>

namespace zenith::device {

/// Segments of u32 words in scratch. Each begins at a multiple of `block`, and is padded to one.
class segment_sort {
 public:
  static constexpr u32 block = 32;

  /// Of one segment.
  struct segment {
    u32 begin;
    u32 count;
  };

  /// Where word i lies: lanes that take 16 consecutive words each find them in different banks.
  [[nodiscard]] ZENITH_FN static u32 place_of(u32 i) { return i ^ (i / block % block); }
  [[nodiscard]] ZENITH_FN static u32 padded(u32 count) { return (count + block - 1) / block * block; }

  /// Sorts all segments within the first n words, none of which is longer than `longest`; `segment_at(b)` is the one
  /// that block b belongs to. Word i of scratch is words[place_of(i)]; no word is ~0. A word of the team: a barrier
  /// before it is the caller's, one is behind it. O(n log^2 longest).
  template <class Team, class SegmentAt>
  ZENITH_FN static void sort(Team& team, u32* words, u32 n, u32 longest, const SegmentAt& segment_at) {
    const u32 groups = n / group;
    team.for_each(groups, [&](u64 item) ZENITH_BODY {
      const u32 first = static_cast<u32>(item) * group;
      const segment of = segment_at(first / block);
      if (first - of.begin >= of.count) return;
      u32 values[group];
      const places all{words, of, first - of.begin, 1, first - of.begin + half, 1};
      all.load(values);
      sort_group(values);
      all.store(values);
    });
    team.barrier();
    for (u32 size = 2 * group; size / 2 < longest; size *= 2) {
      u32 stride = size / group;
      each_group(team, groups, segment_at, stride, [&](const segment& of, u32 begin, u32 offset) ZENITH_BODY {
        // where there is no second half, the first is sorted
        if (begin + size / 2 >= of.count) return;
        u32 values[group];
        const places all{words, of, begin + offset, stride, begin + size / 2 + (stride - 1 - offset), stride};
        all.load(values);
        ZENITH_UNROLLED
        for (u32 j = 0; j < half; ++j) order(values[j], values[group - 1 - j]);
        merge_steps<half>(values);
        all.store(values);
      });
      while (stride > 1) {
        stride = stride > group ? stride / group : 1;
        each_group(team, groups, segment_at, stride, [&](const segment& of, u32 begin, u32 offset) ZENITH_BODY {
          u32 values[group];
          const places all{words, of, begin + offset, stride, begin + offset + half * stride, stride};
          all.load(values);
          merge_steps<group>(values);
          all.store(values);
        });
      }
    }
  }

 private:
  static constexpr u32 group = 16;
  static constexpr u32 half = group / 2;

  /// Of a lane's words: eight from `low` on and eight from `high` on, counted from the segment's beginning.
  struct places {
    u32* words;
    segment of;
    u32 low;
    u32 low_stride;
    u32 high;
    u32 high_stride;

    [[nodiscard]] ZENITH_FN u32 at(u32 j) const {
      return j < half ? low + j * low_stride : high + (j - half) * high_stride;
    }
    ZENITH_FN void load(u32 (&values)[group]) const {
      ZENITH_UNROLLED
      for (u32 j = 0; j < group; ++j) values[j] = at(j) < of.count ? words[place_of(of.begin + at(j))] : ~u32{0};
    }
    ZENITH_FN void store(const u32 (&values)[group]) const {
      ZENITH_UNROLLED
      for (u32 j = 0; j < group; ++j) {
        if (at(j) < of.count) words[place_of(of.begin + at(j))] = values[j];
      }
    }
  };

  /// use(segment, begin, offset) for every group of words `stride` apart, a power of two, in the segments' parts of 16
  /// strides, and a barrier.
  template <class Team, class SegmentAt, class Use>
  ZENITH_FN static void each_group(Team& team, u32 groups, const SegmentAt& segment_at, u32 stride, const Use& use) {
    team.for_each(groups, [&](u64 item) ZENITH_BODY {
      const u32 first = static_cast<u32>(item) * group;
      const segment of = segment_at(first / block);
      // a last part that is not whole has as many groups as others
      const u32 part = stride * group;
      const u32 all = ((of.count + part - 1) & ~(part - 1)) / group;
      const u32 own = padded(of.count) / group;
      for (u32 at = (first - of.begin) / group; at < all; at += own) {
        const u32 offset = at & (stride - 1);
        const u32 begin = (at - offset) * group;
        if (begin + offset < of.count) use(of, begin, offset);
      }
    });
    team.barrier();
  }

  ZENITH_FN static void order(u32& low, u32& high) {
    const u32 less = low < high ? low : high;
    high = low < high ? high : low;
    low = less;
  }
  /// Of `Length` words each: those half as far apart, a quarter and so on.
  template <u32 Length>
  ZENITH_FN static void merge_steps(u32 (&values)[group]) {
    ZENITH_UNROLLED
    for (u32 stride = Length / 2; stride > 0; stride /= 2) {
      ZENITH_UNROLLED
      for (u32 j = 0; j < group; ++j) {
        if ((j & stride) == 0) order(values[j], values[j | stride]);
      }
    }
  }
  ZENITH_FN static void sort_group(u32 (&values)[group]) {
    ZENITH_UNROLLED
    for (u32 size = 2; size <= group; size *= 2) {
      ZENITH_UNROLLED
      for (u32 j = 0; j < group; ++j) {
        if ((j & (size / 2)) == 0) order(values[j], values[j ^ (size - 1)]);
      }
      ZENITH_UNROLLED
      for (u32 stride = size / 4; stride > 0; stride /= 2) {
        ZENITH_UNROLLED
        for (u32 j = 0; j < group; ++j) {
          if ((j & stride) == 0) order(values[j], values[j | stride]);
        }
      }
    }
  }
};

}  // namespace zenith::device
