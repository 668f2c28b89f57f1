// What a threshold table says of its arguments, and that it is a value.

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include <catch.hpp>
#include <shipped_models.hpp>
#include <table_suite.hpp>

namespace {

template <class Call>
std::string message(const Call& call) {
  try {
    call();
  } catch (const zenith::error& fault) {
    return fault.what();
  }
  return "nothing was thrown";
}

void has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

using weights = std::vector<float>;
using table = zenith::threshold_table<float>;

}  // namespace

TEST_CASE("a threshold table says what is wrong with its columns and options", "[table][contract]") {
  const std::vector<float> a{1, 2, 3};
  const zenith::column_set<float> columns{a, a};
  has(message([&] { (void)table::build(zenith::column_set<float>{}); }), "threshold_table: columns has no column");
  const zenith::column_set<float> many(std::vector<std::span<const float>>(65, a));
  has(message([&] { (void)table::build(many); }), "columns has 65 columns; the most is 64");
  has(message([&] { (void)table::build(columns, {.block_rows = 0}); }), "options.block_rows is 0");
  has(message([&] { (void)table::build(columns, {.block_rows = 1025}); }), "options.block_rows is 1025");
  const auto partitions = zenith::table_layout::partitions;
  has(message([&] { (void)table::build(columns, {.layout = partitions, .partitions = 0}); }),
      "options.partitions is 0");
  const auto refused = [&](const zenith::table_options& options, const std::string& name) {
    const auto said = message([&] { (void)table::build(columns, options); });
    has(said, "threshold_table: options." + name + " is ");
    has(said, ", which is not one of the known ones");
  };
  refused({.layout = static_cast<zenith::table_layout>(2)}, "layout");
  refused({.layout = partitions, .partitioning = static_cast<zenith::table_partitioning>(2)}, "partitioning");
  refused({.layout = partitions, .splits = static_cast<zenith::angle_splits>(2)}, "splits");
  refused({.layout = partitions, .order = static_cast<zenith::table_order>(255)}, "order");
  const auto weighted = zenith::table_order::weighted_sum;
  const std::vector<double> orders{1, NAN};
  has(message([&] { (void)table::build(columns, {.layout = partitions, .order = weighted}); }),
      "options.order_weights has 0 elements and columns 2 columns");
  has(message([&] { (void)table::build(columns, {.layout = partitions, .order = weighted, .order_weights = orders}); }),
      "options.order_weights[1] is not finite");
}

TEST_CASE("a query of a threshold table says what is wrong with its arguments", "[table][contract]") {
  const std::vector<float> a{1, 2, 3};
  const auto made = table::build(zenith::column_set<float>{a, a});
  const auto on = zenith::cpu();
  has(message([&] { (void)zenith::top_k(on, made, weights{1}, 1); }), "weights has 1 elements and table 2 columns");
  has(message([&] { (void)zenith::top_k(on, made, weights{0, 0}, 1); }), "weights has only zeros");
  has(message([&] { (void)zenith::top_k(on, table{}, weights{}, 0); }), "table has no column");
  has(message([&] { (void)zenith::top_k(on, made, weights{1, NAN}, 1); }), "weights[1] is NaN");
  has(message([&] { (void)zenith::top_k(on, made, weights{INFINITY, 1}, 1); }), "weights[0] is infinite");
  has(message([&] { (void)zenith::top_k(on, made, weights{1, 1}, 4); }), "k is 4");
  has(message([&] { (void)zenith::top_k(on, made, weights{1, 1}, 1, {.strategy = "best"}); }), "best");
  std::vector<float> scores(2);
  std::vector<std::uint64_t> rows(1);
  has(message([&] { zenith::top_k(on, made, weights{1, 1}, scores, rows); }), "both must have k");
}

TEST_CASE("a threshold table is a value that outlives its columns", "[table][contract]") {
  table made;
  CHECK(made.rows() == 0);
  {
    const std::vector<float> rows{1, 10, 5, 20, 3, 0};  // 3 rows of 2 columns
    made = table::build(zenith::matrix_view<const float>::row_major(rows, 3, 2), {.block_rows = 2});
  }
  CHECK(made.rows() == 3);
  CHECK(made.columns() == 2);
  CHECK(made.blocks() == 2);
  const table copy = made;
  CHECK(copy.storage() == made.storage());
  made = table{};
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([copy] {
      const auto best = zenith::top_k(zenith::make_executor("auto"), copy, weights{1, 0.5F}, 2);
      if (best.keys != weights{15, 6} || best.indices != std::vector<std::uint64_t>{1, 0}) std::abort();
      if (best.backend.empty() || best.strategy.empty()) std::abort();
    });
  }
}

