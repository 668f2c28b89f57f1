#pragma once

/// \file
/// Where few rows of a device's table are left by the prefilter, each is compared with all of them. That is more tests
/// than an order and rounds take, but two launches, which need no answer: they are enqueued before the host knows how
/// many rows are left, and where those are many they do nothing.

#include <type_traits>

#include <algorithms/skyline/table_prefilter.hpp>
#include <algorithms/skyline/widths.hpp>

namespace zenith::skyline_family {

/// All pairs of so many rows with 12 columns are some 10 us of a GPU's time, as long as four launches.
inline constexpr u32 most_few_rows = 4096;
inline constexpr u32 most_few_columns = 16;  ///< of which a row lies in registers

/// Marks which of the rows that are left are dominated by one of them. A team takes some rows and a tile of all.
template <class T, u32 Columns>
struct compare_few {
  using image = typename row_source<T>::image;
  static constexpr u32 team_rows = 256;
  static constexpr u32 tile = pivot_count;
  static constexpr u32 scratch_bytes = tile * Columns * sizeof(image);
  static constexpr u32 wanted_teams = Columns * sizeof(image) <= 48 ? 4 : 2;
  static constexpr u64 item_cost = u64{1} << 16;

  row_source<T> from;
  const u32* left;
  const u32* count;  ///< of them
  u32 tiles;
  bool keeps_twins;  ///< else an equal row before it counts as well
  u8* is_out;        ///< zero at first
  test_counters counters;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u32 n = *count;
    const u32 first = static_cast<u32>(t) / tiles * team_rows;
    const u32 begin = static_cast<u32>(t) % tiles * tile;
    if (n > most_few_rows || first >= n || begin >= n) return;
    image* const others = team.template scratch<image>();
    // behind the last are rows that are the worst in all columns
    team.for_each(tile * (Columns / 4), [&](u64 j) ZENITH_BODY {
      const u32 i = static_cast<u32>(j) % tile;
      image four[4];
      load(begin + i < n ? begin + i : n - 1, static_cast<u32>(j) / tile * 4, four);
      for (u32 k = 0; k < 4; ++k) {
        others[(j / tile * 4 + k) * tile + i] = begin + i < n ? four[k] : static_cast<image>(~image{0});
      }
    });
    team.barrier();
    const u32 rows = n - first < team_rows ? n - first : team_rows;
    team.for_each(rows, [&](u64 i) ZENITH_BODY {
      const u32 at = first + static_cast<u32>(i);
      image own[Columns];
      ZENITH_UNROLLED
      for (u32 c = 0; c < Columns; c += 4) {
        image four[4];
        load(at, c, four);
        ZENITH_UNROLLED
        for (u32 k = 0; k < 4; ++k) own[c + k] = four[k];
      }
      const bool keeps = keeps_twins;
      if (is_out_by(own, others, 0, tile, [=](u32 other) ZENITH_BODY { return !keeps && begin + other < at; })) {
        device::atomic_store(is_out + at, u8{1});  // other teams may find it, too
      }
    });
    team.once([&]() ZENITH_BODY { counters.dominance.add(u64{rows} * (n - begin < tile ? n - begin : tile)); });
  }

 private:
  /// Values of a row in four columns from `c` on, zeros where there are no more.
  ZENITH_FN void load(u32 at, u32 c, image (&to)[4]) const {
    ZENITH_UNROLLED
    for (u32 k = 0; k < 4; ++k) to[k] = 0;
    if (c >= from.columns) return;
    from.four_at(left[at], c, to);
    ZENITH_UNROLLED
    for (u32 k = 1; k < 4; ++k) to[k] = c + k < from.columns ? to[k] : image{0};
  }
};

/// Where ids go whose number the host does not know.
struct ids_target {
  void* at = nullptr;  ///< nullptr: nowhere
  u64 most = 0;        ///< more are not written at all
  u32 index_bytes = 8;

  ZENITH_FN void write(u64 i, u32 row) const {
    if (index_bytes == 4) {
      static_cast<u32*>(at)[i] = row;
    } else {
      static_cast<u64*>(at)[i] = row;
    }
  }
};

/// Lists the rows that are not marked, and writes their ids.
struct list_few {
  static constexpr u32 lanes = 256;
  static constexpr u32 share = most_few_rows / lanes;
  static constexpr u32 scratch_bytes = lanes * 4;
  static constexpr u64 item_cost = u64{1} << 16;

  table_findings* found;
  const u32* left;
  const u8* is_out;
  bool rejects_nan;
  u32* kept;
  ids_target ids;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*t*/) const {
    const u32 n = found->left;
    if (n > most_few_rows) return;
    u32* const counts = team.template scratch<u32>();
    team.for_each(lanes, [&](u64 i) ZENITH_BODY {
      u32 some = 0;
      for (u32 at = static_cast<u32>(i) * share; at < (i + 1) * share && at < n; ++at)
        some += is_out[at] == 0 ? 1U : 0U;
      counts[i] = some;
    });
    team.barrier();
    const u32 all = team.scan(counts, lanes);
    const bool writes = ids.at != nullptr && all <= ids.most && !(rejects_nan && found->nan_at != no_nan);
    team.for_each(lanes, [&](u64 i) ZENITH_BODY {
      u32 place = counts[i];
      for (u32 at = static_cast<u32>(i) * share; at < (i + 1) * share && at < n; ++at) {
        if (is_out[at] != 0) continue;
        kept[place] = left[at];
        if (writes) ids.write(place, left[at]);
        ++place;
      }
    });
    team.once([&]() ZENITH_BODY { found->members = all; });
  }
};

/// Ids of rows in a list, as far as they have an order.
struct write_found_ids {
  const table_findings* found;
  const u32* rows;
  ids_target ids;

  ZENITH_FN void operator()(u64 i) const {
    if (i < found->left && found->left <= ids.most && found->has_ties == 0) ids.write(i, rows[i]);
  }
};

namespace detail {

/// What is asked where few rows are left.
struct few_request {
  bool keeps_twins;
  bool rejects_nan;
  ids_target ids;
  test_counters counters;
};

/// The skyline of the rows that are left, if they are few: their number is found->members. nullptr: not tried.
template <class T, class Context>
[[nodiscard]] u32* compare_few_rows(Context& on, const row_source<T>& from, const u32* left, table_findings* found,
                                    const few_request& asked) {
  if (from.columns > most_few_columns) return nullptr;
  const u32 most = from.rows < most_few_rows ? static_cast<u32>(from.rows) : most_few_rows;
  u8* const is_out = on.template zeroed<u8>(most);
  u32* const kept = on.template buffer<u32>(most);
  with_padded(from.columns, [&]<unsigned Columns>(std::integral_constant<unsigned, Columns>) {
    if constexpr (Columns <= most_few_columns) {
      using compare = compare_few<T, Columns>;
      const u32 tiles = (most + compare::tile - 1) / compare::tile;
      const u32 parts = (most + compare::team_rows - 1) / compare::team_rows;
      on.for_teams(u64{parts} * tiles,
                   compare{from, left, &found->left, tiles, asked.keeps_twins, is_out, asked.counters});
    }
  });
  on.for_teams(1, list_few{found, left, is_out, asked.rejects_nan, kept, asked.ids});
  return kept;
}

}  // namespace detail

}  // namespace zenith::skyline_family
