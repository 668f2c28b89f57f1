#pragma once

/// \file
/// What is asked of any place where strategies of a program's own run: a small strategy, and top-k by scores of the
/// program's own, held against loops.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <zenith/strategies/top_k.hpp>
#include <zenith/threshold_table.hpp>

namespace own_suite {

using zenith::device::u32;
using zenith::device::u64;

// ---- a strategy of one's own: the first item that stands more often than no other

struct count_values {
  const u32* values;
  u32* counts;
  ZENITH_FN void operator()(u64 i) const { (void)zenith::device::atomic_add(counts + values[i], 1U); }
};
struct most_frequent {
  static constexpr u32 scratch_bytes = 64;
  const u32* counts;
  u64 bins;
  u32* to;
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    const auto bin = team.reduce(
        bins, u64{0}, [&](u64 b) ZENITH_BODY { return u64{counts[b]} << 32 | (0xffffffffU - static_cast<u32>(b)); },
        zenith::device::greatest{});
    team.once([&]() ZENITH_BODY { *to = 0xffffffffU - static_cast<u32>(bin); });
  }
};
using mode_kernels = zenith::device::list<count_values, most_frequent>;

template <class Place>
u32 mode_of(const Place& here, const std::vector<u32>& values, u32 bins) {
  u32 found = 0;
  here.template run<mode_kernels>([&](auto& on) {
    auto* const counts = on.template buffer<u32>(bins);
    on.fill_zero(counts, bins);
    on.for_each(values.size(),
                count_values{on.input(values.data(), values.size(), zenith::memory_space::host), counts});
    on.for_teams(1, most_frequent{counts, bins, on.output(&found, 1, zenith::memory_space::host)});
    on.finish();
  });
  return found;
}

// ---- scores

struct weakest {
  template <class Row>
  ZENITH_FN auto operator()(const Row& row) const {
    auto least = row[0];
    for (unsigned j = 1; j < row.size(); ++j) least = row[j] < least ? row[j] : least;
    return least;
  }
};
/// Of what is above 0; NaN below it.
struct root_of_product {
  double factor;
  template <class Row>
  ZENITH_FN double operator()(const Row& row) const {
    return std::sqrt(static_cast<double>(row[0])) * static_cast<double>(row[1]) * factor;
  }
};
/// Weights that are no constants, of the columns 0 and 2.
struct weighted {
  float weight[2];
  template <class Row>
  ZENITH_FN float operator()(const Row& row) const {
    return weight[0] * static_cast<float>(row[0]) + weight[1] * static_cast<float>(row[2]);
  }
};
struct capped_count {
  template <class Row>
  ZENITH_FN std::int32_t operator()(const Row& row) const {
    std::int32_t count = 0;
    for (unsigned j = 0; j < row.size(); ++j) count += row[j] > 2 ? 1 : 0;
    return count;
  }
};

enum class pattern { plain, few_values, with_nan, with_infinities, rising };

inline u64 next(u64& state) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return state >> 33;
}

template <class T>
std::vector<std::vector<T>> columns_of(pattern of, std::size_t m, std::size_t n, u64 state) {
  std::vector<std::vector<T>> columns(m, std::vector<T>(n));
  for (std::size_t i = 0; i < n; ++i) {
    const u64 common = next(state);
    for (auto& column : columns) {
      const u64 bits = next(state);
      T value = static_cast<T>((common % 1000000 + bits % 100000) / 1000);
      if (of == pattern::few_values) value = static_cast<T>(bits % 4);
      if (of == pattern::rising) value = static_cast<T>(i / 3);
      if constexpr (std::is_floating_point_v<T>) {
        if (of == pattern::plain) value = static_cast<T>(common % 1000003 + bits % 1003) / T{3};
        if (of == pattern::with_nan && bits % 37 == 0) value = std::numeric_limits<T>::quiet_NaN();
        if (of == pattern::with_infinities && bits % 301 == 0) value = std::numeric_limits<T>::infinity();
        if (of == pattern::with_infinities && bits % 299 == 0) value = -std::numeric_limits<T>::infinity();
      }
      column[i] = value;
    }
    if constexpr (std::is_floating_point_v<T>) {  // whose weighted sum is NaN
      if (of == pattern::with_infinities && m == 3 && common % 401 == 0) {
        columns[0][i] = std::numeric_limits<T>::infinity();
        columns[2][i] = -std::numeric_limits<T>::infinity();
      }
    }
  }
  return columns;
}

template <class Key>
struct ranking {
  std::vector<Key> scores;  ///< of all rows
  std::vector<u64> best;    ///< all rows, the best first
};

template <class T, class F>
auto rank(const std::vector<std::vector<T>>& columns, const F& score, bool nan_first) {
  using key = zenith::strategies::score_by<F, T>;
  std::vector<const T*> pointers;
  for (const auto& one : columns) pointers.push_back(one.data());
  ranking<key> all;
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    all.scores.push_back(
        score(zenith::strategies::row_values<T>(pointers.data(), static_cast<unsigned>(pointers.size()), i)));
  }
  all.best.resize(all.scores.size());
  std::iota(all.best.begin(), all.best.end(), u64{0});
  std::stable_sort(all.best.begin(), all.best.end(), [&](u64 a, u64 b) {
    const key x = all.scores[a];
    const key y = all.scores[b];
    const bool x_nan = x != x;
    const bool y_nan = y != y;
    if (x_nan || y_nan) return x_nan != y_nan && (nan_first ? x_nan : y_nan);
    return x > y;
  });
  return all;
}

/// What a NaN carries is the machine's business.
template <class Key>
bool same_score(Key a, Key b) {
  using bits = zenith::ordered::bits_t<Key>;
  return (a != a && b != b) || std::bit_cast<bits>(a) == std::bit_cast<bits>(b);
}

