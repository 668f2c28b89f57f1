// Updates of threshold tables: whatever happened before, a query gives what scored top-k of the rows that are left
// gives.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include <algorithms/threshold_table/src/chunks.hpp>
#include <catch.hpp>
#include <expect_error.hpp>
#include <settings.hpp>
#include <zenith/updatable_threshold_table.hpp>

using namespace zenith;
using zenith_test::expect_error;

namespace {

constexpr auto invalid = error_code::invalid_argument;
using random_source = std::mt19937_64;

template <class T>
using rows_by_id = std::map<std::uint64_t, std::vector<T>>;

template <class Score>
struct answer {
  std::vector<Score> scores;
  std::vector<std::uint64_t> ids;

  // NaN are equal here, and zeros of different sign are not
  [[nodiscard]] bool operator==(const answer& other) const {
    const auto same = [](Score a, Score b) {
      return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
    };
    return ids == other.ids && std::ranges::equal(scores, other.scores, same);
  }
};

template <class T>
answer<score_t<T>> right_answer(const rows_by_id<T>& rows, const std::vector<score_t<T>>& weights, std::size_t k,
                                const table_query_options& options) {
  std::vector<std::vector<T>> values(weights.size());
  std::vector<std::uint64_t> ids;
  for (const auto& [id, row] : rows) {
    ids.push_back(id);
    for (std::size_t j = 0; j < row.size(); ++j) values[j].push_back(row[j]);
  }
  column_set<T> columns;
  for (const auto& one : values) columns.add(one);
  auto best = top_k(reference(), columns, weights, k, {.select = options.select, .nans = options.nans});
  for (auto& one : best.indices) one = ids[one];
  return {best.keys, best.indices};
}

template <class T>
answer<score_t<T>> ask(const executor& on, const threshold_snapshot<T>& of, const std::vector<score_t<T>>& weights,
                       std::size_t k, const table_query_options& options) {
  const auto best = top_k(on, of, weights, k, options);
  return {best.keys, best.indices};
}

struct question {
  std::size_t k;
  table_query_options options;
};

template <class T>
void check_answers(random_source& random, const threshold_snapshot<T>& of, const rows_by_id<T>& rows,
                   bool in_one_piece) {
  REQUIRE(of.rows() == rows.size());
  std::vector<score_t<T>> weights(of.columns());
  for (auto& one : weights) one = static_cast<score_t<T>>(random() % 3 == 0 ? 0 : std::normal_distribution<>{}(random));
  weights[random() % weights.size()] = -1;
  const std::size_t ks[] = {1, 16, 300, rows.size() / 2, rows.size()};
  const std::size_t k = std::min(rows.size(), ks[random() % std::size(ks)]);
  table_query_options options{.select = random() % 2 == 0 ? selection::largest : selection::smallest,
                              .nans = random() % 2 == 0 ? nan_policy::last : nan_policy::first};
  const auto right = right_answer(rows, weights, k, options);
  CHECK(ask(cpu({.threads = 1}), of, weights, k, options) == right);
  if (!in_one_piece) return;
  for (const auto* const strategy : {"scan", "gta_shared"}) {
    options.strategy = strategy;
    CHECK(ask(cpu({.threads = 1}), of, weights, k, options) == right);
  }
  options.strategy = "auto";
  CHECK(ask(reference(), of, weights, k, options) == right);
}

/// Blocks are as large as they may be, and all extremes are exact.
template <class T>
void check_blocks(const threshold_snapshot<T>& of, std::uint32_t least, std::uint32_t most) {
  bool fits = true;
  for (const auto& chunk : of.storage()->chunks) {
    fits &= chunk->count > 0 && chunk->count <= detail::chunk_blocks;
    std::uint32_t first_id = ~std::uint32_t{0};
    std::uint64_t nan = 0;
    for (std::uint32_t b = 0; b < chunk->count; ++b) {
      const auto& block = *chunk->blocks[b];
      fits &= block.count <= most && (block.count >= least || of.blocks() == 1);
      std::uint32_t first = ~std::uint32_t{0};
      for (std::uint32_t r = 0; r < block.count; ++r) first = std::min(first, block.ids()[r]);
      fits &= chunk->first_ids[b] == first;
      first_id = std::min(first_id, first);
      nan |= chunk->nans[b];
      for (std::size_t j = 0; j < of.columns(); ++j) {
        const auto range = detail::range_of_values<T>::of(block.column(j), block.count);
        fits &= chunk->maxima[chunk->at(b, j)] == range.most;
        fits &= chunk->minima[chunk->at(b, j)] == range.least;
        fits &= (chunk->nans[b] >> j & 1) == (range.has_nan ? 1 : 0);
      }
    }
    fits &= chunk->first_id == first_id && chunk->nan == nan;
    for (std::size_t j = 0; j < of.columns(); ++j) {
      detail::range_of_values<T> all;
      for (std::uint32_t b = 0; b < chunk->count; ++b) {
        all.most = std::max(all.most, chunk->maxima[chunk->at(b, j)]);
        all.least = std::min(all.least, chunk->minima[chunk->at(b, j)]);
      }
      fits &= chunk->most[j] == all.most && chunk->least[j] == all.least;
    }
  }
  CHECK(fits);
}

/// Few values and special ones where `kind` says so.
template <class T>
std::vector<T> some_row(random_source& random, std::size_t columns, int kind) {
  std::vector<T> row(columns);
  for (auto& one : row) {
    one = kind == 1 ? T{7} : kind == 2 ? static_cast<T>(random() % 3) : static_cast<T>(random() % 100000);
    if (kind == 3 && std::is_floating_point_v<T> && random() % 20 == 0) {
      const T specials[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(), static_cast<T>(-0.0), std::numeric_limits<T>::max()};
      one = specials[random() % std::size(specials)];
    }
  }
  return row;
}

template <class T>
class history {
 public:
  history(std::uint64_t number, std::size_t columns, int kind, const updatable_table_options& options)
      : random_(zenith_test::seed_of("table.updates", number)),
        columns_(columns),
        kind_(kind),
        options_(options),
        table_(columns, options) {}

