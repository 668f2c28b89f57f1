// The strategies of spatial joins on the sequential context, whose memory is told apart from the host's, through the
// conformance cases, as a host runs them and as a device does; and the rounds of threshold_first.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <algorithms/spatial_join/strategies.hpp>
#include <catch.hpp>
#include <spatial_suite.hpp>
#include <tests/unit/sequential_backend.hpp>

using namespace zenith;

namespace {

/// What calls on the device below asked of it.
struct asked {
  int launches = 0;
  int answers = 0;
};
asked of_device;

/// Counts.
struct counting_device : device_suite::device_like {
  using base = device_suite::device_like;

  template <device::item_kernel K>
  void for_each(std::uint64_t n, const K& run) {
    ++of_device.launches;
    base::for_each(n, run);
  }
  template <device::team_kernel K>
  void for_teams(std::uint64_t n, const K& run) {
    ++of_device.launches;
    base::for_teams(n, run);
  }
  template <device::team_kernel... K>
  void for_teams_in_turn(const device::turn<K>&... turns) {
    ++of_device.launches;
    base::for_teams_in_turn(turns...);
  }
  template <class Entry>
  const Entry* select_best(Entry* entries, std::uint64_t n, std::uint64_t k) {
    ++of_device.launches;
    return base::select_best(entries, n, k);
  }
  template <class T>
  T read(const T* at) {
    ++of_device.answers;
    return base::read(at);
  }
};

}  // namespace

// Groups of so few rows, and places for so few partners, that small joins have all kinds of both.
template <>
inline constexpr spatial_join_family::group_sizes spatial_join_family::sizes_of_groups<counting_device>{
    8, 16, 3, 6, 2, 8, 1, 64, 16, 1024, 1000, 8, 1};

namespace {

template <class Strategy>
struct device_runner {
  static void run(const execution& /*where*/, const typename Strategy::call_type& call) {
    counting_device on;
    Strategy::run(on, call);
  }
};
constexpr auto device_table = device::kernel_entries<device_runner>(spatial_join_family::strategies{});
constinit const backend device_backend{
    .name = "device", .description = "the sequential context as a device", .needs = "nothing", .kernels = device_table};

}  // namespace

namespace conformance::spatial {

const suite& the_suite() {
  static const suite here = [] {
    register_backend(zenith_test::sequential_backend<spatial_join_family::kernels, spatial_join_family::strategies>);
    register_backend(device_backend);
    return suite{.joins = zenith_test::targets("spatial_join", {"sequential", "device"}),
                 .ranked = zenith_test::targets("top_k_spatial_join", {"sequential", "device"}),
                 .most_rows = 1000};
  }();
  return here;
}

}  // namespace conformance::spatial

TEST_CASE("samples that mislead about the best scores", "[spatial]") {
  REQUIRE(!conformance::spatial::the_suite().ranked.empty());
  constexpr std::size_t rows[] = {20000, 6000};
  constexpr std::size_t k = 10;
  std::mt19937 random{zenith_test::seed_of("spatial.misled", 0)};
  std::uniform_real_distribution<float> place(0, 100);
  std::array<std::vector<float>, 2> x;
  std::array<std::vector<float>, 2> y;
  std::array<std::vector<bool>, 2> is_sampled;
  for (std::size_t side = 0; side < 2; ++side) {
    x[side].resize(rows[side]);
    y[side].resize(rows[side]);
    for (auto& at : x[side]) at = place(random);
    for (auto& at : y[side]) at = place(random);
    is_sampled[side].assign(rows[side], false);
    for (unsigned i = 0; i < spatial_join_family::most_score_samples; ++i) {
      is_sampled[side][spatial_join_family::sampled_row(i, rows[side])] = true;
    }
  }
  enum class kind { one_is_far_better, others_are_all_best };
  for (const auto of : {kind::one_is_far_better, kind::others_are_all_best}) {
    std::array<std::vector<float>, 2> scores;
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t row = 0; row < rows[side]; ++row) {
        const bool is_best = of == kind::others_are_all_best && !is_sampled[side][row];
        scores[side].push_back(is_best ? 100 : place(random));
      }
      const auto row = std::find(is_sampled[side].begin(), is_sampled[side].end(), false) - is_sampled[side].begin();
      if (of == kind::one_is_far_better) scores[side][static_cast<std::size_t>(row)] = 1000;
    }
    const scored_points<float> left{{x[0], y[0]}, scores[0]};
    const scored_points<float> right{{x[1], y[1]}, scores[1]};
    for (const char* const name : {"sequential", "device"}) {
      const auto ex = make_executor(name);
      spatial_join_statistics seen;
      const auto all = top_k_spatial_join(ex, left, right, k, {.predicate = {2.3}, .strategy = "full"});
      const auto best = top_k_spatial_join(ex, left, right, k,
                                           {.predicate = {2.3}, .strategy = "threshold_first", .statistics = &seen});
      CHECK(all.left == best.left);
      CHECK(all.right == best.right);
      CHECK(all.scores == best.scores);
      CHECK(best.left.size() == k);
      // more than a pool of this k holds
      if (of == kind::others_are_all_best) CHECK(seen.candidates > 4 * (2 * k + 16) + 65536);
    }
  }
}

