#pragma once

/// \file
/// when, decide, repeat_while and read, and what a phase may not say.

#include <stdexcept>

#include <tests/device/support.hpp>

namespace zenith::device_suite {

template <class Examiner>
void check_when(Examiner& see) {
  for (const u32 outer : {0U, 1U}) {
    for (const u32 inner : {0U, 1U}) {
      see.trial("when " + std::to_string(outer) + ", and inside it " + std::to_string(inner), [&](auto& on) {
        u32* const tests = upload(on, std::vector<u32>{outer, inner});
        u32* const word = zeros<u32>(on, 1);
        u32* const data = upload(on, std::vector<u32>{7, 8, 9});
        u32 known = 1;
        on.for_each(1, then{word, 1});
        // each test is changed by its own phase, which runs whole all the same
        on.when(is_set{tests}, [&] {
          on.for_each(1, then{word, 2});
          on.fill_zero(tests, 1);
          on.for_each(1, then{word, 3});
          on.when(is_set{tests + 1}, [&] {
            on.for_each(1, then{word, 4});
            on.fill_zero(tests + 1, 1);
            on.copy(data, data + 1, 1);
            on.for_each(1, then{word, 5});
          });
          on.for_each(1, then{word, 6});
          on.fill_zero(data + 2, 1);
        });
        on.for_each(1, then{word, 7});
        // seen as it is now
        on.when(is_set{tests}, [&] { on.for_each(1, then{word, 8}); });
        if (outer != 0) {
          known = (known * 3 + 2) * 3 + 3;
          if (inner != 0) known = (known * 3 + 4) * 3 + 5;
          known = known * 3 + 6;
        }
        known = known * 3 + 7;
        see.same("read", on.read(word), known);
        std::vector<u32> got(3);
        deliver(on, data, got);
        on.finish();
        see.same("copied and filled by phases", got, {outer != 0 && inner != 0 ? 8U : 7U, 8U, outer != 0 ? 0U : 9U});
      });
    }
  }
  for (const u32 set : {0U, 1U}) {
    see.trial("when " + std::to_string(set) + " with teams and tiles inside", [&](auto& on) {
      const u64 n = 1000;
      std::vector<u32> keys(n, 3);
      u32* const test = upload(on, std::vector<u32>{set});
      u32* const sums = zeros<u32>(on, 2 * add_values<u32>::words);
      u32* const bins = zeros<u32>(on, tally<device::plain<u32>>::bins);
      u64* const sum = zeros<u64>(on, 1);
      const u32* const given = on.input(keys.data(), n, memory_space::host);
      on.when(is_set{test}, [&] {
        on.for_teams(2, add_values<u32>{5, sums});
        on.for_tiles(tally<device::plain<u32>>{{given, n}, bins, sum});
      });
      see.same("what the tiles summed", on.read(sum), set != 0 ? n * tally<device::plain<u32>>::number_of(3) : 0);
      see.same("what a team summed", on.read(sums), set != 0 ? static_cast<u32>(mixed(0, 0)) : 0);
      on.finish();
    });
  }
}

template <class Examiner>
void check_decisions(Examiner& see) {
  see.trial("decide", [&](auto& on) {
    u32* const word = zeros<u32>(on, 1);
    see.that(!on.decide(is_set{word}), "decided for what is not so");
    on.for_each(1, then{word, 5});
    see.that(on.decide(is_set{word}), "decided against what is so");
    on.fill_zero(word, 1);
    see.that(!on.decide(is_set{word}), "decided as before");
    on.finish();
  });
  for (const u64 most : std::initializer_list<u64>{0, 1, 4, 7, 100}) {
    see.trial("repeat_while, at most " + std::to_string(most), [&](auto& on) {
      u32* const word = zeros<u32>(on, 1);
      const u64 rounds = device::repeat_while(
          on, is_below{word, 7}, [&] { on.for_each(1, visit{word}); }, most);
      see.same("rounds", rounds, most < 7 ? most : 7);
      see.same("what they did", u64{on.read(word)}, rounds);
      on.finish();
    });
  }
  see.trial("read", [&](auto& on) {
    auto* const entry = on.template buffer<ordered::entry64>(2);
    u64* const number = on.template buffer<u64>(2);
    on.for_each(1, write_value<ordered::entry64>{entry + 1, ordered::entry64::make(mixed(1, 2), 3)});
    on.for_each(1, write_value<u64>{number + 1, mixed(3, 4)});
    see.same("an entry", on.read(entry + 1), ordered::entry64::make(mixed(1, 2), 3));
    see.same("a number", on.read(number + 1), mixed(3, 4));
    see.that(!std::string{on.variant()}.empty(), "variant says nothing");
    constexpr bool runs_on_host = std::remove_cvref_t<decltype(on)>::runs_on_host;
    see.that(runs_on_host ? on.threads() > 0 : on.threads() == 0, "threads do not agree with runs_on_host");
    on.finish();
  });
}

template <class Examiner, class Word>
void check_refusal(Examiner& see, const std::string& name, const Word& word) {
  see.trial(name + " inside when", [&](auto& on) {
    u32* const a = upload(on, std::vector<u32>{1, 2, 3, 4, 5, 6, 7, 8});
    u32* const b = upload(on, std::vector<u32>{1, 2, 3, 4, 5, 6, 7, 8});
    u32* const offsets = upload(on, std::vector<u32>{0, 2});
    auto* const entries = on.template buffer<ordered::entry32>(2);
    on.for_each(2, write_value<ordered::entry32>{entries, ordered::entry32::make(1, 2)});
    const auto survivors = on.template collect<ordered::entry32>(2, 1, 2);
    bool refused = false;
    try {
      on.when(is_set{a}, [&] { word(on, a, b, offsets, entries, survivors); });
    } catch (const std::logic_error&) {
      refused = true;
    }
    see.that(refused, "is not refused by a std::logic_error");
  });
}

template <class Examiner>
void check_refusals(Examiner& see) {
  const auto refuses = [&](const char* name, const auto& word) { check_refusal(see, name, word); };
  refuses("buffer", [](auto& on, auto&&...) { (void)on.template buffer<u32>(3); });
  refuses("zeroed", [](auto& on, auto&&...) { (void)on.template zeroed<u32>(3); });
  refuses("collect", [](auto& on, auto&&...) { (void)on.template collect<ordered::entry32>(3, 1, 3); });
  refuses("kth_best",
          [](auto& on, auto*, auto*, auto*, auto* entries, auto&) { on.kth_best(entries, 1, 1, entries + 1); });
  refuses("select_best", [](auto& on, auto*, auto*, auto*, auto*, auto& of) { (void)on.select_best(of, 0); });
  refuses("reduce", [](auto& on, auto* a, auto* b, auto&&...) { on.template reduce<device::plus>(a, 4, b); });
  refuses("exclusive_scan", [](auto& on, auto* a, auto* b, auto&&...) { on.exclusive_scan(a, 4, b); });
  refuses("histogram", [](auto& on, auto* a, auto* b, auto&&...) { on.histogram(a, 4, 8, b); });
  refuses("compact", [](auto& on, auto* a, auto* b, auto* count, auto&&...) {
    on.compact(4, has_bits{a, 1}, b, count);
  });
  refuses("sort_pairs", [](auto& on, auto* a, auto* b, auto&&...) { on.sort_pairs(a, b, 4); });
  refuses("sort_segments",
          [](auto& on, auto* a, auto* b, auto* offsets, auto&&...) { on.sort_segments(a, b, 2, offsets, 1, 2); });
  refuses("merge_pairs", [](auto& on, auto* a, auto* b, auto&&...) { on.merge_pairs(a, a, 1, b, b, 1, a + 4, b + 4); });
  refuses("decide", [](auto& on, auto* a, auto&&...) { (void)on.decide(is_set{a}); });
  refuses("read", [](auto& on, auto* a, auto&&...) { (void)on.read(a); });
  refuses("read behind a phase", [](auto& on, auto* a, auto&&...) {
    on.when(is_set{a}, [] {});
    (void)on.read(a);
  });
  refuses("finish", [](auto& on, auto&&...) { on.finish(); });
}

template <class Examiner>
void check_control(Examiner& see) {
  check_when(see);
  check_decisions(see);
  check_refusals(see);
}

}  // namespace zenith::device_suite