  void run(int updates, unsigned inserts_in_ten) {
    for (int i = 0; i < updates; ++i) {
      if (random_() % 500 == 0) {
        several(inserts_in_ten);
      } else if (random_() % 10 < inserts_in_ten || rows_.empty()) {
        const auto row = some_row<T>(random_, columns_, kind_);
        rows_[table_.insert(row)] = row;
      } else if (random_() % 2 == 0) {
        const auto at = any();
        table_.erase(at->first);
        rows_.erase(at);
      } else {
        const auto at = any();
        at->second = some_row<T>(random_, columns_, kind_);
        table_.update(at->first, at->second);
      }
    }
  }
  void check(bool in_one_piece) {
    const auto now = table_.snapshot();
    const auto least = options_.least_rows == 0 ? std::max(1U, options_.block_rows / 4) : options_.least_rows;
    check_blocks(now, least, options_.block_rows);
    check_answers(random_, now, rows_, in_one_piece);
    CHECK(table_.rows() == rows_.size());
    if (rows_.empty()) return;
    const auto at = any();
    CHECK(table_.contains(at->first));
    const auto row = table_.row(at->first);
    CHECK(std::ranges::equal(row, at->second, [](T a, T b) { return a == b || (a != a && b != b); }));
  }
  void erase_all() {
    while (!rows_.empty()) {
      table_.erase(rows_.begin()->first);
      rows_.erase(rows_.begin());
      if (rows_.size() % 1000 == 17) check(false);
    }
  }

 private:
  auto any() {
    auto at = rows_.lower_bound(random_() % (rows_.rbegin()->first + 1));
    return at == rows_.end() ? rows_.begin() : at;
  }
  void several(unsigned inserts_in_ten) {
    if (random_() % 10 < inserts_in_ten) {
      std::vector<std::vector<T>> values(columns_);
      const std::size_t count = random_() % 700;
      std::vector<std::vector<T>> rows;
      for (std::size_t i = 0; i < count; ++i) {
        rows.push_back(some_row<T>(random_, columns_, kind_));
        for (std::size_t j = 0; j < columns_; ++j) values[j].push_back(rows.back()[j]);
      }
      column_set<T> set;
      for (const auto& one : values) set.add(one);
      const auto first = table_.insert(set);
      for (std::size_t i = 0; i < count; ++i) rows_[first + i] = rows[i];
      return;
    }
    std::vector<std::uint64_t> ids;
    for (const auto& one : rows_) {
      if (random_() % 8 == 0) ids.push_back(one.first);
    }
    std::ranges::shuffle(ids, random_);
    table_.erase(ids);
    for (const auto id : ids) rows_.erase(id);
  }

