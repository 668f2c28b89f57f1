// The CPU's tile of entries for the ordering family. Each SIMD lane is a list of its own that runs down the rows, so
// every step of a network compares whole rows and no lane ever crosses another. Included by a unit that is compiled for
// one instruction set, inside its namespace.

template <class Row>
class entry_tile {
 public:
  /// `words` holds `capacity` rows; `plane` words separate the halves of split entries.
  ZENITH_FN entry_tile(std::uint64_t* words, std::uint64_t rows, std::uint64_t plane)
      : words_(words), rows_(rows), plane_(plane) {}

  ZENITH_FN void reset(std::uint64_t rows) { rows_ = rows; }

  /// Local sort (Algorithm 2). The first three phases never leave the registers: work before write (section 4.3).
  ZENITH_FN void sort_runs(tile_index k) {
    std::uint64_t length = 1;
    if (k >= 8) {
      for (std::uint64_t row = 0; row < rows_; row += 8) sort_eight(row);
      length = 8;
    }
    for (; length < k; length *= 2) steps(length, 2 * length);
  }

  /// Merge (Algorithm 3).
  ZENITH_FN void merge_runs(tile_index k) {
    rows_ /= 2;
    for (std::uint64_t t = 0; t < rows_; ++t) {
      const std::uint64_t i = top_k_detail::merge_position(t, k);
      store(t, Row::better(load(i), load(i + k)));
    }
  }

  /// Rebuild (Algorithm 4).
  ZENITH_FN void rebuild_runs(tile_index k) {
    if (k > 1) steps(k / 2, k);
  }

  /// The tile's one sorted run of k into the running best: merge and rebuild with `best`, best first in both.
  ZENITH_FN void top_k_merge(entry_tile& best, tile_index k) const {
    for (std::uint64_t i = 0; i < k; ++i) best.store(i, Row::better(best.load(i), load(k - 1 - i)));
    best.rebuild_runs(k);
  }

 private:
  ZENITH_FN Row load(std::uint64_t row) const { return Row::load(words_ + row * row_lanes, plane_); }
  ZENITH_FN void store(std::uint64_t row, const Row& what) const { what.store(words_ + row * row_lanes, plane_); }

  ZENITH_FN static void exchange(Row& a, Row& b, bool descending) {
    if (descending) {
      Row::exchange(a, b);
    } else {
      Row::exchange(b, a);
    }
  }

  /// The steps of one phase, distances `distance`, `distance` / 2, … 1, on runs of `run` rows, as many steps as fit the
  /// registers at a time: combined steps (section 4.3).
  ZENITH_FN void steps(std::uint64_t distance, std::uint64_t run) {
    while (distance >= 4) {
      combined<3>(distance, run);
      distance /= 8;
    }
    if (distance == 2) combined<2>(distance, run);
    if (distance == 1) combined<1>(distance, run);
  }

  /// `Steps` steps, from `distance` on, of groups of 2^Steps rows that are held in registers.
  template <unsigned Steps>
  ZENITH_FN void combined(std::uint64_t distance, std::uint64_t run) {
    constexpr unsigned group = 1U << Steps;
    const std::uint64_t stride = distance >> (Steps - 1);
    for (std::uint64_t block = 0; block < rows_; block += 2 * distance) {
      const bool descending = top_k_detail::is_descending(block, run);
      for (std::uint64_t first = block; first < block + stride; ++first) {
        Row held[group];
        for (unsigned i = 0; i < group; ++i) held[i] = load(first + i * stride);
        for (unsigned half = group / 2; half > 0; half /= 2) {
          for (unsigned t = 0; t < group / 2; ++t) {
            const auto i = static_cast<unsigned>(top_k_detail::pair_position(t, half));
            exchange(held[i], held[i + half], descending);
          }
        }
        for (unsigned i = 0; i < group; ++i) store(first + i * stride, held[i]);
      }
    }
  }

  ZENITH_FN void sort_eight(std::uint64_t row) {
    Row held[8];
    for (unsigned i = 0; i < 8; ++i) held[i] = load(row + i);
    for (unsigned length = 1; length < 8; length *= 2) {
      for (unsigned distance = length; distance > 0; distance /= 2) {
        for (unsigned t = 0; t < 4; ++t) {
          const auto i = static_cast<unsigned>(top_k_detail::pair_position(t, distance));
          exchange(held[i], held[i + distance], top_k_detail::is_descending(row + i, 2 * length));
        }
      }
    }
    for (unsigned i = 0; i < 8; ++i) store(row + i, held[i]);
  }

  std::uint64_t* words_;
  std::uint64_t rows_;
  std::uint64_t plane_;
};
