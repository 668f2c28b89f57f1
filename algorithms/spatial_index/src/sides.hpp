#pragma once

/// \file
/// The sides of a join as its kernels take them: the caller's indexes, or indexes that are built of the caller's
/// columns.

#include <cstdint>
#include <memory>

#include <zenith/backend.hpp>
#include <zenith/spatial_index.hpp>

namespace zenith::detail {

/// Items of both sides.
struct side_sizes {
  std::uint64_t left;
  std::uint64_t right;
};
[[nodiscard]] side_sizes sizes_of(const index_join_arguments& given);

/// Items of the indexes that `index_sides` builds.
[[nodiscard]] std::uint64_t items_to_build(const index_join_arguments& given);

/// Throws for columns that do not fit each other; `function` begins the messages. Values are not looked at.
void check_columns(const index_join_arguments& given, const char* function);

/// A join of indexes alone, and those that were built for it.
struct join_of_indexes {
  index_join_arguments given;
  std::shared_ptr<const void> owners[2] = {};
};
/// Builds what has to be built where `on` has its memory; of equal columns one index. Throws for what a column has.
[[nodiscard]] join_of_indexes index_sides(const execution& on, const index_join_arguments& given, const char* function);

}  // namespace zenith::detail