  random_source random_;
  std::size_t columns_;
  int kind_;
  updatable_table_options options_;
  updatable_threshold_table<T> table_;
  rows_by_id<T> rows_;
};

template <class T>
void update_and_ask(std::uint64_t number) {
  const updatable_table_options all[] = {
      {.block_rows = 16}, {.block_rows = 2}, {.block_rows = 33, .least_rows = 16}, {.block_rows = 256}};
  for (int kind = 0; kind < 4; ++kind) {
    history<T> of(number + static_cast<std::uint64_t>(kind), 1 + (number + static_cast<unsigned>(kind)) % 5, kind,
                  all[static_cast<std::size_t>(kind)]);
    const int updates = static_cast<int>(zenith_test::scale() * 2500);
    for (const unsigned inserts : {9, 5, 2, 7, 1}) {
      of.run(updates, inserts);
      of.check(true);
    }
    of.erase_all();
    of.check(true);
    of.run(40, 10);
    of.check(true);
  }
}

}  // namespace

TEST_CASE("after any updates a query gives the best of the rows that are left") {
  update_and_ask<float>(0);
  update_and_ask<double>(10);
  update_and_ask<std::int32_t>(20);
  update_and_ask<std::uint32_t>(30);
}

TEST_CASE("an updatable table keeps the ids of the table that it begins with") {
  random_source random(5);
  std::vector<std::vector<float>> values(3, std::vector<float>(20000));
  column_set<float> columns;
  for (auto& column : values) {
    for (auto& one : column) one = static_cast<float>(random() % 1000);
    columns.add(column);
  }
  const auto built = threshold_table<float>::build(columns);
  updatable_threshold_table<float> table(built);
  rows_by_id<float> rows;
  for (std::size_t i = 0; i < 20000; ++i) rows[i] = {values[0][i], values[1][i], values[2][i]};
  check_blocks(table.snapshot(), 64, 256);
  check_answers(random, table.snapshot(), rows, true);
  for (std::uint64_t id = 0; id < 20000; id += 3) {
    table.erase(id);
    rows.erase(id);
  }
  check_blocks(table.snapshot(), 64, 256);
  check_answers(random, table.snapshot(), rows, true);
  // and through a table with gaps between its ids
  updatable_threshold_table<float> again(table.snapshot().table(), {.block_rows = 64});
  CHECK(again.insert(std::vector<float>{1, 2, 3}) == 20000);
  CHECK_FALSE(again.contains(3));
  rows[20000] = {1, 2, 3};
  check_answers(random, again.snapshot(), rows, true);
}

