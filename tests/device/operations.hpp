#pragma once

/// \file
/// reduce, exclusive_scan, histogram, compact, and sorting and merging of pairs.

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include <tests/device/support.hpp>

namespace zenith::device_suite {

template <class T, class Examiner>
void check_sums(Examiner& see, const std::string& type) {
  for (const u64 n : see.sizes({1, 2, 31, 257, 1000, 4097, 100003, 1 << 20})) {
    see.trial(of_size("reduce and exclusive_scan of " + type, n), [&](auto& on) {
      auto random = see.random(n);
      std::vector<T> values(n);
      // 32 bits of a double: its sums are exact
      for (auto& value : values) value = static_cast<T>(std::is_same_v<T, double> ? random() >> 32 : random());
      const T* const from = on.input(values.data(), n, memory_space::host);
      T* const to = zeros<T>(on, 3);
      on.template reduce<device::plus>(from, n, to);
      on.template reduce<device::least>(from, n, to + 1);
      on.template reduce<device::greatest>(from, n, to + 2);
      std::vector<T> got(3);
      deliver(on, to, got);
      std::vector<T> wanted(n + 1, T{0});
      std::inclusive_scan(values.begin(), values.end(), wanted.begin() + 1);
      std::vector<T> got_scan(n + 1);
      if constexpr (!std::is_same_v<T, double>) {
        T* const sums = on.template buffer<T>(n + 1);
        on.exclusive_scan(from, n, sums);
        deliver(on, sums, got_scan);
      }
      on.finish();
      const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
      see.same("plus, least, greatest", got, std::vector<T>{wanted.back(), *least, *greatest});
      if constexpr (!std::is_same_v<T, double>) see.same("the scan", got_scan, wanted);
    });
  }
}

/// Pieces of an array of T and of another one of bytes by one list.
template <class T, class Examiner>
void check_fetch(Examiner& see, const std::string& type) {
  for (const u64 n : see.sizes({0, 1, 3, 257, 5000})) {
    for (const u64 length : {1, 7, 64, 1000}) {
      see.trial(of_size("fetch of pieces of " + std::to_string(length) + " " + type, n), [&](auto& on) {
        auto random = see.random(n + length);
        const u64 count = 3 * length + 1000;
        std::vector<T> values(count);
        for (auto& value : values) value = static_cast<T>(random());
        std::vector<u32> begins(n);
        for (auto& begin : begins) begin = static_cast<u32>(random() % count);
        std::vector<T> wanted(n * length, T{3});
        for (u64 i = 0; i < n; ++i) {
          for (u64 r = 0; r < length && begins[i] + r < count; ++r) wanted[i * length + r] = values[begins[i] + r];
        }
        // the second array ends earlier
        const u64 fewer = count - length / 2;
        std::vector<std::uint8_t> bytes(fewer);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
        T* const to = on.template buffer<T>(n * length);
        auto* const to_bytes = on.template buffer<std::uint8_t>(n * length);
        const std::array arrays{device::fetched_array::of(to, values.data(), count),
                                device::fetched_array::of(to_bytes, bytes.data(), fewer)};
        on.fetch(arrays, upload(on, begins), n, length);
        std::vector<T> got(n * length);
        std::vector<std::uint8_t> got_bytes(n * length);
        deliver(on, to, got);
        deliver(on, to_bytes, got_bytes);
        on.finish();
        // what is behind the end has no content
        std::vector<std::uint8_t> wanted_bytes(n * length, 3);
        for (u64 i = 0; i < n; ++i) {
          for (u64 r = 0; r < length; ++r) {
            if (begins[i] + r >= count) got[i * length + r] = T{3};
            if (begins[i] + r >= fewer) {
              got_bytes[i * length + r] = 3;
            } else {
              wanted_bytes[i * length + r] = bytes[begins[i] + r];
            }
          }
        }
        see.same("the pieces", got, wanted);
        see.same("the pieces of bytes", got_bytes, wanted_bytes);
      });
    }
  }
}

template <class Examiner>
void check_histogram(Examiner& see) {
  for (const u64 n : see.sizes({0, 1, 1000, 4999, 100003, 1 << 20})) {
    for (const u64 bins : see.sizes({1, 2, 256, 2048, 100000})) {
      see.trial(of_size("histogram of " + std::to_string(bins) + " bins", n), [&](auto& on) {
        auto random = see.random(n + bins);
        std::vector<u32> values(n);
        std::vector<u32> wanted(bins, 0);
        // half of them meet in one bin
        for (auto& value : values) {
          value = static_cast<u32>(random() % 2 == 0 ? bins - 1 : random() % bins);
          ++wanted[value];
        }
        u32* const to = upload(on, std::vector<u32>(bins, 9));
        on.histogram(upload(on, values), n, bins, to);
        std::vector<u32> got(bins);
        deliver(on, to, got);
        on.finish();
        see.same("the histogram", got, wanted);
      });
    }
  }
}

template <class Examiner, class Context, class Test>
void check_compacted(Examiner& see, Context& on, u64 n, const Test& test, const std::vector<u32>& wanted) {
  u32* const to = zeros<u32>(on, n);
  u32* const count = upload(on, std::vector<u32>{12345});
  on.compact(n, test, to, count);
  const u64 found = on.read(count);
  see.same("the count", found, wanted.size());
  std::vector<u32> got(std::min(found, n));
  deliver(on, to, got);
  on.finish();
  see.same("the items", got, wanted);
}

template <class Examiner>
void check_compact(Examiner& see) {
  for (const u64 n : see.sizes({0, 1, 31, 1000, 4999, 100003, 1 << 20})) {
    for (const u32 bits : {0U, 1U, 3U, 0x3ffU, ~0U}) {
      see.trial(of_size("compact of bits " + std::to_string(bits), n), [&](auto& on) {
        auto random = see.random(n + bits);
        std::vector<u32> words(n);
        std::vector<u32> wanted;
        for (u32 i = 0; i < n; ++i) {
          words[i] = static_cast<u32>(random()) & ~0x80000000U;
          if ((words[i] & bits) == bits) wanted.push_back(i);
        }
        check_compacted(see, on, n, has_bits{upload(on, words), bits}, wanted);
      });
    }
    // flags that are there for none, few, many and all
    for (const u32 of : {0U, 1U, 30U, 128U, 256U}) {
      see.trial(of_size("compact of flags " + std::to_string(of), n), [&](auto& on) {
        auto random = see.random(n + of);
        std::vector<std::uint8_t> flags(n);
        std::vector<u32> wanted;
        for (u32 i = 0; i < n; ++i) {
          flags[i] = static_cast<std::uint8_t>(random() % 256 < of ? 2 : random() % 2);
          if (flags[i] == 2) wanted.push_back(i);
        }
        check_compacted(see, on, n, has_flag{upload(on, flags)}, wanted);
      });
    }
  }
  see.trial("exclusive_scan of none", [&](auto& on) {
    u32* const to = upload(on, std::vector<u32>{7, 7});
    on.exclusive_scan(to + 1, 0, to);
    see.same("its total", on.read(to), 0);
    on.finish();
  });
}

/// Keys of which some are equal (all, where `different` is 1), and places as values: so stability shows.
template <class Key>
struct pairs {
  std::vector<Key> keys;
  std::vector<u32> values;

