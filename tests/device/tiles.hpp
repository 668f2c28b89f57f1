#pragma once

/// \file
/// for_tiles on every kind of source: which items its tiles hold, what their keys are, and which it flags.

#include <algorithm>
#include <limits>
#include <list>

#include <tests/device/support.hpp>

namespace zenith::device_suite {

/// What a tile's keys must be, and limits that tell flags apart.
template <class Key>
struct expected_keys {
  const std::vector<Key>& keys;
  u64 n;

  [[nodiscard]] std::vector<Key> limits() const {
    std::vector<Key> sorted(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n));
    std::sort(sorted.begin(), sorted.end());
    std::vector<Key> all{sorted.front(), sorted[n / 2], sorted.back()};
    if constexpr (std::is_floating_point_v<Key>) {
      all.push_back(std::numeric_limits<Key>::infinity());
    } else if (sorted.back() < std::numeric_limits<Key>::max()) {
      all.push_back(sorted.back() + 1);
    }
    return all;
  }
  template <class Entry>
  [[nodiscard]] std::vector<Entry> from(Key limit) const {
    std::vector<Entry> all;
    for (u32 i = 0; i < n; ++i) {
      if (keys[i] >= limit) all.push_back(Entry::make(ordered::key_order<Key>{}.image(keys[i]), i));
    }
    return all;
  }
};

/// Runs both tile kernels on the first n items of a source, whose keys are to be `expected`.
template <class Source, class Context, class Examiner>
void check_source(Examiner& see, Context& on, const Source& source,
                  const expected_keys<typename Source::key>& expected) {
  using key = typename Source::key;
  using entry = entry_of<Source>;
  const u64 n = source.size();

  u32* const bins = zeros<u32>(on, tally<Source>::bins);
  u64* const sum = zeros<u64>(on, 1);
  on.for_tiles(tally<Source>{source, bins, sum});
  std::vector<u32> got_bins(tally<Source>::bins);
  deliver(on, bins, got_bins);
  const u64 got_sum = on.read(sum);

  struct flags_of {
    key limit;
    std::vector<entry> got;
    u32 some;
  };
  std::list<flags_of> all;
  for (const key limit : expected.limits()) {
    if (n > 10000 && limit == expected.limits().front()) continue;
    const auto survivors = on.template collect<entry>(n, n, n);
    u32* const some = zeros<u32>(on, 1);
    on.for_tiles(give_all<Source>{source, limit, survivors, some});
    const u32 count = on.read(survivors.count);
    see.that(count <= survivors.capacity, "a collection for all items lost some");
    auto& one = all.emplace_back(flags_of{limit, std::vector<entry>(std::min<u64>(count, n)), on.read(some)});
    deliver(on, survivors.entries, one.got);
    see.that(count <= n, "more were flagged than there are");
  }
  on.finish();

  std::vector<u32> wanted_bins(tally<Source>::bins, 0);
  u64 wanted_sum = 0;
  for (u64 i = 0; i < n; ++i) {
    const u64 number = tally<Source>::number_of(expected.keys[i]);
    ++wanted_bins[number % wanted_bins.size()];
    wanted_sum += number;
  }
  see.same("bits of the keys of each_item", got_sum, wanted_sum);
  see.same("histogram of each_item", got_bins, wanted_bins);
  for (auto& [limit, got, some] : all) {
    std::sort(got.begin(), got.end(), [](const entry& a, const entry& b) { return a.index() < b.index(); });
    const auto wanted = expected.template from<entry>(limit);
    see.same("flags of keys from " + said(limit), got, wanted);
    see.same("any of them", some, wanted.empty() ? 0 : 1);
  }
}

template <class Examiner>
std::vector<u64> tile_sizes(Examiner& see) {
  if (see.limits().brief) return see.sizes({1, 63, 64, 65, 129, 255, 257, 1025, 3000});
  return see.sizes({1,   2,   7,   8,   15,   16,   17,   31,   32,   33,   63,   64,   65,    127,    128,
                    129, 255, 256, 257, 1023, 1024, 1025, 4095, 4097, 8191, 8192, 8193, 65536, 100003, 1 << 20});
}

/// Whether a trial of n items at this offset is worth its time.
template <class Examiner>
bool takes(Examiner& see, u64 n, u64 offset) {
  return see.limits().brief ? offset == n % 4 : n <= 10000 || offset == n % 2;
}

template <class T>
T telling_key(u64 bits) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(bits)) * static_cast<T>(bits % 3 == 0 ? 1e-30 : 1e-15);
  } else {
    return static_cast<T>(bits);
  }
}

template <class T, class Examiner>
void check_plain(Examiner& see, const std::string& type) {
  auto random = see.random(sizeof(T));
  for (const u64 n : tile_sizes(see)) {
    for (u64 offset = 0; offset < 4; ++offset) {
      if (!takes(see, n, offset)) continue;
      see.trial(of_size("tiles of " + type + " at offset " + std::to_string(offset), n), [&](auto& on) {
        // what lies around them is as good a key as they are
        std::vector<T> around(n + 80);
        for (auto& key : around) key = telling_key<T>(random());
        const auto begin = around.begin() + static_cast<std::ptrdiff_t>(offset);
        const auto end = begin + static_cast<std::ptrdiff_t>(n);
        // a tile's last item is the one that alone is flagged
        if (offset % 2 == 0) std::iter_swap(std::max_element(begin, end), end - 1);
        const std::vector<T> keys(begin, end);
        const T* const from = n % 2 == 0 ? on.input(around.data(), around.size(), memory_space::host) + offset
                                         : on.input(around.data() + offset, n, memory_space::host);
        check_source(see, on, device::plain<T>{from, n}, expected_keys<T>{keys, n});
      });
    }
  }
}