TEST_CASE("an updatable table says what is wrong with its arguments") {
  using table_type = updatable_threshold_table<float>;
  expect_error(invalid, {"columns is 0"}, [] { table_type none(0); });
  expect_error(invalid, {"columns is 65"}, [] { table_type many(65); });
  expect_error(invalid, {"from has no columns"}, [] { table_type none{threshold_table<float>{}}; });
  expect_error(invalid, {"options.block_rows is 1;"}, [] { table_type one(1, {.block_rows = 1}); });
  expect_error(invalid, {"options.block_rows is 1025"}, [] { table_type one(1, {.block_rows = 1025}); });
  expect_error(invalid, {"options.least_rows is 5"}, [] { table_type one(1, {.block_rows = 8, .least_rows = 5}); });
  table_type table(2);
  const std::vector<float> row{1, 2};
  CHECK(table.insert(row) == 0);
  CHECK(table.insert(row) == 1);
  CHECK(table.insert(row) == 2);
  table.erase(1);
  const auto before = table.snapshot();
  const std::vector<float> short_row{1};
  expect_error(invalid, {"row has 1 values and the table 2 columns"}, [&] { table.insert(short_row); });
  expect_error(invalid, {"row has 1 values"}, [&] { table.update(0, short_row); });
  expect_error(invalid, {"rows has 1 columns and the table 2;"}, [&] { table.insert(column_set<float>{row}); });
  expect_error(invalid, {"id is 1, whose row was erased"}, [&] { table.erase(1); });
  expect_error(invalid, {"id is 1, whose row was erased"}, [&] { table.update(1, row); });
  expect_error(invalid, {"id is 3, which no row was given yet"}, [&] { table.erase(3); });
  expect_error(invalid, {"id is 3"}, [&] { (void)table.row(3); });
  const std::vector<std::uint64_t> twice{0, 2, 0};
  expect_error(invalid, {"ids has 0 twice"}, [&] { table.erase(twice); });
  const std::vector<std::uint64_t> unknown{0, 7};
  expect_error(invalid, {"id is 7"}, [&] { table.erase(unknown); });
  // nothing happened
  CHECK(table.rows() == 2);
  CHECK(table.snapshot().storage() == before.storage());
  expect_error(invalid, {"k is 3"}, [&] { (void)top_k(cpu(), before, std::vector<float>{1, 1}, 3); });
  expect_error(invalid, {"weights has 1 elements and table 2 columns"},
               [&] { (void)top_k(cpu(), before, std::vector<float>{1}, 1); });
  expect_error(invalid, {"weights[1] is NaN"}, [&] {
    (void)top_k(cpu(), before, std::vector<float>{1, std::nanf("")}, 1);
  });
  expect_error(error_code::unsupported, {"best"}, [&] {
    (void)top_k(cpu(), before, std::vector<float>{1, 1}, 1, {.strategy = "best"});
  });
  expect_error(invalid, {"table has no column"},
               [] { (void)top_k(cpu(), threshold_snapshot<float>{}, std::vector<float>{}, 0); });
  table.insert(std::vector<float>{std::nanf(""), 0});
  const auto with_nan = table.snapshot();
  expect_error(invalid, {"a score is NaN"}, [&] {
    (void)top_k(cpu(), with_nan, std::vector<float>{1, 1}, 1, {.nans = nan_policy::reject});
  });
}

TEST_CASE("a snapshot stays as it is") {
  random_source random(9);
  updatable_threshold_table<float> table(2, {.block_rows = 8});
  rows_by_id<float> rows;
  std::vector<std::pair<threshold_snapshot<float>, rows_by_id<float>>> held;
  for (int i = 0; i < 1500; ++i) {
    if (i % 3 == 2) {
      const auto at = rows.lower_bound(random() % rows.rbegin()->first);
      table.erase(at->first);
      rows.erase(at);
    } else {
      const auto row = some_row<float>(random, 2, 0);
      rows[table.insert(row)] = row;
    }
    if (i % 100 == 0) held.emplace_back(table.snapshot(), rows);
  }
  for (const auto& [snapshot, then] : held) {
    check_blocks(snapshot, 2, 8);
    check_answers(random, snapshot, then, true);
  }
}

TEST_CASE("rows that leave the bounds of their block go to another one") {
  random_source random(5);
  std::uniform_real_distribution<float> any(0, 1);
  constexpr std::size_t rows = 8192;
  updatable_threshold_table<float> table(2, {.block_rows = 64});
  rows_by_id<float> left;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::vector<float> row{any(random), any(random)};
    left[table.insert(row)] = row;
  }
  for (auto& [id, row] : left) {
    row = {any(random), any(random)};
    table.update(id, row);
  }
  threshold_statistics seen;
  const auto now = table.snapshot();
  const table_query_options options{.statistics = &seen};
  CHECK(ask(cpu({.threads = 1}), now, {1, 1}, 10, options) == right_answer(left, {1, 1}, 10, options));
  // blocks of rows from anywhere would nearly all be opened
  CHECK(seen.rows_evaluated < rows / 8);
}

