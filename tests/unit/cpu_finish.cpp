// The end of a call on the CPU: entries are partitioned, selected and sorted by every instruction set, in pieces by any
// number of workers, and what the workers hold is brought together.

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <vector>

#include <backends/cpu/isa.hpp>
#include <backends/cpu/select.hpp>
#include <backends/cpu/top_k_finish.hpp>
#include <catch.hpp>
#include <check.hpp>
#include <inputs.hpp>
#include <settings.hpp>

using namespace conformance;
using zenith::cpu_backend::isa_table;
using zenith::cpu_backend::selector;
using zenith::cpu_backend::spare_slack;
using zenith::top_k_detail::entry32;
using zenith::top_k_detail::entry64;

namespace {

std::vector<const isa_table*> usable_isas() {
  std::vector<const isa_table*> usable;
  for (const auto* isa : zenith::cpu_backend::built_isas()) {
    if (zenith::cpu_backend::is_usable(*isa)) usable.push_back(isa);
  }
  return usable;
}

template <class Entry>
bool before(const Entry& a, const Entry& b) {
  return better(a, b);
}

// Different entries in random order. With few images the indices decide; the images are as large as they come.
template <class Entry>
std::vector<Entry> some_entries(std::size_t count, std::uint64_t images, random_source& random) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const auto image = static_cast<typename Entry::image_t>(~(random() % images));
    entries.push_back(Entry::make(image, static_cast<std::uint32_t>(i)));
  }
  std::ranges::shuffle(entries, random);
  return entries;
}

template <class Entry>
bool same(std::span<const Entry> a, std::span<const Entry> b) {
  return std::ranges::equal(a, b, [](const Entry& x, const Entry& y) { return !better(x, y) && !better(y, x); });
}

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t size = 0; size <= 130; ++size) all.push_back(size);
  all.insert(all.end(), {511, 512, 513, 4099, 8192, 8193, 20011});
  return all;
}

// An entry on each side that no method may touch.
template <class Entry>
struct guarded_entries {
  explicit guarded_entries(const std::vector<Entry>& from) : held{guard()} {
    held.insert(held.end(), from.begin(), from.end());
    held.push_back(guard());
  }
  static Entry guard() { return Entry::make(static_cast<typename Entry::image_t>(0x5a5a5a5a5a5a5a5aU), 77); }
  std::span<Entry> span() { return std::span<Entry>(held).subspan(1, held.size() - 2); }
  bool guards_stand() {
    return same<Entry>({&held.front(), 1}, {{guard()}}) && same<Entry>({&held.back(), 1}, {{guard()}});
  }
  std::vector<Entry> held;
};

}  // namespace

TEMPLATE_TEST_CASE("entries are sorted, selected and partitioned by every instruction set", "", entry32, entry64) {
  random_source random{zenith_test::seed_of("cpu entries", 0)};
  for (const auto* isa : usable_isas()) {
    for (const auto size : sizes()) {
      for (const std::uint64_t images : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1} << 32}) {
        CAPTURE(isa->name, size, images);
        const auto entries = some_entries<TestType>(size, images, random);
        auto sorted = entries;
        std::ranges::sort(sorted, before<TestType>);
        std::vector<TestType> spare(size + spare_slack);
        const selector<TestType> by(*isa, spare.data());

        guarded_entries<TestType> mine(entries);
        by.sort(mine.span());
        CHECK(same<TestType>(mine.span(), sorted));
        CHECK(mine.guards_stand());
        if (size == 0) continue;

        const std::size_t rank = random() % size;
        guarded_entries<TestType> parted(entries);
        CHECK(by.partition(parted.span(), sorted[rank]) == rank);
        CHECK(parted.guards_stand());
        std::ranges::sort(parted.span().first(rank), before<TestType>);
        std::ranges::sort(parted.span().subspan(rank), before<TestType>);
        CHECK(same<TestType>(parted.span(), sorted));

        guarded_entries<TestType> chosen(entries);
        by.select(chosen.span(), rank + 1);
        CHECK(chosen.guards_stand());
        CHECK(same<TestType>(chosen.span().subspan(rank, 1), {{sorted[rank]}}));
        std::ranges::sort(chosen.span().first(rank), before<TestType>);
        std::ranges::sort(chosen.span().subspan(rank), before<TestType>);
        CHECK(same<TestType>(chosen.span(), sorted));
      }
    }
  }
}