/// Columns whose weighted sums are close: their last bits tell the order and the rounding of each operation.
template <class T, class Score>
struct close_columns {
  std::vector<std::vector<T>> values;
  std::vector<Score> weights;

  close_columns(random_numbers random, unsigned columns, u64 rows) : values(columns, std::vector<T>(rows)) {
    std::vector<double> products(columns);
    for (unsigned j = 0; j < columns; ++j) {
      products[j] = 9e7 * (1.0 + static_cast<double>(random() % 1000000) / 1e6);
      weights.push_back(
          static_cast<Score>((j % 3 == 2 ? -1.0 : 1.0) * (0.1 + static_cast<double>(random() % 1000000) / 1e6)));
    }
    for (u64 i = 0; i < rows; ++i) {
      const double scale = random() % 8 == 0 ? 1.0 + static_cast<double>(random() % 1000) / 1e4 : 1.0;
      for (unsigned j = 0; j < columns; ++j)
        values[j][i] = static_cast<T>(scale * products[(j + i) % columns] / static_cast<double>(weights[j]));
    }
  }
  /// By a plain loop, each operation through memory.
  [[nodiscard]] Score score(u64 i) const {
    volatile Score value = static_cast<Score>(values[0][i]);
    volatile Score sum = value * weights[0];
    for (unsigned j = 1; j < values.size(); ++j) {
      value = static_cast<Score>(values[j][i]);
      volatile Score product = value * weights[j];
      volatile Score next = sum + product;
      sum = next;
    }
    return sum;
  }
};

template <class T, class Score, class Examiner>
void check_scored(Examiner& see, const std::string& type) {
  for (const unsigned columns : {1U, 3U, 4U, 5U, 64U}) {
    if (see.limits().brief && columns == 4) continue;
    for (const u64 n : tile_sizes(see)) {
      if (n > (columns <= 5 ? 100003 : 10000)) continue;
      for (u64 offset = 0; offset < 4; ++offset) {
        if (see.limits().brief ? offset != n % 4 || n > 1025 : offset != n % 4 && n < 8191) continue;
        see.trial(of_size("tiles of " + std::to_string(columns) + " columns of " + type + " at offset " +
                              std::to_string(offset),
                          n),
                  [&](auto& on) {
                    const close_columns<T, Score> all(see.random(n + columns), columns, n + 80);
                    device::scored<T, Score> source{};
                    source.columns = columns;
                    source.count = n;
                    for (unsigned j = 0; j < columns; ++j) {
                      // one column of them lies otherwise than the others
                      const u64 at = j == 1 ? 0 : offset;
                      const auto& column = all.values[j];
                      const T* const from = on.input(column.data(), column.size(), memory_space::host) + at;
                      source.column[j] = from;
                      source.weight[j] = all.weights[j];
                    }
                    std::vector<Score> keys(n);
                    close_columns<T, Score> seen = all;
                    for (unsigned j = 0; j < columns; ++j) {
                      if (j != 1)
                        seen.values[j].erase(seen.values[j].begin(),
                                             seen.values[j].begin() + static_cast<std::ptrdiff_t>(offset));
                    }
                    for (u64 i = 0; i < n; ++i) keys[i] = seen.score(i);
                    check_source(see, on, source, expected_keys<Score>{keys, n});
                  });
      }
    }
  }
}

template <class T, class Examiner>
void check_blocks(Examiner& see, const std::string& type) {
  for (const u64 n : tile_sizes(see)) {
    see.trial(of_size("tiles of blocks of " + type, n), [&](auto& on) {
      auto random = see.random(n);
      std::vector<u64> seeds(n / made_of_blocks<T>::block_items + 1);
      for (auto& seed : seeds) seed = random();
      std::vector<T> keys(n);
      for (u64 i = 0; i < n; ++i) keys[i] = made_of_blocks<T>{seeds.data(), n}.at(i);
      check_source(see, on, made_of_blocks<T>{on.input(seeds.data(), seeds.size(), memory_space::host), n},
                   expected_keys<T>{keys, n});
    });
  }
}

template <class Examiner>
void check_tiles(Examiner& see) {
  check_plain<float>(see, "float");
  check_plain<double>(see, "double");
  check_plain<std::int32_t>(see, "int32");
  check_plain<u32>(see, "uint32");
  check_plain<std::int64_t>(see, "int64");
  check_plain<u64>(see, "uint64");
  check_scored<float, float>(see, "float");
  check_scored<double, double>(see, "double");
  check_scored<std::int32_t, double>(see, "int32");
  check_blocks<u32>(see, "uint32");
  check_blocks<double>(see, "double");
}

}  // namespace zenith::device_suite