namespace {

/// Columns of a snapshot that an updatable table gives. `rises` by row: how far the second column rises with the first.
template <class T>
threshold_snapshot<T> snapshot_of(rows_by_id<T>& left, std::size_t rows, double rises, bool with_nan,
                                  std::uint32_t block_rows = 64) {
  random_source random(11);
  updatable_threshold_table<T> table(2, {.block_rows = block_rows});
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  for (const auto i : order) {
    std::vector<T> row{static_cast<T>(i), static_cast<T>(rises * static_cast<double>(i))};
    if constexpr (std::is_floating_point_v<T>) {
      if (with_nan && i % 50 == 0) row[1] = std::numeric_limits<T>::quiet_NaN();
    }
    left[table.insert(row)] = row;
  }
  return table.snapshot();
}

template <class T>
void check_rest(double rises, bool with_nan, std::uint64_t rounds) {
  constexpr std::size_t rows = 20000;
  rows_by_id<T> left;
  const auto now = snapshot_of<T>(left, rows, rises, with_nan);
  for (const std::size_t k : {1, 16, 300}) {
    for (const auto select : {selection::largest, selection::smallest}) {
      for (const auto nans : {nan_policy::last, nan_policy::first}) {
        INFO("k = " << k);
        threshold_statistics seen;
        const table_query_options options{.select = select, .nans = nans, .statistics = &seen};
        CHECK(ask(cpu({.threads = 1}), now, {1, 1}, k, options) == right_answer(left, {1, 1}, k, options));
        if (with_nan) continue;
        CHECK(seen.rounds == rounds);
        CHECK((seen.rows_evaluated > rows / 2) == (rounds == 2));
      }
    }
  }
}

}  // namespace

// One column rises as the other falls: no bound tells a block from another.
TEST_CASE("what waits in a snapshot goes in any order once many rows were evaluated") {
  check_rest<float>(-1, false, 2);
  check_rest<double>(-1.001, false, 2);
  check_rest<std::int32_t>(-1, false, 2);
  check_rest<float>(-1, true, 2);
  check_rest<double>(-1, true, 2);
}

// All scores are equal: no bound stops a block, and the lowest ids are the best.
TEST_CASE("of a snapshot's rows that tie those with the lowest ids are found") {
  rows_by_id<float> left;
  const auto now = snapshot_of<float>(left, 20000, -1, false, 8);
  for (const std::size_t k : {1, 16, 300, 3000, 20000}) {
    INFO("k = " << k);
    CHECK(ask(cpu({.threads = 1}), now, {1, 1}, k, {}) == right_answer(left, {1, 1}, k, {}));
  }
}

// Half of the rows have high bounds and low scores. The chunks of the other ones, which are better, wait meanwhile.
TEST_CASE("chunks of a snapshot that wait as a whole when many rows were evaluated are opened") {
  random_source random(12);
  updatable_threshold_table<float> table(2, {.block_rows = 8});
  rows_by_id<float> left;
  const auto some = [&] { return static_cast<float>(random() % 64) / 256; };
  for (std::size_t i = 0; i < 20000; ++i) {
    const auto x = static_cast<float>(random() % 20000);
    const std::vector<float> row = i % 2 == 0 ? std::vector<float>{x, -x} : std::vector{some() - 50000, some() + 50000};
    left[table.insert(row)] = row;
  }
  const auto now = table.snapshot();
  for (const std::size_t k : {1, 16, 100}) {
    threshold_statistics seen;
    const table_query_options options{.statistics = &seen};
    CHECK(ask(cpu({.threads = 1}), now, {1, 1}, k, options) == right_answer(left, {1, 1}, k, options));
    CHECK(seen.rounds == 2);
    CHECK(seen.rows_evaluated < 15000);  // the best ones stop others of their kind
  }
}

TEST_CASE("a snapshot of which few rows are evaluated goes by falling bound") {
  check_rest<float>(1, false, 1);
  check_rest<std::int32_t>(1, false, 1);
}

TEST_CASE("a snapshot that has a table in one piece asks it") {
  rows_by_id<float> left;
  const auto now = snapshot_of<float>(left, 20000, -1, false);
  const auto on = cpu({.threads = 1});
  const std::vector<float> weights{1, 1};
  std::vector<float> scores(16);
  std::vector<std::uint64_t> ids(16);
  CHECK(top_k(on, now, weights, scores, ids).strategy == "blocks");
  const auto table = now.table();
  const auto chosen = top_k(on, table, weights, scores, ids).strategy;
  CHECK(top_k(on, now, weights, scores, ids).strategy == chosen);
  CHECK(top_k(on, now, weights, scores, ids, {.strategy = "blocks"}).strategy == "blocks");
  CHECK(ask(on, now, weights, 16, {}) == right_answer(left, weights, 16, {}));
}