TEMPLATE_TEST_CASE("any number of workers ends a call alike", "", std::uint32_t, std::uint64_t) {
  using entry = zenith::top_k_detail::entry_t<zenith::top_k_detail::bits_t<TestType>>;
  using zenith::cpu_backend::worth_a_finisher;
  random_source random{zenith_test::seed_of("cpu finish", 0)};
  constexpr std::uint64_t count = 6 * worth_a_finisher + 11;
  const auto order = zenith::top_k_detail::order_of<TestType>(zenith::top_k_call{});
  std::vector<TestType> keys(count);
  for (auto& key : keys) key = static_cast<TestType>(random() % 5000);
  std::vector<entry> entries;
  for (std::uint32_t i = 0; i < count; ++i) entries.push_back(entry::make(order.image(keys[i]), i));
  auto sorted = entries;
  std::ranges::sort(sorted, before<entry>);

  for (const auto* isa : usable_isas()) {
    for (const int workers : {1, 2, 3, 5, 64}) {
      for (const std::uint64_t k :
           {std::uint64_t{1}, 2 * worth_a_finisher - 1, 2 * worth_a_finisher, 5 * worth_a_finisher + 3, count}) {
        for (const auto ordering : {zenith::ordering::sorted, zenith::ordering::any}) {
          CAPTURE(isa->name, workers, k);
          auto shuffled = entries;
          std::ranges::shuffle(shuffled, random);
          guarded<TestType> out_keys(k);
          guarded<std::uint32_t> out_indices(k);
          zenith::top_k_call call;
          call.type = zenith::key_type_of<TestType>;
          call.keys = keys.data();
          call.count = count;
          call.k = k;
          call.out_keys = out_keys.span().data();
          call.out_indices = out_indices.span().data();
          call.index_bytes = 4;
          call.order = ordering;
          zenith::cpu_backend::finish<TestType>(call, *isa, *std::pmr::new_delete_resource(), workers, shuffled);

          const auto where = out_indices.span();
          std::size_t wrong = 0;
          for (std::size_t i = 0; i < k; ++i) wrong += where[i] < count && out_keys.span()[i] == keys[where[i]] ? 0 : 1;
          CHECK(wrong == 0);
          std::vector<std::uint32_t> expected;
          for (const auto& one : std::span(sorted).first(k)) expected.push_back(one.index());
          if (ordering == zenith::ordering::any) {
            std::ranges::sort(expected);
            std::ranges::sort(where);
          }
          CHECK(std::ranges::equal(where, expected));
          CHECK(out_keys.guards_stand());
          CHECK(out_indices.guards_stand());
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("what several workers hold is brought together", "", float, std::int64_t) {
  // so much that all three have a share, and that each brings its own
  constexpr std::size_t count = 3 * 512 * 1024 / sizeof(TestType) + 1000;
  constexpr std::size_t k = 9000;
  std::uint64_t number = 0;
  for (const auto which : {distribution::uniform, distribution::normal, distribution::ascending,
                           distribution::descending, distribution::all_equal, distribution::two_values,
                           distribution::rising_blocks, distribution::late_peak, distribution::early_peak}) {
    if (!zenith_test::is_drawn("gathered", ++number)) continue;
    random_source random{zenith_test::seed_of("gathered", number)};
    column<TestType> input(std::string(name_of(which)), make_keys<TestType>(which, count, random), 0);
    for (const auto* isa : usable_isas()) {
      zenith_test::target on;
      on.executor_string = "cpu:threads=3,isa=" + std::string(isa->name);
      on.strategy = "filter";
      on.on = zenith::make_executor(on.executor_string);
      request asked;
      asked.k = k;
      CHECK(fault_of(on, input, asked) == "");
    }
  }
}