namespace {

/// Points in [0, 100]^2 with scores in [0, 100].
struct drawn_points {
  drawn_points(std::size_t rows, std::mt19937& random) : x(rows), y(rows), scores(rows) {
    std::uniform_real_distribution<float> place(0, 100);
    for (auto* column : {&x, &y, &scores}) {
      for (auto& value : *column) value = place(random);
    }
  }
  [[nodiscard]] scored_points<float> points() const { return {{x, y}, scores}; }

  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> scores;
};

/// Seeds what is the same in every run: how many rounds are enough is left to chance, and one draw in some hundreds
/// needs a round more.
constexpr unsigned same_points = 1;

/// What `threshold_first` did on the device, where it found what `full` finds.
spatial_join_statistics checked(const drawn_points& left, const drawn_points& right, std::size_t k, double distance) {
  REQUIRE(!conformance::spatial::the_suite().ranked.empty());
  const auto ex = make_executor("device");
  spatial_join_statistics seen;
  const auto all =
      top_k_spatial_join(ex, left.points(), right.points(), k, {.predicate = {distance}, .strategy = "full"});
  of_device = {};
  const auto best = top_k_spatial_join(ex, left.points(), right.points(), k,
                                       {.predicate = {distance}, .strategy = "threshold_first", .statistics = &seen});
  CHECK(all.left == best.left);
  CHECK(all.right == best.right);
  CHECK(all.scores == best.scores);
  return seen;
}

}  // namespace

TEST_CASE("one row with most of the partners takes a host two rounds", "[spatial]") {
  REQUIRE(!conformance::spatial::the_suite().ranked.empty());
  std::mt19937 random{same_points};
  drawn_points few(1000, random);
  drawn_points many(80000, random);
  for (auto* at : {&many.x, &many.y}) std::fill(at->begin(), at->end(), 50.F);
  few.x[500] = few.y[500] = 50;
  for (const float score : {5.F, 52.F, 95.F}) {
    few.scores[500] = score;
    for (const bool is_exchanged : {false, true}) {
      const auto left = is_exchanged ? many.points() : few.points();
      const auto right = is_exchanged ? few.points() : many.points();
      for (const std::size_t k : {10U, 200U}) {
        INFO("score " << score << ", k = " << k << (is_exchanged ? ", exchanged" : ""));
        const auto ex = make_executor("sequential");
        const top_k_spatial_join_options by_full{.predicate = {0.01}, .strategy = "full"};
        const auto all = top_k_spatial_join(ex, left, right, k, by_full);
        spatial_join_statistics seen;
        const auto best = top_k_spatial_join(ex, left, right, k,
                                             {.predicate = {0.01}, .strategy = "threshold_first", .statistics = &seen});
        CHECK(all.left == best.left);
        CHECK(all.right == best.right);
        CHECK(all.scores == best.scores);
        CHECK(seen.rounds <= 2);
        CHECK(seen.candidates < 20 * k + 8000);
      }
    }
  }
}

