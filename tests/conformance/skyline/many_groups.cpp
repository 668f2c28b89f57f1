// Bands and layers of rows of many groups, which a host may settle group by group (algorithms/skyline/row_groups.hpp).

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <catch.hpp>
#include <groups.hpp>
#include <settings.hpp>
#include <tables.hpp>
#include <zenith/skyband.hpp>
#include <zenith/skyline_layers.hpp>

using namespace conformance::skyline;

namespace {

struct answers {
  std::vector<std::uint64_t> ids;           ///< of the band
  std::vector<std::uint32_t> dominated_by;  ///< of these
  std::vector<std::uint32_t> layers;        ///< of all rows, those that are dropped too
  std::uint32_t layer_count = 0;
};

/// In a double loop over each group.
template <class T>
answers answers_of(const table<T>& of, const request& asked, std::uint32_t k) {
  answers all;
  all.layers.assign(of.rows, zenith::no_layer);
  std::vector<std::uint32_t> counts(of.rows, k);
  for (const auto& group : rows_by_group(of, asked)) {
    std::vector<std::size_t> firsts;
    for (const auto row : group) {
      const auto is_like = [&](auto other) { return compare_rows(of, asked, other, row) == relation::equals; };
      if (asked.duplicates == zenith::duplicate_rows::keep_all || std::ranges::none_of(firsts, is_like))
        firsts.push_back(row);
    }
    for (const auto row : firsts) {
      const auto is_better = [&](auto other) { return compare_rows(of, asked, other, row) == relation::dominates; };
      counts[row] = static_cast<std::uint32_t>(std::ranges::count_if(firsts, is_better));
    }
    // what dominates a row is dominated by fewer
    std::vector<std::pair<std::size_t, std::size_t>> order;
    order.reserve(firsts.size());
    for (const auto row : firsts) order.emplace_back(counts[row], row);
    std::ranges::sort(order);
    for (std::size_t i = 0; i < order.size(); ++i) {
      auto& own = all.layers[order[i].second];
      own = 0;
      for (std::size_t j = 0; j < i; ++j) {
        const auto layer = all.layers[order[j].second];
        if (own <= layer && compare_rows(of, asked, order[j].second, order[i].second) == relation::dominates)
          own = layer + 1;
      }
      all.layer_count = std::max(all.layer_count, own + 1);
    }
  }
  for (std::size_t row = 0; row < of.rows; ++row) {
    if (counts[row] >= k) continue;
    all.ids.push_back(row);
    all.dominated_by.push_back(counts[row]);
  }
  return all;
}

template <class T>
std::string fault_of_band(const zenith_test::target& on, const table<T>& of, const request& asked, std::uint32_t k,
                          const answers& right) {
  const auto points = zenith::matrix_view<const T>::row_major(of.values, of.rows, of.columns);
  const auto found = zenith::skyband(
      on.on, points, k,
      {.preferences = asked.preferences, .duplicates = asked.duplicates, .nans = asked.nans, .strategy = on.strategy});
  if (!std::ranges::equal(found.ids, right.ids)) return "ids differ: " + std::to_string(found.ids.size());
  return found.dominated_by == right.dominated_by ? "" : "counts differ";
}

template <class T>
std::string fault_of_layers(const zenith_test::target& on, const table<T>& of, const request& asked,
                            const answers& right, random_source& random) {
  const auto points = zenith::matrix_view<const T>::row_major(of.values, of.rows, of.columns);
  zenith::skyline_layers_options options{
      .preferences = asked.preferences, .nans = asked.nans, .strategy = on.strategy, .duplicates = asked.duplicates};
  auto layers = right.layers;
  auto count = right.layer_count;
  if (random() % 2 == 0) {
    options.most_layers = 1 + static_cast<std::uint32_t>(random() % (count + 1));
    count = std::min(count, options.most_layers);
  }
  if (random() % 2 == 0) {
    options.enough_rows = 1 + random() % of.rows;
    std::size_t placed = 0;
    std::uint32_t wanted = 0;
    for (; wanted < count && placed < options.enough_rows; ++wanted)
      placed += static_cast<std::size_t>(std::ranges::count(layers, wanted));
    count = wanted;
  }
  for (auto& layer : layers) layer = layer < count ? layer : zenith::no_layer;
  const auto found = zenith::skyline_layers(on.on, points, options);
  if (found.layers != count) return std::to_string(found.layers) + " layers";
  return found.layer_of == layers ? "" : "layers differ";
}

/// On one target of each strategy, and some more.
template <class T>
void check_somewhere(zenith_test::verdict& seen, const table<T>& of, const request& asked, random_source& random) {
  constexpr std::uint32_t ks[] = {1, 2, 3, 10, ~std::uint32_t{0}};
  const auto k = ks[random() % std::size(ks)];
  const auto right = answers_of(of, asked, k);
  const auto text = [&] { return of.text() + " " + asked.text() + " k=" + std::to_string(k); };
  const auto share = [&](const zenith_test::place& at) {
    return at.on_device || at.is_reference() ? 0.0 : zenith_test::one_of_each(at);
  };
  static const auto bands = zenith_test::targets("skyband");
  static const auto layers = zenith_test::targets("skyline_layers");
  zenith_test::judge(seen, bands, random, share, text,
                     [&](const zenith_test::place& at) { return fault_of_band(at.on, of, asked, k, right); });
  zenith_test::judge(seen, layers, random, share, text,
                     [&](const zenith_test::place& at) { return fault_of_layers(at.on, of, asked, right, random); });
}

bool has_targets() {
  return std::ranges::any_of(zenith_test::targets("skyband"), [](const auto& on) {
    return on.on.backend() != "reference" && on.memory == zenith::memory_space::host;
  });
}

}  // namespace