TEST_CASE("a threshold table does not depend on the threads that build it", "[table][contract]") {
  constexpr std::size_t rows = 70001;
  std::vector<float> a(rows);
  std::vector<float> b(rows);
  std::vector<float> row_by_row(2 * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    a[i] = static_cast<float>((i * 7919) % rows);
    b[i] = static_cast<float>(i % 3);
    row_by_row[2 * i] = a[i];
    row_by_row[2 * i + 1] = b[i];
  }
  const zenith::column_set<float> columns{a, b};
  for (const auto layout : {zenith::table_layout::clusters, zenith::table_layout::partitions}) {
    const auto alone = table::build(columns, {.layout = layout});
    const auto bytes = [](const table& of) { return zenith::detail::bytes_of(*of.storage()); };
    const auto matrix = zenith::matrix_view<const float>::row_major(row_by_row, rows, 2);
    CHECK(std::ranges::equal(bytes(table::build(matrix, {.layout = layout})), bytes(alone)));
    for (const auto* const on : {"cpu:threads=1", "cpu:threads=3", "auto"}) {
      const auto made = table::build(zenith::make_executor(on), columns, {.layout = layout});
      CHECK(std::ranges::equal(bytes(made), bytes(alone)));
    }
  }
}

TEST_CASE("a threshold table of no rows", "[table][contract]") {
  const auto made = table::build(zenith::column_set<float>{std::span<const float>{}});
  CHECK(made.rows() == 0);
  CHECK(zenith::top_k(zenith::make_executor("auto"), made, weights{1}, 0).keys.empty());
  CHECK(table::build(zenith::column_set<float>{std::span<const float>{}}, {.layout = zenith::table_layout::partitions})
            .columns() == 1);
}

TEST_CASE("a table of which nothing can be stopped is scanned", "[table][contract]") {
  constexpr std::size_t rows = 1 << 18;
  std::mt19937 random(5);
  std::vector<std::vector<float>> values(4, std::vector<float>(rows));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < 3; ++j) values[j][i] = static_cast<float>(random() % 1000);
    values[3][i] = 3000 - values[0][i] - values[1][i] - values[2][i];
  }
  zenith::column_set<float> columns;
  for (const auto& one : values) columns.add(one);
  const auto made = table::build(columns);
  const auto on = zenith::cpu({.threads = 1});
  const zenith_test::shipped_models here;
  CHECK(zenith::top_k(on, made, weights{1, 1, 1, 1}, 16).strategy == "scan");
  CHECK(zenith::top_k(on, made, weights{1, 1, 1, 0}, 16).strategy == "blocks");
}

TEST_CASE("of rows that are all equal few blocks are expected to be opened", "[table][contract]") {
  const std::vector<float> column(1 << 18, 3.0F);
  const auto made = table::build(zenith::column_set<float>{column, column});
  const zenith_test::shipped_models here;
  CHECK(zenith::top_k(zenith::cpu({.threads = 1}), made, weights{1, 2}, 16).strategy == "blocks");
  CHECK(zenith::top_k(zenith::cpu({.threads = 1}), made, weights{1, 0}, 16).strategy == "blocks");
}

TEST_CASE("a problem of no columns or empty blocks has no cost", "[table][contract]") {
  const auto here = zenith::machine::defaults();
  const auto decided = [&](const zenith::threshold_table_problem& problem) {
    return message([&] { (void)zenith::decide(problem, here); });
  };
  has(decided({.count = 100, .k = 5, .block_rows = 0}), "problem.block_rows is 0");
  has(decided({.count = 100, .k = 5, .columns = 0}), "problem.columns is 0");
  has(message([&] {
        (void)zenith::threshold_table_cost("blocks", {.count = 100, .k = 5, .block_rows = 0}, here.devices().front());
      }),
      "threshold_table_cost: problem.block_rows is 0");
}

