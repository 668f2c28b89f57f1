#pragma once

/// \file
/// Collections and selection among entries.

#include <algorithm>

#include <tests/device/support.hpp>

namespace zenith::device_suite {

struct by_better {
  template <class Entry>
  bool operator()(const Entry& a, const Entry& b) const {
    return better(a, b);
  }
};

/// Fills a collection from a source whose bound is set to `bound`, and holds it to its promise. `all`: the entries of
/// the source, best first. `expects_all`: as many were expected as came, so none may be lost.
template <class Source, class Context, class Examiner>
void check_collection(Examiner& see, Context& on, const Source& source, const std::vector<entry_of<Source>>& all, u64 k,
                      const entry_of<Source>& bound, bool expects_all) {
  using entry = entry_of<Source>;
  const u64 reach = static_cast<u64>(
      std::partition_point(all.begin(), all.end(), [&](const entry& one) { return !better(bound, one); }) -
      all.begin());
  const u64 n = all.size();
  const auto survivors = on.template collect<entry>(n, k, expects_all ? reach : k);
  see.same("the bound to begin with", on.read(survivors.bound), entry::worst());
  see.that(survivors.k == k, "k of the collection");
  on.for_each(1, write_value<entry>{survivors.bound, bound});
  on.for_tiles(give_best<Source>{source, survivors});
  const u64 count = on.read(survivors.count);
  const u64 wanted = std::min(k, reach);
  see.that(count >= wanted, "fewer survived than are wanted");
  if (expects_all) see.that(count <= survivors.capacity, "some were lost though so many were expected");
  if (count > survivors.capacity || count < wanted) {
    on.finish();
    return;
  }
  see.that(!better(on.read(survivors.bound), all[wanted - 1]), "the bound rose above what is wanted");
  std::vector<entry> got_all(count);
  deliver(on, survivors.entries, got_all);
  std::vector<entry> got(k);
  deliver(on, on.select_best(survivors, k), got);
  on.finish();
  std::vector<entry> best(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted));
  best.resize(k, entry::worst());
  see.same("the best", got, best);
  std::sort(got_all.begin(), got_all.end(), by_better{});
  see.that(std::includes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(reach), got_all.begin(), got_all.end(),
                         by_better{}),
           "something survived that does not reach the bound, or twice");
}

template <class T>
std::vector<T> patterned(const std::string& pattern, random_numbers random, u64 n) {
  std::vector<T> keys(n);
  for (u64 i = 0; i < n; ++i) {
    if (pattern == "random") keys[i] = static_cast<T>(random());
    if (pattern == "few") keys[i] = static_cast<T>(random() % 3);
    if (pattern == "equal") keys[i] = 7;
    if (pattern == "rising") keys[i] = static_cast<T>(i + 1);
    if (pattern == "falling") keys[i] = static_cast<T>(n - i);
  }
  return keys;
}

/// `make(on, keys)`: the source of these keys.
template <class Source, class Examiner, class MakeSource>
void check_collecting(Examiner& see, const std::string& name, const std::vector<typename Source::key>& keys,
                      const MakeSource& make) {
  using entry = entry_of<Source>;
  const u64 n = keys.size();
  std::vector<entry> all;
  for (u32 i = 0; i < n; ++i) all.push_back(entry::make(keys[i], i));
  std::sort(all.begin(), all.end(), by_better{});
  for (const u64 k : std::initializer_list<u64>{1, 2, 33, 100, 1000, 5000}) {
    if (k > n || (see.limits().brief && (k == 2 || k > 100))) continue;
    const auto& twice = all[std::min(2 * k, n) - 1];
    const std::string of = of_size(name + ", k = " + std::to_string(k), n);
    const auto check = [&](const std::string& what, const entry& bound, bool expects_all) {
      see.trial(of + what, [&](auto& on) { check_collection(see, on, make(on), all, k, bound, expects_all); });
    };
    check(", exact bound", all[k - 1], true);
    check(", bound of twice as many", twice, true);
    check(", bound above what is wanted", all[k / 2], true);
    // of equal keys, any index reaches this one
    check(", bound below an index", entry::make(twice.image(), ~u32{0} - 1), false);
    check(", no bound, all expected", entry::worst(), true);
    check(", no bound, k expected", entry::worst(), false);
  }
}