template <class Key, class Index>
std::string fault_of(const ranking<Key>& expected, const zenith::top_k_result<Key, Index>& found, std::size_t k) {
  if (found.keys.size() != k || found.indices.size() != k) return "of another size";
  for (std::size_t i = 0; i < k; ++i) {
    const auto row = static_cast<u64>(found.indices[i]);
    const bool same_row = row == expected.best[i];
    if (!same_row || !same_score(found.keys[i], expected.scores[row])) {
      return "place " + std::to_string(i) + " is row " + std::to_string(row) + ", expected " +
             std::to_string(expected.best[i]);
    }
  }
  return {};
}

class suite_run {
 public:
  std::vector<std::string> faults;

  template <class Place, class T, class F>
  void check(const Place& here, const char* name, const std::vector<std::vector<T>>& columns, const F& score,
             const std::vector<zenith::table_options>& layouts) {
    zenith::column_set<T> set;
    for (const auto& one : columns) set.add(std::span<const T>(one));
    const std::size_t n = set.rows();
    std::vector<zenith::threshold_table<T>> tables;
    for (const auto& one : layouts) tables.push_back(zenith::threshold_table<T>::build(set, one));
    for (const auto nans : {zenith::nan_policy::last, zenith::nan_policy::first}) {
      const auto expected = rank(columns, score, nans == zenith::nan_policy::first);
      for (const std::size_t k : {std::size_t{1}, std::size_t{16}, n / 3, n}) {
        if (k > n || k == 0) continue;
        const auto what = std::string{Place::name} + ", " + name + ", n = " + std::to_string(n) +
                          ", k = " + std::to_string(k) + (nans == zenith::nan_policy::first ? ", NaN first" : "");
        note(what + ", columns: ",
             fault_of(expected, zenith::strategies::top_k(here, set, score, k, {.nans = nans}), k));
        for (const auto& table : tables) {
          note(what + ", table of " + std::to_string(table.partitions()) + " partitions: ",
               fault_of(expected, zenith::strategies::top_k<u32>(here, table, score, k, {.nans = nans}), k));
        }
      }
    }
  }

 private:
  void note(const std::string& what, const std::string& fault) {
    if (!fault.empty()) faults.push_back(what + fault);
  }
};

// The parts of the suite, which may be compiled apart.

inline std::vector<zenith::table_options> small_layouts() {
  zenith::table_options small;
  small.block_rows = 16;
  zenith::table_options partitions;
  partitions.layout = zenith::table_layout::partitions;
  partitions.partitions = 8;
  return {small, zenith::table_options{}, partitions};
}

inline std::vector<std::size_t> row_counts(std::size_t most) { return {1, 65, most}; }

/// Scores of columns of float.
template <class Place>
std::vector<std::string> run_floats(const Place& here, std::size_t rows, u64 seed) {
  suite_run run;
  const auto layouts = small_layouts();
  for (const std::size_t n : row_counts(rows)) {
    for (const auto of : {pattern::plain, pattern::few_values, pattern::with_nan, pattern::with_infinities}) {
      const auto columns = columns_of<float>(of, 3, n, seed + static_cast<u64>(of));
      run.check(here, "the lowest", columns, weakest{}, layouts);
      run.check(here, "weights", columns, weighted{{0.3F, 0.7F}}, layouts);
      if constexpr (Place::memory == zenith::memory_space::host) {  // nvcc takes no lambda of a function for a kernel
        const float bias = static_cast<float>(seed % 7);
        const auto lambda = [bias](const auto& row) ZENITH_BODY { return row[1] + bias * row[0]; };
        if (of == pattern::with_nan) run.check(here, "a lambda", columns, lambda, layouts);
      }
    }
  }
  return run.faults;
}

/// Scores of columns of other types.
template <class Place>
std::vector<std::string> run_others(const Place& here, std::size_t rows, u64 seed) {
  suite_run run;
  const auto layouts = small_layouts();
  for (const std::size_t n : row_counts(rows)) {
    auto signs = columns_of<double>(pattern::plain, 2, n, seed + 7);
    for (std::size_t i = 0; i < n; i += 5) signs[0][i] = -signs[0][i];  // whose roots are NaN
    run.check(here, "root of a product", signs, root_of_product{0.25}, {zenith::table_options{}});
    run.check(here, "how many above 2", columns_of<std::int32_t>(pattern::few_values, 4, n, seed + 8), capped_count{},
              layouts);
    run.check(here, "the lowest integer", columns_of<std::int32_t>(pattern::rising, 2, n, seed + 9), weakest{},
              layouts);
  }
  return run.faults;
}

/// The small strategy.
template <class Place>
std::vector<std::string> run_strategy(const Place& here, std::size_t rows, u64 seed) {
  std::vector<u32> values(rows);
  u64 state = seed;
  for (auto& one : values) one = static_cast<u32>(next(state) % 97);
  std::vector<u32> counts(97);
  for (const auto one : values) ++counts[one];
  const auto mode = static_cast<u32>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  if (mode_of(here, values, 97) != mode) return {"the mode is not " + std::to_string(mode)};
  return {};
}

/// Rows that a table's query evaluates, of so many.
template <class Place>
u64 rows_evaluated(const Place& here, std::size_t rows, u64 seed) {
  const auto columns = columns_of<float>(pattern::plain, 3, rows, seed);
  const zenith::column_set<float> set{columns[0], columns[1], columns[2]};
  zenith::threshold_statistics counted;
  (void)zenith::strategies::top_k(here, zenith::threshold_table<float>::build(set), weakest{}, 8,
                                  {.nans = zenith::nan_policy::first, .statistics = &counted});
  return counted.rows_evaluated;
}

}  // namespace own_suite
