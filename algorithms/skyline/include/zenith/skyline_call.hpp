#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <zenith/types.hpp>

namespace zenith {

/// What is better in a column.
enum class preference : std::uint8_t {
  minimise,   ///< the smaller value
  maximise,   ///< the larger value
  different,  ///< neither: rows with different values here are not comparable (the column groups the rows)
};

/// Which of several equal rows of the skyline are in the result.
enum class duplicate_rows : std::uint8_t {
  keep_all,
  keep_first,  ///< the lowest id of each
};

/// What becomes of rows with a NaN.
enum class nan_rows : std::uint8_t {
  reject,  ///< the call throws
  drop,    ///< they are not in the result and dominate no row
  worst,   ///< a NaN is worse than every number, whatever is preferred, and as good as another NaN
};

/// What a round of a skyline decided.
struct skyline_round {
  std::uint64_t members = 0;  ///< rows found to be in the skyline
  std::uint64_t pruned = 0;   ///< rows found not to be in the result
  double seconds = 0;
};

/// What happened during a call.
struct skyline_statistics {
  std::uint64_t candidates = 0;       ///< rows that were left by the prefilter
  std::uint64_t dominance_tests = 0;  ///< pairs of rows whose values were compared
  /// Pairs of a row and a tile of rows that were compared by their masks alone.
  std::uint64_t mask_tests = 0;
  std::uint64_t rounds = 0;
  /// Of `skyline`: first what comes before the rounds, copies to a device, prefilter and order; then each round. All
  /// members are the result, and members and pruned rows together all rows; but "skyalign_padded" counts copies that it
  /// makes of rows as pruned. "bskytree" partitions recursively and has one round here. A device that has few rows left
  /// compares them as it prefilters, and has none.
  std::vector<skyline_round> by_round;
};

/// What a kernel found.
struct skyline_outcome {
  std::uint64_t count = 0;  ///< rows in the result, or layers
  bool has_nan = false;     ///< under `nan_rows::reject`: nothing was written
  std::uint64_t nan_row = 0;
  unsigned nan_column = 0;
};

/// The most columns that a skyline may have.
inline constexpr unsigned most_skyline_columns = 32;

/// A table of points as a backend's kernel receives it. Arguments are checked: 1 <= columns <= 32 and 1 <= rows < 2^32.
/// Row p is dominated by row q when q is not worse in any column, better in at least one, and equal in each column
/// whose preference is `different`. -0 equals +0.
struct skyline_input {
  key_type type{};
  memory_space space = memory_space::host;  ///< where the points lie
  const void* const* columns = nullptr;     ///< where each begins; the list is the host's
  unsigned column_count = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_stride = 1;  ///< elements from a row to the next, in every column
  /// The piece of memory that all columns lie in, when one copy of it is less than one of each column; else nullptr.
  const void* block = nullptr;
  std::uint64_t block_values = 0;

  const preference* preferences = nullptr;  ///< one a column, the host's
  nan_rows nans = nan_rows::reject;

  skyline_outcome* outcome = nullptr;        ///< the host's, filled in
  skyline_statistics* statistics = nullptr;  ///< the host's, filled in; nullptr: not wanted
};

/// One call of operation "skyline".
struct skyline_call : skyline_input {
  static constexpr std::string_view operation = "skyline";

  duplicate_rows duplicates = duplicate_rows::keep_all;
  int index_bytes = 8;                          ///< of an id: 4 or 8
  memory_space out_space = memory_space::host;  ///< of the ids and the mask
  std::uint8_t* out_mask = nullptr;             ///< one byte a row, 1 where it is in the skyline; nullptr: not wanted
  /// Gives memory for so many ids, which are written in rising order; nullptr: nothing is written. Called once on the
  /// host, if at all: not when a NaN is rejected. Not called when it is nullptr itself.
  void* (*provide_ids)(void* state, std::uint64_t count) = nullptr;
  void* provide_state = nullptr;
  /// What `provide_ids` will give for up to so many ids, where that is known before: a device may write ids there
  /// before the host knows how many they are, but none of more than so many or of a call that fails. nullptr: not
  /// known.
  void* known_ids = nullptr;
  std::uint64_t known_count = 0;
};

/// Of a row in none of the layers that were asked for, or not in the band.
inline constexpr std::uint32_t no_layer = ~std::uint32_t{0};

/// Memory for the result of operation "skyband"; what is nullptr is not written.
struct skyband_output {
  void* ids = nullptr;
  std::uint32_t* dominated_by = nullptr;
};

/// One call of operation "skyband": the rows that fewer than `most` rows dominate, in rising order of their ids.
struct skyband_call : skyline_input {
  static constexpr std::string_view operation = "skyband";

  std::uint32_t most = 1;  ///< at least 1
  /// Under `keep_first`, of equal rows all but the first neither belong to the result nor count.
  duplicate_rows duplicates = duplicate_rows::keep_all;
  int index_bytes = 8;  ///< of an id: 4 or 8
  /// Gives host memory for so many rows. Called once, if at all: not when a NaN is rejected.
  skyband_output (*provide)(void* state, std::uint64_t count) = nullptr;
  void* provide_state = nullptr;
  /// Not nullptr: instead of that, by how many rows each row of the table is dominated, `no_layer` for those that are
  /// not in the band. The host's; may be written before the call has succeeded, but not when a NaN is rejected.
  std::uint32_t* out_by_row = nullptr;
};

/// One call of operation "skyline_layers". Layer 0 is the skyline, layer i + 1 the skyline of what layers 0 … i leave.
struct skyline_layers_call : skyline_input {
  static constexpr std::string_view operation = "skyline_layers";

  std::uint32_t most_layers = no_layer;  ///< at least 1
  std::uint64_t enough_rows = 0;         ///< no further layer once so many rows have one; at least 1
  /// Under `keep_first`, of equal rows all but the first have no layer.
  duplicate_rows duplicates = duplicate_rows::keep_all;
  memory_space out_space = memory_space::host;
  std::uint32_t* out_layers = nullptr;  ///< one a row; not written when a NaN is rejected
  std::uint64_t held_bytes = 0;         ///< that the caller keeps meanwhile: there is less memory for bitmaps
};

}  // namespace zenith
