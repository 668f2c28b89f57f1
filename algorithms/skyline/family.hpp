#pragma once

/// \file
/// What there is of the skyline: its strategies. Their texts and kernels are in strategies.hpp.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <core/device/list.hpp>
#include <zenith/skyline_call.hpp>

namespace zenith::skyline_family {

/// What comes first.
enum class row_order : std::uint8_t {
  sum,          ///< of a row's images
  least_value,  ///< of a row's images, then the sum
  grid,         ///< <bits of the median's mask, that mask in Gray code, sum>
};

/// How a strategy that compares rows by their values goes about it.
struct value_method {
  row_order order = row_order::sum;
  bool is_prefiltered = true;
  bool has_quartiles = true;  ///< masks have bits of the quartiles, not of the median alone
  bool has_pivots = false;    ///< rows of a partition of the median have masks by its first row
  bool is_padded = false;     ///< rows with the same mask of the median begin at a multiple of 32
  /// 0: a block of rows is compared with the skyline found so far, and then with itself. Else so many rows of those
  /// that are left are compared with all that are left.
  std::uint64_t window = 0;

  static constexpr std::uint64_t all_rows = ~std::uint64_t{0};
};

/// A strategy that compares by values: it differs from others in its member `how` alone.
template <class Strategy>
struct value_strategy {
  using call_type = skyline_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// Sort, filter, skyline: rows by a rising sum of their values; each is compared with the skyline found so far.
struct sfs : value_strategy<sfs> {
  static constexpr std::string_view name = "sfs";
  static constexpr value_method how{};
};

/// SaLSa, sort and limit skyline algorithm: rows by a rising least value. Where that exceeds the largest value of a row
/// that was read, it dominates all that follow: the stop point.
struct salsa : value_strategy<salsa> {
  static constexpr std::string_view name = "salsa";
  static constexpr value_method how{.order = row_order::least_value, .is_prefiltered = false};
};

/// GGS: rows by a rising sum. The first 1024 of those that are left are compared with all that are left.
struct ggs : value_strategy<ggs> {
  static constexpr std::string_view name = "ggs";
  static constexpr value_method how{.window = 1024};
};

/// SkyAlign: rows by the cells of a static grid; masks of the cells are compared before values.
struct skyalign : value_strategy<skyalign> {
  static constexpr std::string_view name = "skyalign";
  static constexpr value_method how{.order = row_order::grid};
};

/// NoSync: without rounds; every row is compared with all before it, dominated ones too.
struct skyalign_no_sync : value_strategy<skyalign_no_sync> {
  static constexpr std::string_view name = "skyalign_no_sync";
  static constexpr value_method how{.order = row_order::grid, .window = value_method::all_rows};
};

/// NoQuart: masks of the median alone.
struct skyalign_no_quartile : value_strategy<skyalign_no_quartile> {
  static constexpr std::string_view name = "skyalign_no_quartile";
  static constexpr value_method how{.order = row_order::grid, .has_quartiles = false};
};

/// Padded: no warp has rows of two partitions of the median.
struct skyalign_padded : value_strategy<skyalign_padded> {
  static constexpr std::string_view name = "skyalign_padded";
  static constexpr value_method how{.order = row_order::grid, .is_padded = true};
};

/// Hybrid: rows by the cells of the grid's median; behind the masks of those, masks by the first row of each cell.
struct hybrid : value_strategy<hybrid> {
  static constexpr std::string_view name = "hybrid";
  static constexpr value_method how{.order = row_order::grid, .has_quartiles = false, .has_pivots = true};
};

/// BSkyTree: recursive partitions by balanced pivots. One worker does it.
struct bskytree {
  static constexpr std::string_view name = "bskytree";
  static constexpr bool is_for_hosts = true;
  using call_type = skyline_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// So many rows of a host are not worth bitmaps: `bitmap_tiles` compares them as `ggs` does, which several threads
/// share better.
[[nodiscard]] constexpr std::uint64_t most_rows_by_values(int threads) { return threads > 1 ? 1024 : 768; }

/// How many pivots a host's rows are compared with. What one takes for itself grows with its columns; of few rows it
/// dominates few.
[[nodiscard]] constexpr std::uint32_t pivots_for(std::uint64_t rows, std::uint32_t columns) {
  constexpr std::uint64_t rows_worth_a_value = 4;
  constexpr std::uint64_t least = 4;
  constexpr std::uint64_t most = 64;
  return static_cast<std::uint32_t>(std::clamp(rows / (rows_worth_a_value * columns), least, most));
}

/// By how many of the best rows the prefilter of a band that leaves out rows with `most` dominators counts these on a
/// host; 0: there is none. They should be some times as many.
inline constexpr std::uint32_t most_band_pivots = 2048;
[[nodiscard]] constexpr std::uint32_t band_pivots_for(std::uint64_t rows, std::uint32_t most) {
  constexpr std::uint64_t rows_of_pivot = 32;
  constexpr std::uint64_t least = 32;
  const std::uint64_t pivots = std::min<std::uint64_t>(rows / rows_of_pivot, most_band_pivots);
  return pivots < least || most > pivots / 2 ? 0 : static_cast<std::uint32_t>(pivots);
}

/// In so many rows, the best of stripes, the pivots of layers are searched; 0: there are none.
/// A device waits for each layer of the samples, which takes longer than to order some rows more.
[[nodiscard]] constexpr std::uint32_t layer_samples_for(std::uint64_t rows, std::uint64_t most_layers, bool is_host) {
  constexpr std::uint64_t rows_of_sample = 32;
  constexpr std::uint64_t most = 2048;
  const std::uint64_t least_rows = is_host ? 4096 : 131072;
  const std::uint64_t most_searched = is_host ? 64 : 8;  // layers
  if (rows < least_rows || most_layers > most_searched) return 0;
  return static_cast<std::uint32_t>(std::min(rows / rows_of_sample, most));
}

/// On a device the prefilter of a band with more dominators would leave nearly all rows: there is none.
inline constexpr std::uint32_t most_dominators_among_pivots = 16;

/// So many rows of a group are compared pair by pair.
inline constexpr std::uint32_t most_settled_rows = 4096;
/// Fewer rows, or rows of fewer groups among some samples, take less time as one table.
inline constexpr std::uint32_t least_grouped_rows = 2048;
inline constexpr std::uint32_t least_sampled_groups = 64;

/// The order of `skyalign`; a row is compared with 512 rows at a time by bitmaps of quantiles.
struct bitmap_tiles {
  static constexpr std::string_view name = "bitmap_tiles";
  using call_type = skyline_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// The skyband in the order of `sfs`: a row's dominators are counted in the band found so far.
struct band_by_sum {
  static constexpr std::string_view name = "sfs";
  using call_type = skyband_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// The skyband in the order of `bitmap_tiles`: dominators are counted by bitmaps, 256 or 512 rows at a time.
struct band_by_bitmaps {
  static constexpr std::string_view name = "bitmap_tiles";
  using call_type = skyband_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// Layers: `Skyline` again and again on what it leaves, in the order that it makes once.
template <class Skyline>
struct layers_by {
  static constexpr std::string_view name = Skyline::name;
  using call_type = skyline_layers_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

using strategies = device::list<bitmap_tiles, skyalign, sfs, salsa, ggs, skyalign_no_sync, skyalign_no_quartile,
                                skyalign_padded, hybrid, bskytree, band_by_bitmaps, band_by_sum,
                                layers_by<bitmap_tiles>, layers_by<skyalign>, layers_by<sfs>>;

/// The same in parts that share little text.
using by_bitmaps = device::list<bitmap_tiles, bskytree, layers_by<bitmap_tiles>>;
using bands = device::list<band_by_bitmaps, band_by_sum>;
using by_values = device::list<skyalign, sfs, salsa, ggs, skyalign_no_sync, skyalign_no_quartile, skyalign_padded,
                               hybrid, layers_by<skyalign>, layers_by<sfs>>;
static_assert(by_bitmaps::size + bands::size + by_values::size == strategies::size);

}  // namespace zenith::skyline_family