TEST_CASE("a host finds the pairs of picked points, however many share a cell", "[spatial]") {
  REQUIRE(!conformance::spatial::the_suite().ranked.empty());
  std::mt19937 random{zenith_test::seed_of("spatial.picked", 0)};
  const auto ex = make_executor("sequential");
  for (const std::size_t crowd : {0, 30, 2000}) {
    drawn_points left(8000, random);
    drawn_points right(9000, random);
    for (auto* side : {&left, &right}) {
      for (std::size_t i = 0; i < crowd; ++i) {
        side->x[i] = 50 + side->x[i] / 1000;
        side->y[i] = 50 + side->y[i] / 1000;
      }
    }
    for (const double distance : {0.05, 1.0, 20.0}) {
      const std::size_t k = 3000;
      INFO(crowd << " crowded, distance " << distance);
      spatial_join_statistics seen;
      const auto all =
          top_k_spatial_join(ex, left.points(), right.points(), k, {.predicate = {distance}, .strategy = "full"});
      const auto best =
          top_k_spatial_join(ex, left.points(), right.points(), k,
                             {.predicate = {distance}, .strategy = "threshold_first", .statistics = &seen});
      CHECK(all.left == best.left);
      CHECK(all.right == best.right);
      CHECK(all.scores == best.scores);
    }
  }
}

TEST_CASE("more pairs than a host's pool holds raise the bound", "[spatial]") {
  REQUIRE(!conformance::spatial::the_suite().ranked.empty());
  std::mt19937 random{same_points};
  drawn_points left(20000, random);
  drawn_points right(20000, random);
  constexpr std::size_t k = 100;
  constexpr double distance = 4;  // two million pairs
  std::vector<bool> is_sampled(left.x.size(), false);
  for (unsigned i = 0; i < spatial_join_family::most_score_samples; ++i) {
    is_sampled[spatial_join_family::sampled_row(i, left.x.size())] = true;
  }
  // all pairs have one score; a quarter have the best; hardly any two have the same
  for (const unsigned scores : {1U, 2U, 1U << 20}) {
    for (auto* side : {&left, &right}) {
      for (std::size_t row = 0; row < side->scores.size(); ++row) {
        const auto more = static_cast<float>(random() % scores) / static_cast<float>(scores);
        side->scores[row] = is_sampled[row] ? 50 : 50 + more;
      }
    }
    const auto ex = make_executor("sequential");
    const auto all =
        top_k_spatial_join(ex, left.points(), right.points(), k, {.predicate = {distance}, .strategy = "full"});
    spatial_join_statistics seen;
    const auto best = top_k_spatial_join(ex, left.points(), right.points(), k,
                                         {.predicate = {distance}, .strategy = "threshold_first", .statistics = &seen});
    INFO(scores << " scores of the best");
    CHECK(all.left == best.left);
    CHECK(all.right == best.right);
    CHECK(all.scores == best.scores);
    CHECK(seen.candidates > 4 * (2 * k + 16) + 65536);
    // few reach the raised bound
    CHECK((seen.left_rows < 5000) == (scores > 2));
  }
}

TEST_CASE("a device is asked once, and launches thrice", "[spatial]") {
  std::mt19937 random{same_points};
  const drawn_points left(20000, random);
  const drawn_points right(9000, random);
  for (const std::size_t k : {1U, 100U, 1000U}) {
    INFO("k = " << k);
    CHECK(checked(left, right, k, 1.5).rounds == 1);
    // the turns of the first round, the selection, the result
    CHECK(of_device.launches == 3);
    CHECK(of_device.answers == 1);
  }
}

TEST_CASE("a device finds all pairs with two answers", "[spatial]") {
  REQUIRE(!conformance::spatial::the_suite().joins.empty());
  std::mt19937 random{zenith_test::seed_of("spatial.all", 0)};
  const drawn_points left(700, random);
  const drawn_points right(900, random);
  // few partners, candidates that rows share, more than they share, and more partners than are sorted
  for (const double distance : {0.5, 4.0, 10.0, 40.0}) {
    INFO("distance " << distance);
    of_device = {};
    const auto found = spatial_join(make_executor("device"), left.points().coordinates, right.points().coordinates,
                                    {.predicate = {distance}});
    // extremes and grid, cells twice, the sample, the count and the pairs; rows by cells take two more, and pairs of
    // rows that share candidates are written by one of their own
    CHECK(of_device.launches == (distance < 1 ? 6 : 9));
    CHECK(of_device.answers == 2);
    const auto expected = spatial_join(make_executor("sequential"), left.points().coordinates,
                                       right.points().coordinates, {.predicate = {distance}});
    CHECK(found.left == expected.left);
    CHECK(found.right == expected.right);
  }
}