TEST_CASE("blocks evaluate few rows where they can", "[table][contract]") {
  std::vector<float> a(100000);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>((i * 7919) % a.size());
  const auto made = table::build(zenith::column_set<float>{a, a});
  zenith::threshold_statistics seen;
  (void)zenith::top_k(zenith::cpu({.threads = 1}), made, weights{1, 1}, 16,
                      {.strategy = "blocks", .statistics = &seen});
  CHECK(seen.rows_evaluated >= 16);
  CHECK(seen.rows_evaluated <= 512);
  CHECK(seen.blocks_opened <= 8);
  CHECK(seen.bounds_evaluated <= 1600);
}

// Rows near a plane, in blocks of one row: several threads have work, and take the k best rows from each other.
TEST_CASE("threads that open blocks together give what one gives", "[table][contract]") {
  constexpr std::size_t rows = 60000;
  std::mt19937 random(7);
  std::vector<std::vector<float>> values(4, std::vector<float>(rows));
  for (std::size_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (auto& column : values) sum += column[i] = static_cast<float>(random() % 100'000);
    for (auto& column : values) column[i] += (200'000 - sum) / 5;
  }
  zenith::column_set<float> columns;
  for (const auto& one : values) columns.add(one);
  const auto made = table::build(columns, {.block_rows = 1});
  for (const std::size_t k : {1, 5}) {
    const auto right = zenith::top_k(zenith::cpu({.threads = 1}), made, weights{1, 1, 1, 1}, k, {.strategy = "scan"});
    for (const int threads : {1, 2, 4}) {
      zenith::threshold_statistics seen;
      const auto found = zenith::top_k(zenith::cpu({.threads = threads}), made, weights{1, 1, 1, 1}, k,
                                       {.strategy = "blocks", .statistics = &seen});
      CHECK(found.indices == right.indices);
      CHECK(found.keys == right.keys);
      CHECK(seen.rows_evaluated < rows / 2);
    }
  }
}

// Fagin's algorithm as it is written: a rank of all lists at a time.
TEST_CASE("the threshold algorithm goes hardly further down its lists than it must", "[table][contract]") {
  constexpr std::size_t rows = 20000;
  constexpr std::size_t columns = 3;
  constexpr std::size_t k = 10;
  const weights chosen{0.5F, -0.3F, 0.2F};
  std::mt19937_64 random(3);
  std::vector<std::vector<float>> values(columns, std::vector<float>(rows));
  for (auto& column : values) {
    for (auto& one : column) one = std::uniform_real_distribution<float>{}(random);
  }
  const auto score = [&](std::size_t row) {
    return values[0][row] * chosen[0] + values[1][row] * chosen[1] + values[2][row] * chosen[2];
  };
  std::vector<std::vector<std::size_t>> lists(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) lists[j].push_back(i);
    std::ranges::sort(lists[j], std::greater{}, [&](std::size_t i) { return values[j][i] * chosen[j]; });
  }
  std::set<std::size_t> seen;
  std::multiset<float> best;
  for (std::size_t rank = 0; rank < rows; ++rank) {
    float threshold = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      const auto row = lists[j][rank];
      threshold += values[j][row] * chosen[j];
      if (seen.insert(row).second) best.insert(score(row));
      if (best.size() > k) best.erase(best.begin());
    }
    if (best.size() == k && *best.begin() > threshold) break;
  }
  CHECK(seen.size() < rows / 4);

  zenith::column_set<float> input;
  for (const auto& column : values) input.add(column);
  for (const bool sorted_lists : {false, true}) {
    const auto made = table::build(input, {.sorted_lists = sorted_lists});
    CHECK(made.has_sorted_lists() == sorted_lists);
    zenith::threshold_statistics counted;
    const auto found = zenith::top_k(zenith::cpu(), made, chosen, k, {.strategy = "ta", .statistics = &counted});
    CHECK(found.strategy == "ta");
    CHECK(found.keys.back() == *best.begin());
    CHECK(counted.rows_evaluated + columns >= seen.size());
    CHECK(counted.rows_evaluated <= seen.size() + seen.size() / 8 + 8 * columns);
  }
}