  pairs(random_numbers random, u64 n, u64 different, u32 first_value = 0) {
    for (u32 i = 0; i < n; ++i) {
      // spread over all bits, so that no digit of a radix sort is idle
      keys.push_back(static_cast<Key>(different == 0 ? random() : mixed(random() % different, 9)));
      values.push_back(first_value + i);
    }
  }
  void sort(u64 begin, u64 end) {
    std::vector<std::pair<Key, u32>> all;
    for (u64 i = begin; i < end; ++i) all.emplace_back(keys[i], values[i]);
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (u64 i = begin; i < end; ++i) std::tie(keys[i], values[i]) = all[i - begin];
  }
};

template <class Key, class Examiner>
void check_sorts(Examiner& see) {
  const std::string of = " of " + std::to_string(sizeof(Key)) + " bytes";
  for (const u64 n : see.sizes({0, 1, 2, 31, 257, 511, 512, 4095, 4096, 100003, 1 << 20})) {
    for (const u64 different : std::initializer_list<u64>{0, 1, 10}) {
      see.trial(of_size("sort_pairs" + of + ", different " + std::to_string(different), n), [&](auto& on) {
        pairs<Key> all(see.random(n + different), n, different);
        Key* const keys = upload(on, all.keys);
        u32* const values = upload(on, all.values);
        on.sort_pairs(keys, values, n);
        pairs<Key> got = all;
        deliver(on, keys, got.keys);
        deliver(on, values, got.values);
        on.finish();
        all.sort(0, n);
        see.same("keys", got.keys, all.keys);
        see.same("values", got.values, all.values);
      });
    }
    for (const int bits : {1, 9, 17}) {
      see.trial(of_size("sort_pairs" + of + " of bits, " + std::to_string(bits), n), [&](auto& on) {
        pairs<Key> all(see.random(n + static_cast<u64>(bits)), n, 0);
        for (auto& key : all.keys) key = static_cast<Key>(key >> (8 * static_cast<int>(sizeof(Key)) - bits));
        Key* const keys = upload(on, all.keys);
        u32* const values = upload(on, all.values);
        on.sort_pairs(keys, values, n, bits);
        pairs<Key> got = all;
        deliver(on, keys, got.keys);
        deliver(on, values, got.values);
        on.finish();
        all.sort(0, n);
        see.same("keys", got.keys, all.keys);
        see.same("values", got.values, all.values);
      });
    }
    for (const int ignored : {1, 7, 20}) {
      constexpr int bits = 20;
      see.trial(of_size("sort_pairs" + of + " without bits, " + std::to_string(ignored), n), [&](auto& on) {
        pairs<Key> all(see.random(n + static_cast<u64>(ignored)), n, 0);
        for (auto& key : all.keys) key = static_cast<Key>(key >> (8 * static_cast<int>(sizeof(Key)) - bits));
        Key* const keys = upload(on, all.keys);
        u32* const values = upload(on, all.values);
        on.sort_pairs(keys, values, n, bits, ignored);
        pairs<Key> got = all;
        deliver(on, keys, got.keys);
        deliver(on, values, got.values);
        on.finish();
        u64 misplaced = 0;
        for (u64 i = 0; i < n; ++i) {
          misplaced += i > 0 && got.keys[i - 1] >> ignored > got.keys[i] >> ignored ? 1 : 0;
          const bool is_pair = got.values[i] < n && got.keys[i] == all.keys[got.values[i]];
          misplaced += is_pair ? 0 : 1;
        }
        see.same("misplaced", misplaced, u64{0});
        std::sort(got.values.begin(), got.values.end());
        see.same("values", got.values, all.values);
      });
    }
    for (const u64 segments : see.sizes({0, 1, 2, 50, 3000})) {
      see.trial(of_size("sort_segments" + of + ", " + std::to_string(segments), n), [&](auto& on) {
        auto random = see.random(n + segments);
        pairs<Key> all(random, n, 100);
        std::vector<u32> offsets(segments + 1);
        // every third one is empty, as are those that two equal numbers make
        for (auto& offset : offsets) offset = static_cast<u32>(random() % (n + 1));
        std::sort(offsets.begin(), offsets.end());
        for (u64 s = 2; s <= segments; s += 3) offsets[s] = offsets[s - 1];
        offsets.front() = segments == 0 ? static_cast<u32>(n) : 0;
        offsets.back() = static_cast<u32>(n);
        u64 longest = 0;
        for (u64 s = 0; s < segments; ++s) longest = std::max<u64>(longest, offsets[s + 1] - offsets[s]);
        Key* const keys = upload(on, all.keys);
        u32* const values = upload(on, all.values);
        on.sort_segments(keys, values, n, upload(on, offsets), segments, random() % 2 == 0 ? n : longest);
        pairs<Key> got = all;
        deliver(on, keys, got.keys);
        deliver(on, values, got.values);
        on.finish();
        for (u64 s = 0; s < segments; ++s) all.sort(offsets[s], offsets[s + 1]);
        see.same("keys", got.keys, all.keys);
        see.same("values", got.values, all.values);
      });
    }
  }
  for (const u64 n : see.sizes({0, 1, 33, 1000, 2500, 100003})) {
    for (const u64 a_count : {u64{0}, n / 2, n - n / 10, n}) {
      for (const u64 different : std::initializer_list<u64>{0, 1, 10}) {
        see.trial(of_size("merge_pairs" + of + ", of a " + std::to_string(a_count), n), [&](auto& on) {
          const u64 b_count = n - a_count;
          pairs<Key> a(see.random(n), a_count, different);
          pairs<Key> b(see.random(n + 1), b_count, different, static_cast<u32>(a_count));
          a.sort(0, a_count);
          b.sort(0, b_count);
          Key* const keys = zeros<Key>(on, n);
          u32* const values = zeros<u32>(on, n);
          on.merge_pairs(upload(on, a.keys), upload(on, a.values), a_count, upload(on, b.keys), upload(on, b.values),
                         b_count, keys, values);
          pairs<Key> got(see.random(n), n, 1);
          deliver(on, keys, got.keys);
          deliver(on, values, got.values);
          on.finish();
          a.keys.insert(a.keys.end(), b.keys.begin(), b.keys.end());
          a.values.insert(a.values.end(), b.values.begin(), b.values.end());
          a.sort(0, n);
          see.same("keys", got.keys, a.keys);
          see.same("values", got.values, a.values);
        });
      }
    }
  }
}

template <class Examiner>
void check_operations(Examiner& see) {
  check_sums<u32>(see, "u32");
  check_sums<u64>(see, "u64");
  check_sums<double>(see, "double");
  check_fetch<u32>(see, "u32");
  check_fetch<double>(see, "double");
  check_histogram(see);
  check_compact(see);
  check_sorts<u32>(see);
  check_sorts<u64>(see);
}

}  // namespace zenith::device_suite