template <class T, class Examiner>
void check_collecting_plain(Examiner& see) {
  using source = device::plain<T>;
  for (const u64 n : see.sizes({1, 63, 64, 1000, 4999, 100003, 1 << 20})) {
    for (const char* const pattern : {"random", "few", "equal", "rising", "falling"}) {
      if (n == 1 << 20 && std::string{pattern} != "rising") continue;
      const auto keys = patterned<T>(pattern, see.random(n), n);
      check_collecting<source>(see, std::string{"collection of "} + pattern + " keys of " + std::to_string(sizeof(T)),
                               keys, [&](auto& on) {
                                 return source{on.input(keys.data(), n, memory_space::host), n};
                               });
    }
  }
}

template <class Entry, class Examiner>
void check_kth_best(Examiner& see) {
  for (const u64 n : see.sizes({1, 2, 31, 100, 255, 257, 1000, 1024, 4096, 20000})) {
    for (const u64 rank : {u64{1}, (n + 1) / 2, n}) {
      for (const u64 different : std::initializer_list<u64>{0, 1, 3}) {
        see.trial(of_size("kth_best of " + std::to_string(sizeof(Entry)) + " bytes, rank " + std::to_string(rank), n),
                  [&](auto& on) {
                    auto random = see.random(n + rank);
                    std::vector<Entry> all;
                    for (u32 i = 0; i < n; ++i) {
                      const u64 image = different == 0 ? random() : random() % different;
                      all.push_back(Entry::make(static_cast<typename Entry::image_t>(image), i * 7));
                    }
                    Entry* const entries = upload(on, all);
                    Entry* const to = zeros<Entry>(on, 1);
                    on.kth_best(entries, n, rank, to);
                    std::vector<Entry> got(n);
                    deliver(on, entries, got);
                    const Entry kth = on.read(to);
                    on.finish();
                    std::sort(all.begin(), all.end(), by_better{});
                    std::sort(got.begin(), got.end(), by_better{});
                    see.same("the entry", kth, all[rank - 1]);
                    see.same("the entries afterwards", got, all);
                  });
        see.trial(of_size("select_best of " + std::to_string(sizeof(Entry)) + " bytes, " + std::to_string(rank), n),
                  [&](auto& on) {
                    auto random = see.random(n + rank + 1);
                    std::vector<Entry> all;
                    for (u32 i = 0; i < n; ++i) {
                      const u64 image = different == 0 ? random() : random() % different;
                      all.push_back(Entry::make(static_cast<typename Entry::image_t>(image), i * 5));
                    }
                    std::vector<Entry> got(rank);
                    deliver(on, on.select_best(upload(on, all), n, rank), got);
                    on.finish();
                    std::sort(all.begin(), all.end(), by_better{});
                    all.resize(rank);
                    see.same("the best", got, all);
                  });
      }
    }
  }
}

template <class Examiner>
void check_collections(Examiner& see) {
  check_collecting_plain<u32>(see);
  check_collecting_plain<u64>(see);
  for (const u64 n : see.sizes({1, 129, 4999, 100003})) {
    using source = made_of_blocks<u32>;
    auto random = see.random(n);
    std::vector<u64> seeds(n / source::block_items + 1);
    for (auto& seed : seeds) seed = random();
    std::vector<u32> keys;
    for (u64 i = 0; i < n; ++i) keys.push_back(source{seeds.data(), n}.at(i));
    check_collecting<source>(see, "collection of blocks", keys, [&](auto& on) {
      return source{on.input(seeds.data(), seeds.size(), memory_space::host), n};
    });
  }
  check_kth_best<ordered::entry32>(see);
  check_kth_best<ordered::entry64>(see);
}

}  // namespace zenith::device_suite