TEST_CASE("crowds apart from each other do not make the first round void", "[spatial]") {
  std::mt19937 random{same_points};
  drawn_points left(20000, random);
  drawn_points right(20000, random);
  std::normal_distribution<float> near(0, 1);
  for (auto* side : {&left, &right}) {
    for (std::size_t row = 0; row < side->x.size(); ++row) {
      side->x[row] = static_cast<float>(row % 10) * 10 + near(random);
      side->y[row] = static_cast<float>(row % 7) * 14 + near(random);
    }
  }
  const auto seen = checked(left, right, 100, 0.3);
  CHECK(seen.rounds == 1);
  CHECK(seen.left_rows < left.x.size());
}

TEST_CASE("cells of many points are not for chains", "[spatial]") {
  using chains = spatial_join_family::join_chains<float, 2>;
  std::mt19937 random{same_points};
  for (const bool is_one_too_many : {false, true}) {
    // the best of the left side have all of some right points as candidates, which are the best there
    drawn_points left(3000, random);
    drawn_points right(3000, random);
    constexpr std::size_t best = chains::most_candidates;
    for (std::size_t row = 0; row < best + (is_one_too_many ? 1 : 0); ++row) {
      right.x[row] = right.y[row] = 50;
      right.scores[row] = 200;
    }
    for (std::size_t row = 0; row < 300; ++row) {
      left.x[row] = left.y[row] = 50;
      left.scores[row] = 200;
    }
    INFO((is_one_too_many ? "too many" : "as many as there may be"));
    const auto seen = checked(left, right, 100, 1e-3);
    CHECK(seen.rounds == (is_one_too_many ? 2 : 1));
    CHECK(seen.left_rows < left.x.size());
    CHECK(seen.candidates == 300 * (best + (is_one_too_many ? 1 : 0)));
  }
}

TEST_CASE("a first round whose bound is too high, and one whose samples say too little", "[spatial]") {
  std::mt19937 random{same_points};
  drawn_points left(20000, random);
  drawn_points right(20000, random);
  SECTION("the best are far from each other") {
    for (std::size_t row = 0; row < left.x.size(); ++row) {
      left.scores[row] = left.x[row];
      right.scores[row] = 100 - right.x[row];
    }
    CHECK(checked(left, right, 500, 1).rounds > 1);
  }
  SECTION("so many right points reach the limit that no sample had, and no grid was made for") {
    std::vector<bool> is_sampled(right.x.size(), false);
    for (unsigned i = 0; i < spatial_join_family::most_score_samples; ++i) {
      is_sampled[spatial_join_family::sampled_row(i, right.x.size())] = true;
    }
    for (std::size_t row = 0; row < right.x.size(); ++row) {
      if (!is_sampled[row]) right.scores[row] = 100;
    }
    CHECK(checked(left, right, 10, 1).rounds > 1);
  }
}

TEST_CASE("a first round finds all pairs of the bound's score, or knows that its pool is too small", "[spatial]") {
  std::mt19937 random{same_points};
  drawn_points left(20000, random);
  drawn_points right(9000, random);
  for (auto* scores : {&left.scores, &right.scores}) std::fill(scores->begin(), scores->end(), 7.F);
  constexpr std::size_t k = 10;
  for (const bool is_too_small : {false, true}) {
    const double distance = is_too_small ? 2 : 0.3;
    INFO("distance " << distance);
    const auto seen = checked(left, right, k, distance);
    const auto all = count_spatial_join(make_executor("device"), left.points().coordinates, right.points().coordinates,
                                        {.predicate = {distance}});
    CHECK(seen.rounds == (is_too_small ? 2 : 1));
    CHECK(seen.candidates == all.count);
    CHECK((all.count > 4 * (2 * k + 16) + 65536) == is_too_small);
  }
}

