#pragma once

/// \file
/// Joins in batches: of how many left rows each is made.

#include <algorithm>
#include <cstdint>

#include <zenith/spatial_join.hpp>

namespace zenith::detail {

/// A batch that is too large, before anything is written.
struct too_many_pairs {
  std::uint64_t count;
};

/// The provider of a batch's memory: it refuses more than `most` pairs.
template <class Arguments>
struct batch_provider {
  const Arguments& given;
  std::uint64_t most;

  static spatial_output provide(void* state, std::uint64_t count) {
    const auto& here = *static_cast<const batch_provider*>(state);
    if (count > here.most) throw too_many_pairs{count};
    return here.given.provide(here.given.state, count);
  }
};

/// join(begin, rows, most) for batches of `n` left rows, of which about `pairs` are expected: it gives the number of
/// pairs, or throws too_many_pairs. A batch that was not refused goes to deliver(begin).
template <class Join, class Deliver>
void join_in_batches(std::uint64_t n, double pairs, std::size_t batch_pairs, const Join& join, const Deliver& deliver,
                     spatial_join_batches_result& done) {
  const auto wanted = static_cast<double>(std::min(batch_pairs, std::size_t{1} << 40));
  const auto rows_for = [&](double pairs_of_a_row) {
    return static_cast<std::uint64_t>(std::clamp(wanted / std::max(pairs_of_a_row, 1e-9), 1.0, static_cast<double>(n)));
  };
  std::uint64_t rows = rows_for(pairs / static_cast<double>(n));
  for (std::uint64_t begin = 0; begin < n;) {
    rows = std::min(rows, n - begin);
    std::uint64_t count = 0;
    try {
      count = join(begin, rows, rows == 1 ? ~std::uint64_t{0} : 2 * static_cast<std::uint64_t>(wanted));
    } catch (const too_many_pairs& found) {
      rows = std::min(rows / 2, rows_for(static_cast<double>(found.count) / static_cast<double>(rows)));
      rows = std::max<std::uint64_t>(rows, 1);
      continue;
    }
    if (count > 0) {
      deliver(begin);
      done.count += static_cast<std::size_t>(count);
      ++done.batches;
    }
    begin += rows;
    rows = std::min(8 * rows, rows_for(static_cast<double>(count) / static_cast<double>(rows)));
  }
}

}  // namespace zenith::detail