TEMPLATE_TEST_CASE("bands and layers of many groups", "[skyline]", ZENITH_EVERY_KEY_TYPE) {
  if (!has_targets()) return;
  zenith_test::verdict seen;
  std::uint64_t number = 0;
  constexpr shape shapes[] = {shape::independent, shape::correlated, shape::few_values, shape::all_equal,
                              shape::antichain,   shape::chain,      shape::copies,     shape::specials};
  for (const std::size_t rows : {2047, 2048, 2700}) {
    for (const std::size_t groups : {80, 300, 2700}) {
      random_source random{zenith_test::seed_of("bands of groups", number++)};
      const std::size_t columns = 4 + random() % (random() % 3 == 0 ? 20 : 5);
      auto made = make_table<TestType>(shapes[random() % std::size(shapes)], rows, columns, random);
      auto asked = some_request(columns, random);
      asked.preferences.resize(columns, zenith::preference::minimise);
      group_rows(made, asked, std::vector<std::size_t>(groups, 1), random);
      check_somewhere(seen, made, asked, random);
    }
  }
  seen.require_none();
}

// Rows of groups of more than 4096 are settled elsewhere than others.
TEMPLATE_TEST_CASE("bands and layers of groups of very different sizes", "[skyline]", float32, int64) {
  if (!has_targets()) return;
  zenith_test::verdict seen;
  for (const std::size_t largest : {300, 4096, 4097}) {
    if (largest == 4096 && zenith_test::scale() < 0.3) continue;
    random_source random{zenith_test::seed_of("sizes of groups of bands", largest)};
    std::vector<std::size_t> sizes(3000, 1);
    sizes[random() % sizes.size()] = largest;
    sizes[random() % sizes.size()] = 300;
    const std::size_t rows = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    for (const auto one : {shape::independent, shape::few_values, shape::antichain, shape::copies}) {
      if (zenith_test::scale() < 0.3 && largest > 300 && one != shape::independent && one != shape::copies) continue;
      auto made = make_table<TestType>(one, rows, 4 + random() % 2, random);
      request asked;
      asked.preferences.resize(made.columns, zenith::preference::minimise);
      if (random() % 2 == 0) asked.duplicates = zenith::duplicate_rows::keep_first;
      group_rows(made, asked, sizes, random);
      check_somewhere(seen, made, asked, random);
    }
  }
  seen.require_none();
}

// As one table, most rows would be compared with all of the band.
TEST_CASE("rows of small groups are compared with those of their group alone", "[skyline-contract]") {
  constexpr std::size_t of_group = 5;
  random_source random{zenith_test::seed_of("tests in groups", 0)};
  auto made = make_table<float>(shape::independent, 20'000, 5, random);
  for (std::size_t i = 0; i < made.rows; ++i) made.values[5 * i] = static_cast<float>(i / of_group);
  std::vector<zenith::preference> preferences(5, zenith::preference::minimise);
  preferences[0] = zenith::preference::different;
  const auto points = zenith::matrix_view<const float>::row_major(made.values, made.rows, made.columns);
  // as many as a register has, and a group on either side of them
  constexpr std::size_t most = (16 + 2 * of_group) * 2;
  for (const auto& on : zenith_test::targets("skyband", {"cpu"})) {
    INFO(on.name());
    zenith::skyline_statistics seen;
    CHECK(!zenith::skyband(on.on, points, 3, {.preferences = preferences, .strategy = on.strategy, .statistics = &seen})
               .ids.empty());
    CHECK(seen.candidates == made.rows);
    CHECK(seen.mask_tests == 0);
    CHECK(seen.dominance_tests <= most * made.rows);
  }
  for (const auto& on : zenith_test::targets("skyline_layers", {"cpu"})) {
    INFO(on.name());
    zenith::skyline_statistics seen;
    CHECK(zenith::skyline_layers(on.on, points,
                                 {.preferences = preferences, .strategy = on.strategy, .statistics = &seen})
              .layers <= of_group);
    CHECK(seen.candidates == made.rows);
    CHECK(seen.mask_tests == 0);
    CHECK(seen.dominance_tests <= most * made.rows);
  }
}