TEST_CASE("a few far points do not widen cells", "[spatial]") {
  using namespace spatial_join_family;
  std::mt19937 random{zenith_test::seed_of("spatial.far", 0)};
  drawn_points left(1000, random);
  drawn_points right(20000, random);
  std::vector<bool> is_sampled(right.x.size(), false);
  for (unsigned i = 0; i < most_place_samples; ++i) is_sampled[sampled_row(i, right.x.size())] = true;
  const bool are_seen = GENERATE(false, true);
  for (std::size_t row = 0, far = 0; far < 20; ++row) {
    if (is_sampled[row] != are_seen) continue;
    right.x[row] = 1e6F * static_cast<float>(far % 3);
    right.y[row] = -1e6F * static_cast<float>(far % 2);
    ++far;
  }
  spatial_join_call call;
  for (const auto* side : {&left, &right}) {
    auto& to = side == &left ? call.left : call.right;
    to.coordinates[0] = side->x.data();
    to.coordinates[1] = side->y.data();
    to.rows = side->x.size();
  }
  call.distance = 1;
  counting_device on;
  auto input = open_input<float, 2>(on, call, {});
  input.known = read_extremes(on, input.left, input.right);
  const auto grid = make_side_grid(on, input, input.right.rows);
  device::sequential_context host;
  const auto on_host = make_side_grid(host, input, input.right.rows);
  auto* const facts = on.zeroed<join_facts<float, 2>>(1);
  facts->known = input.known;
  on.for_teams(1, choose_grid<float, 2>{input.right, input.squared, reach_of(input.squared),
                                        static_cast<double>(most_cells(input.right.rows)), facts});
  for (const auto& one : {grid, on_host, facts->grid}) {
    // the points without the far ones lie in [0, 100]^2
    const double wide = 1 / static_cast<double>(one.inverse[0]);
    const double high = 1 / static_cast<double>(one.inverse[1]);
    INFO("cells of " << wide << " x " << high << ", " << one.cells[0] << " x " << one.cells[1]);
    CHECK(std::max(wide, high) < 1.5);
    CHECK(one.cells[0] * one.cells[1] > 5000);
    CHECK(one.greatest[0] == 2e6F);
    CHECK(one.least[1] == -1e6F);
  }
}

TEST_CASE("a few far points spare threshold_first no bound, and no round", "[spatial]") {
  std::mt19937 random{same_points};
  drawn_points left(20000, random);
  drawn_points right(20000, random);
  for (auto* side : {&left, &right}) {
    for (std::size_t row = 0; row < side->x.size(); row += 100) {
      side->x[row] = 1e6F * static_cast<float>(row % 3);
      side->y[row] = -1e6F * static_cast<float>(row % 2);
    }
  }
  for (const double distance : {0.3, 1.0}) {
    INFO("distance " << distance);
    const auto seen = checked(left, right, 100, distance);
    CHECK(seen.rounds == 1);
    CHECK(seen.left_rows < left.x.size() / 2);
    spatial_join_statistics on_host;
    (void)top_k_spatial_join(make_executor("sequential"), left.points(), right.points(), 100,
                             {.predicate = {distance}, .strategy = "threshold_first", .statistics = &on_host});
    CHECK(on_host.rounds == 1);
    CHECK(on_host.left_rows < left.x.size() / 2);
  }
}

// Of .1 partners each, samples meet one or none.
TEST_CASE("clusters that lie apart spare threshold_first rows", "[spatial]") {
  const bool is_on_device = GENERATE(false, true);
  constexpr std::size_t rows = 20000;
  std::mt19937 random{same_points};
  std::uniform_real_distribution<float> place(0, 1);
  for (int draw = 0; draw < 8; ++draw) {
    drawn_points left(rows, random);
    drawn_points right(rows, random);
    for (auto* side : {&left, &right}) {
      for (std::size_t row = 0; row < rows; ++row) {
        const auto cluster = static_cast<float>(random() % 20) * 100;
        side->x[row] = cluster + place(random);
        side->y[row] = cluster + place(random);
      }
    }
    spatial_join_statistics seen;
    if (is_on_device) {
      seen = checked(left, right, 10, .0056);
    } else {
      (void)top_k_spatial_join(cpu({.threads = 1}), left.points(), right.points(), 10,
                               {.predicate = {.0056}, .strategy = "threshold_first", .statistics = &seen});
    }
    INFO("draw " << draw << (is_on_device ? ", on a device" : ", on a host"));
    CHECK(seen.rounds <= 2);
    CHECK(seen.left_rows < rows / 3);
  }
}
