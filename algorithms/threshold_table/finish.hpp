#pragma once

/// \file
/// From kept rows to the result: the k best of them, and their scores with the sign that the caller knows.

#include <algorithms/threshold_table/open.hpp>

namespace zenith::threshold_table_family {

template <class Entry>
struct split_images {
  const Entry* entries;
  typename Entry::image_t* images;

  ZENITH_FN void operator()(u64 i) const { images[i] = entries[i].image(); }
};

/// Those of an array of entries that are not worse than `least`.
template <class Entry>
struct keep_best {
  const Entry* entries;
  const Entry* least;
  device::appender<Entry> to;

  ZENITH_FN void operator()(u64 i) const {
    if (!better(*least, entries[i])) to.append(entries[i]);
  }
};

/// Those of an array of entries that reach the collection's bound.
template <class Entry>
struct collect_entries {
  device::plain<typename Entry::image_t> source;
  const Entry* entries;
  device::collection<Entry> survivors;

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    using image = typename Entry::image_t;
    auto mine = team.open(survivors);
    const auto make = [&](u64 i) ZENITH_BODY { return entries[i]; };
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      const image limit = mine.bound().image();
      const auto reached = team.flag(items, [limit](const auto& images) ZENITH_BODY {
        using lane = std::remove_cvref_t<decltype(images)>;
        return images >= lane(limit);
      });
      if (!team.any(reached)) return;
      mine.append(team, items, reached, make);
    });
    mine.close(team);
  }
};

template <class Entry>
struct list_ids {
  const Entry* entries;
  u32* ids;

  ZENITH_FN void operator()(u64 i) const { ids[i] = entries[i].index(); }
};

/// The k best rows as the caller wants them. An entry has the score's image, which says neither the sign of zero nor
/// what a NaN carries, so the score is computed again.
template <class T, class Index>
struct write_rows {
  columns_of<T> scored;  ///< with the caller's weights
  const u32* positions;  ///< nullptr: the rows stand in the order of the entries
  const entry_of<T>* best;
  score_of<T>* out_scores;
  Index* out_indices;

  ZENITH_FN void operator()(u64 i) const { write(i, best[i]); }
  ZENITH_FN void write(u64 i, const entry_of<T>& one) const {
    const u32 id = one.index();
    out_scores[i] = score_at(scored, positions == nullptr ? i : positions[id]);
    out_indices[i] = static_cast<Index>(id);
  }
};

}  // namespace zenith::threshold_table_family
