// How much memory calls take that are drawn: of any operation, strategy, table and option.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <catch.hpp>
#include <counting_memory.hpp>
#include <settings.hpp>
#include <tables.hpp>
#include <zenith/skyband.hpp>
#include <zenith/skyline_layers.hpp>

using namespace conformance::skyline;

namespace {

enum class asked_for { skyline, band, layers, layers_with_counts };

/// Which columns are `different`, and whether rows of a group are many.
enum class grouping { none, few_by_one, few_by_most, many_by_one, many_by_most, all_different };

template <class T>
struct drawn_call {
  asked_for what{};
  std::string strategy;
  grouping groups{};
  bool is_row_major = true;
  table<T> of;  ///< row by row
  request asked;
  int threads = 1;
  int form = 0;

  [[nodiscard]] std::string text() const {
    return std::to_string(static_cast<int>(what)) + " by " + strategy + ", groups " +
           std::to_string(static_cast<int>(groups)) + ", form " + std::to_string(form) + ", " + of.text() + " " +
           asked.text() + ", " + std::to_string(threads) + " threads, seed " + std::to_string(zenith_test::seed());
  }
  [[nodiscard]] std::size_t different() const {
    return static_cast<std::size_t>(std::ranges::count(asked.preferences, zenith::preference::different));
  }
  /// Of points: two of a column of preference `different`, and of several of these together.
  [[nodiscard]] std::size_t images() const { return of.columns - different() + (different() == 0 ? 0 : 2); }

