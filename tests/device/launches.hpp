#pragma once

/// \file
/// Memory, item kernels, and what the teams of a launch share.

#include <algorithm>
#include <cstdint>

#include <core/device/counts.hpp>
#include <tests/device/support.hpp>

namespace zenith::device_suite {

template <class Examiner>
void check_memory(Examiner& see) {
  see.trial("buffer", [&](auto& on) {
    std::vector<u32*> all;
    for (u32 i = 0; i < 200; ++i) {
      const u64 n = (i * 37) % 301;
      u32* const at = on.template buffer<u32>(n);
      see.that(reinterpret_cast<std::uintptr_t>(at) % 64 == 0, "a buffer is not aligned to 64 bytes");
      on.for_each(n, write_value<u32>{at, i});
      all.push_back(at);
    }
    const auto* const longs = on.template buffer<ordered::entry64>(3);
    see.that(reinterpret_cast<std::uintptr_t>(longs) % 64 == 0, "a buffer of entries is not aligned to 64 bytes");
    std::vector<std::vector<u32>> got;
    for (u32 i = 0; i < 200; ++i) got.emplace_back((i * 37) % 301);
    for (u32 i = 0; i < 200; ++i) deliver(on, all[i], got[i]);
    on.finish();
    for (u32 i = 0; i < 200; ++i) see.same("buffer " + std::to_string(i), got[i], std::vector<u32>((i * 37) % 301, i));
  });
  see.trial("zeroed", [&](auto& on) {
    std::vector<std::vector<u32>> got;
    std::vector<u32*> all;
    for (u32 i = 0; i < 60; ++i) {
      const u64 n = i * i * 37 % 5003;
      u32* const at = on.template zeroed<u32>(n);
      see.that(reinterpret_cast<std::uintptr_t>(at) % 64 == 0, "zeros are not aligned to 64 bytes");
      got.emplace_back(n, 5);
      deliver(on, at, got.back());
      // what another's kernel writes is not in the next ones
      all.push_back(on.template zeroed<u32>(n));
      on.for_each(n, write_value<u32>{all.back(), i});
    }
    on.finish();
    for (u32 i = 0; i < 60; ++i) see.same("zeros " + std::to_string(i), got[i], std::vector<u32>(got[i].size(), 0));
  });
  see.trial("release", [&](auto& on) {
    // what is still to run uses the memory, and what comes later may lie there
    std::vector<std::vector<u32>> got;
    for (u32 i = 0; i < 12; ++i) {
      const u64 n = i % 2 == 0 ? 40'000 + i : i;
      u32* const first = on.template buffer<u32>(n);
      u32* const kept = on.template zeroed<u32>(n);
      on.for_each(n, write_value<u32>{first, i});
      on.copy(kept, first, n);
      on.release(first);
      u32* const second = on.template zeroed<u32>(n);
      on.for_each(n, write_value<u32>{second, i + 100});
      got.emplace_back(n, 5);
      deliver(on, kept, got.back());
      on.release(second);
    }
    on.finish();
    for (u32 i = 0; i < 12; ++i) see.same("kept " + std::to_string(i), got[i], std::vector<u32>(got[i].size(), i));
  });
  see.trial("fill_zero and copy", [&](auto& on) {
    auto random = see.random(1);
    std::vector<u64> from(1000);
    for (auto& value : from) value = random();
    u64* const all = upload(on, from);
    u64* const to = upload(on, std::vector<u64>(from.size(), 7));
    on.fill_zero(all + 100, 257);
    on.fill_zero(all, 0);
    on.copy(to + 10, all + 90, 500);
    on.copy(to, all, 0);
    std::vector<u64> got_all(from.size());
    std::vector<u64> got_to(from.size());
    deliver(on, all, got_all);
    deliver(on, to, got_to);
    on.finish();
    std::fill_n(from.begin() + 100, 257, 0);
    std::vector<u64> wanted(from.size(), 7);
    std::copy_n(from.begin() + 90, 500, wanted.begin() + 10);
    see.same("what was filled", got_all, from);
    see.same("the copy", got_to, wanted);
  });
  for (const u64 n : see.sizes({1, 1000, 100003})) {
    see.trial(of_size("input and output by kernel", n), [&](auto& on) {
      auto random = see.random(n);
      std::vector<u32> from(n);
      for (auto& value : from) value = static_cast<u32>(random());
      std::vector<u32> to(n + 1, 5);
      on.for_each(n, copy_items<u32>{on.output(to.data(), n, memory_space::host),
                                     on.input(from.data(), n, memory_space::host)});
      on.finish();
      from.push_back(5);
      see.same("the output", to, from);
    });
  }
}

template <class Examiner>
void check_for_each(Examiner& see) {
  for (const u64 n : see.sizes({0, 1, 63, 64, 65, 1000, 4999, 100003, 1 << 20})) {
    see.trial(of_size("for_each", n), [&](auto& on) {
      u32* const visits = zeros<u32>(on, n + 100);
      on.for_each(n, visit{visits});
      std::vector<u32> got(n + 100);
      deliver(on, visits, got);
      on.finish();
      std::vector<u32> wanted(n + 100, 0);
      std::fill_n(wanted.begin(), n, 1);
      see.same("visits", got, wanted);
    });
  }
  see.trial("launches keep their order", [&](auto& on) {
    u32* const word = zeros<u32>(on, 1);
    u32* const before = on.template buffer<u32>(50);
    u32 known = 0;
    std::vector<u32> wanted;
    for (u32 i = 0; i < 50; ++i) {
      wanted.push_back(known);
      on.copy(before + i, word, 1);
      on.for_each(1, then{word, i});
      known = known * 3 + i;
      if (i == 30) {
        on.fill_zero(word, 1);
        known = 0;
      }
    }
    see.same("read", on.read(word), known);
    std::vector<u32> got(50);
    deliver(on, before, got);
    on.finish();
    see.same("the word before each launch", got, wanted);
  });
}

template <class T, class Examiner>
void check_atomics(Examiner& see) {
  for (const u64 n : see.sizes({1, 1000, 100003})) {
    see.trial(of_size("atomics of " + std::to_string(sizeof(T)) + " bytes", n), [&](auto& on) {
      auto random = see.random(n);
      std::vector<T> values(n);
      for (auto& value : values) value = static_cast<T>(random());
      std::vector<T> start{5, 0, static_cast<T>(~T{0}), static_cast<T>(0xa0000)};
      T* const words = upload(on, start);
      T* const stored = zeros<T>(on, n);
      u32* const wrong = zeros<u32>(on, 1);
      on.for_each(n, use_atomics<T>{on.input(values.data(), n, memory_space::host), words, words + 1, words + 2,
                                    words + 3, stored, wrong});
      std::vector<T> got(4);
      std::vector<T> got_stored(n);
      deliver(on, words, got);
      deliver(on, stored, got_stored);
      see.same("wrong answers", on.read(wrong), 0);
      on.finish();
      std::vector<T> wanted = start;
      std::vector<T> wanted_stored;
      for (const T value : values) {
        wanted[0] = static_cast<T>(wanted[0] + value);
        wanted[1] = std::max(wanted[1], value);
        wanted[2] = std::min(wanted[2], value);
        wanted[3] |= value & static_cast<T>(0x5555);
        wanted_stored.push_back(static_cast<T>(value + 1));
      }
      see.same("add, max, min, or", got, wanted);
      see.same("store", got_stored, wanted_stored);
    });
    see.trial(of_size("running_threshold", n), [&](auto& on) {
      auto random = see.random(n + 1);
      std::vector<T> images(n);
      for (auto& image : images) image = static_cast<T>(random());
      T* const at = zeros<T>(on, 1);
      u32* const wrong = zeros<u32>(on, 1);
      on.for_each(n, raise_to<T>{{at}, on.input(images.data(), n, memory_space::host), wrong});
      see.same("times that it was below what it was raised to", on.read(wrong), 0);
      see.same("the threshold", on.read(at), *std::max_element(images.begin(), images.end()));
      on.finish();
    });
  }
}

template <class Examiner>
void check_shared_state(Examiner& see) {
  check_atomics<u32>(see);
  check_atomics<u64>(see);
  for (const u64 n : see.sizes({1, 999, 100003})) {
    see.trial(of_size("atomic_add", n), [&](auto& on) {
      u32* const next = zeros<u32>(on, 1);
      u32* const owner = zeros<u32>(on, n);
      std::vector<std::int32_t> values(n);
      for (u64 i = 0; i < n; ++i) values[i] = static_cast<std::int32_t>(i % 5) - 3;
      auto* const sum = zeros<std::int32_t>(on, 1);
      on.for_each(n, take_tickets{next, owner});
      on.for_each(n, add_signed{sum, on.input(values.data(), n, memory_space::host)});
      std::vector<u32> got(n);
      deliver(on, owner, got);
      std::int32_t wanted_sum = 0;
      for (const auto value : values) wanted_sum += value;
      see.same("the signed sum", on.read(sum), wanted_sum);
      on.finish();
      std::sort(got.begin(), got.end());
      std::vector<u32> wanted;
      for (u32 i = 0; i < n; ++i) wanted.push_back(i);
      see.same("tickets' owners", got, wanted);
    });
    // capacity for all, for exactly as many, and for too few
    for (const u64 capacity : {n, n - (n + 2) / 3, n / 2}) {
      see.trial(of_size("appender of " + std::to_string(capacity), n), [&](auto& on) {
        const u64 given = n - (n + 2) / 3;
        auto* const items = zeros<ordered::entry64>(on, capacity + 10);
        u32* const count = zeros<u32>(on, 1);
        on.for_each(n, append_some{{items, count, static_cast<u32>(capacity)}});
        std::vector<ordered::entry64> got(capacity + 10);
        deliver(on, items, got);
        see.same("the count", on.read(count), static_cast<u32>(given));
        on.finish();
        std::vector<u32> indices;
        const u64 kept = std::min(given, capacity);
        for (u64 i = 0; i < kept; ++i) {
          const auto entry = got[i];
          indices.push_back(entry.index());
          see.that(equal(entry, ordered::entry64::make(mixed(entry.index(), 5), entry.index())), "a torn item");
          see.that(entry.index() < n && entry.index() % 3 != 0, "an item that nobody appended");
        }
        std::sort(indices.begin(), indices.end());
        see.that(std::adjacent_find(indices.begin(), indices.end()) == indices.end(), "an item came twice");
        for (u64 i = kept; i < got.size(); ++i) see.that(got[i].high == 0 && got[i].low == 0, "written past its end");
      });
    }
  }
}

template <class Examiner>
void check_counters(Examiner& see) {
  for (const bool asked : {false, true}) {
    see.trial(asked ? "counters that were asked for" : "counters that nobody asked for", [&](auto& on) {
      device::named_counts counts;
      if (asked) on.count_into(&counts);
      u32* const counting = zeros<u32>(on, 1);
      const u64 n = std::min<u64>(see.limits().most_items, 10007);
      const auto ones = on.counter("ones");
      const auto indices = on.counter("indices");
      see.that(ones.is_on() == asked, "is_on of the first");
      on.for_each(n, count_events{ones, indices, counting});
      on.for_each(n, count_events{on.counter("ones"), {}, counting});
      see.same("items that saw them on", on.read(counting), asked ? static_cast<u32>(2 * n) : 0);
      on.finish();
      see.same("ones", counts.of("ones"), asked ? 2 * n : 0);
      see.same("indices", counts.of("indices"), asked ? n * (n - 1) / 2 : 0);
      see.same("names", counts.all().size(), asked ? 2 : 0);
    });
  }
}

}  // namespace zenith::device_suite