  /// Beside the table. The first lines are the promise (perf/notes/skyline-memory.md); the others are what its last
  /// paragraph lists as above that.
  [[nodiscard]] std::size_t limit() const {
    const std::size_t input = of.values.size() * sizeof(T);
    const bool is_counted = what == asked_for::band || what == asked_for::layers_with_counts;
    std::size_t most = is_counted ? input + std::max(input, 32 * of.rows) : std::max(2 * input, 28 * of.rows);
    if (strategy == "bskytree") most = std::max(most, of.rows * (images() * sizeof(T) + 21));
    // strategies by values, one of which may be chosen, have zeros in some columns
    const std::size_t padded = images() <= 16 ? (images() + 3) / 4 * 4 : 24;
    if (strategy != "bitmap_tiles" && strategy != "bskytree")
      most = std::max(most, of.rows * (padded * sizeof(T) + (is_counted ? 25 : 17)));
    // of two columns that say a group and one that is better, by values: the order and the groups' numbers
    if (different() > 1) most = std::max(most, 29 * of.rows);
    // what does not grow with the rows: bitmaps of the first points, and what is known of a block
    constexpr std::size_t first_points = 32768;
    const std::size_t of_block = std::min<std::size_t>(8192, std::max<std::size_t>(of.rows / 8, 1024));
    const bool may_have_bitmaps =
        strategy == "bitmap_tiles" || strategy == "auto" || what == asked_for::layers_with_counts;
    const std::size_t bitmaps = may_have_bitmaps ? first_points * images() * (images() <= 4 ? 8 : 4) : 0;
    return most + bitmaps + 2 * of_block * (images() * (sizeof(T) + 4) + 32) + (std::size_t{1} << 18);
  }
};

/// Rows of which many are left, whatever the strategy.
template <class T>
void fill(table<T>& of, random_source& random) {
  const auto kind = random() % 4;
  for (std::size_t i = 0; i < of.rows; ++i) {
    for (std::size_t c = 0; c < of.columns; ++c) {
      const std::size_t rising = c % 2 == 0 ? i : of.rows - i;
      of.values.push_back(static_cast<T>(kind == 0   ? 1
                                         : kind == 1 ? rising
                                         : kind == 2 ? rising / 2
                                                     : random() % of.rows));
    }
  }
}

template <class T>
void group(drawn_call<T>& call, random_source& random) {
  auto& of = call.of;
  for (std::size_t c = 0; c < of.columns; ++c) {
    const bool is_one = call.groups == grouping::few_by_one || call.groups == grouping::many_by_one;
    const bool is_all = call.groups == grouping::all_different;
    if (call.groups == grouping::none || !(is_all || (is_one ? c == 0 : c + 1 + random() % 3 < of.columns))) continue;
    call.asked.preferences[c] = zenith::preference::different;
    if (is_all) continue;
    const bool are_many = call.groups == grouping::many_by_one || call.groups == grouping::many_by_most;
    for (std::size_t i = 0; i < of.rows; ++i)
      of.values[i * of.columns + c] = static_cast<T>(are_many ? i / 5 : (i * 7919 + i / 7) % (is_one ? 10 : 2));
  }
}

template <class T>
drawn_call<T> draw(random_source& random) {
  constexpr std::array of_skyline{"auto",     "bitmap_tiles", "sfs",    "salsa",           "ggs",
                                  "bskytree", "skyalign",     "hybrid", "skyalign_padded", "skyalign_no_sync"};
  constexpr std::array of_band{"auto", "bitmap_tiles", "sfs"};
  constexpr std::array of_layers{"auto", "bitmap_tiles", "sfs", "skyalign"};
  drawn_call<T> call;
  call.what = static_cast<asked_for>(random() % 4);
  call.strategy = call.what == asked_for::skyline ? of_skyline[random() % of_skyline.size()]
                  : call.what == asked_for::band  ? of_band[random() % of_band.size()]
                                                  : of_layers[random() % of_layers.size()];
  call.groups = static_cast<grouping>(random() % 6);
  call.of = {"a drawn table", call.strategy == "bitmap_tiles" ? 120'000U : 30'000U, 1 + random() % 16, {}};
  call.asked = some_request(call.of.columns, random);
  call.asked.preferences.resize(call.of.columns, zenith::preference::minimise);
  for (auto& one : call.asked.preferences)
    one = one == zenith::preference::different ? zenith::preference::minimise : one;
  fill(call.of, random);
  group(call, random);
  if (std::is_floating_point_v<T> && call.asked.nans != zenith::nan_rows::reject) {
    for (int i = 0; i < 20; ++i) call.of.values[random() % call.of.values.size()] = std::numeric_limits<T>::quiet_NaN();
  }
  call.threads = 1 + static_cast<int>(random() % 2);
  call.is_row_major = random() % 2 == 0;
  call.form = static_cast<int>(random() % 3);
  return call;
}

/// Runs it with memory of the caller for what is found; returns what it takes beside that.
template <class T>
std::size_t run(const drawn_call<T>& call, random_source& random) {
  const auto& of = call.of;
  std::vector<T> columns;
  for (std::size_t c = 0; c < of.columns && !call.is_row_major; ++c) {
    for (std::size_t i = 0; i < of.rows; ++i) columns.push_back(of.at(i, c));
  }
  const auto points = call.is_row_major ? zenith::matrix_view<const T>::row_major(of.values, of.rows, of.columns)
                                        : zenith::matrix_view<const T>::column_major(columns, of.rows, of.columns);
  std::vector<std::uint32_t> first(of.rows);
  std::vector<std::uint32_t> second(of.rows);
  std::vector<std::uint64_t> wide(of.rows);
  std::vector<std::uint8_t> mask(of.rows);
  counting_memory memory;
  const auto on = zenith::cpu({.threads = call.threads, .memory = &memory});
  const auto& asked = call.asked;
  std::size_t held = 0;
  if (call.what == asked_for::skyline) {
    const zenith::skyline_options options{.preferences = asked.preferences,
                                          .duplicates = asked.duplicates,
                                          .nans = asked.nans,
                                          .strategy = call.strategy};
    (void)(call.form == 0   ? zenith::skyline(on, points, std::span(first), options)
           : call.form == 1 ? zenith::skyline(on, points, std::span(wide), options)
                            : zenith::skyline_mask(on, points, mask, options));
  } else if (call.what == asked_for::band) {
    const zenith::skyband_options options{.preferences = asked.preferences,
                                          .duplicates = asked.duplicates,
                                          .nans = asked.nans,
                                          .strategy = call.strategy};
    const auto k = static_cast<std::uint32_t>(1 + random() % 8);
    (void)(call.form == 0 ? zenith::skyband(on, points, k, std::span(first), options)
                          : zenith::skyband(on, points, k, std::span(wide), std::span(second), options));
  } else {
    zenith::skyline_layers_options options{
        .preferences = asked.preferences, .nans = asked.nans, .strategy = call.strategy};
    options.duplicates = asked.duplicates;
    options.most_layers = random() % 2 == 0 ? 3 : 30;
    if (call.what == asked_for::layers_with_counts) {
      options.dominated_by = second;
      held = of.rows * sizeof(std::uint32_t);  // not the executor's
    }
    (void)zenith::skyline_layers(on, points, std::span(first), options);
  }
  CHECK(memory.now() == 0);
  return memory.most() + held;
}

template <class T>
void check_drawn_calls(const std::string& name) {
  const auto calls = static_cast<std::uint64_t>(40 * std::clamp(zenith_test::scale(), 0.3, 3.0));
  for (std::uint64_t i = 0; i < calls; ++i) {
    random_source random{zenith_test::seed_of(name, i)};
    const auto call = draw<T>(random);
    const auto taken = run(call, random);
    INFO(call.text() << ": " << taken << " bytes, " << static_cast<double>(taken) / static_cast<double>(call.of.rows)
                     << " a row");
    CHECK(taken <= call.limit());
  }
}

}  // namespace

TEST_CASE("memory of any call", "[skyline-memory]") {
  check_drawn_calls<float>("memory of calls");
  check_drawn_calls<double>("memory of calls of doubles");
}
