#include <tables.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

namespace conformance::skyline {
namespace {

template <class T>
T from_share(double share) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(share * 2 - 0.5);
  } else {
    const double low = std::is_signed_v<T> ? -1e9 : 0;
    return static_cast<T>(low + share * 2e9);
  }
}

template <class T>
T special(random_source& random) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const T all[] = {
        limits::lowest(),     limits::max(),        -limits::infinity(), limits::infinity(), T(-0.0), T(0), T(1),
        limits::denorm_min(), -limits::denorm_min()};
    return all[random() % std::size(all)];
  } else {
    const T all[] = {limits::min(), limits::max(), T(0), T(1), T(limits::max() / 2), T(limits::min() + 1)};
    return all[random() % std::size(all)];
  }
}

double uniform(random_source& random) { return std::uniform_real_distribution<>{}(random); }

template <class T>
void fill(table<T>& made, shape one, random_source& random) {
  const std::size_t n = made.rows;
  const std::size_t d = made.columns;
  const T only = from_share<T>(uniform(random));
  for (std::size_t i = 0; i < n; ++i) {
    const double common = uniform(random);
    for (std::size_t c = 0; c < d; ++c) {
      T& value = made.values[i * d + c];
      switch (one) {
        case shape::independent:
        case shape::one_dominates:
        case shape::copies: value = from_share<T>(uniform(random)); break;
        case shape::correlated: value = from_share<T>(0.9 * common + 0.1 * uniform(random)); break;
        case shape::anticorrelated:
          value = from_share<T>(0.5 * (c % 2 == 0 ? common : 1 - common) + 0.1 * uniform(random));
          break;
        case shape::few_values:
        case shape::with_nans: value = from_share<T>(static_cast<double>(random() % 3) / 4); break;
        case shape::all_equal: value = only; break;
        case shape::antichain:
          value = from_share<T>(static_cast<double>(c % 2 == 0 ? i : n - i) / static_cast<double>(n + 1));
          break;
        case shape::chain: value = from_share<T>(static_cast<double>(n - i) / static_cast<double>(n + 1)); break;
        case shape::specials: value = special<T>(random); break;
      }
      if constexpr (std::is_floating_point_v<T>) {
        if (one == shape::with_nans && random() % 8 == 0) value = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
  if (n == 0) return;
  if (one == shape::one_dominates)
    std::fill_n(made.values.begin() + static_cast<std::ptrdiff_t>((n - 1) * d), d, std::numeric_limits<T>::lowest());
  if (one == shape::copies) {
    for (std::size_t i = n / 3; i < n; ++i) {
      const std::size_t source = random() % (n / 3 + 1);
      std::copy_n(made.values.begin() + static_cast<std::ptrdiff_t>(source * d), d,
                  made.values.begin() + static_cast<std::ptrdiff_t>(i * d));
    }
  }
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

/// -1: a is better, 1: b is, 0: they are as good.
template <class T>
int compare(T a, T b, zenith::preference by) {
  if (is_nan(a) || is_nan(b)) return static_cast<int>(is_nan(a)) - static_cast<int>(is_nan(b));
  if (a == b) return 0;
  return (a < b) == (by != zenith::preference::maximise) ? -1 : 1;
}

/// A table as one of the layouts, in memory of its own.
template <class T>
class laid_out {
 public:
  laid_out(const table<T>& of, layout as) : rows_(of.rows), columns_(of.columns), as_(as) {
    const std::size_t gap = 3;
    row_stride_ = 1;
    column_stride_ = 1;
    switch (as) {
      case layout::row_major: row_stride_ = of.columns; break;
      case layout::padded_rows: row_stride_ = of.columns + gap; break;
      case layout::column_major:
      case layout::columns: column_stride_ = of.rows; break;
      case layout::padded_columns: column_stride_ = of.rows + gap; break;
      case layout::strided:
        column_stride_ = 2;
        row_stride_ = 2 * of.columns + gap;
        break;
    }
    if (rows_ > 0) size_ = (rows_ - 1) * row_stride_ + (columns_ - 1) * column_stride_ + 1;
    memory_ = std::make_unique<T[]>(size_);  // of this size, so that sanitizers see what lies behind it
    for (std::size_t i = 0; i < of.rows; ++i) {
      for (std::size_t c = 0; c < of.columns; ++c) memory_[i * row_stride_ + c * column_stride_] = of.at(i, c);
    }
  }

  template <class Use>
  auto with(const Use& use) const {
    const std::span<const T> all(memory_.get(), size_);
    using view = zenith::matrix_view<const T>;
    switch (as_) {
      case layout::row_major: return use(view::row_major(all, rows_, columns_));
      case layout::padded_rows: return use(view::row_major(all, rows_, columns_, row_stride_));
      case layout::column_major: return use(view::column_major(all, rows_, columns_));
      case layout::padded_columns: return use(view::column_major(all, rows_, columns_, column_stride_));
      case layout::strided: return use(view::strided(all, rows_, columns_, row_stride_, column_stride_));
      case layout::columns: break;
    }
    zenith::column_set<T> set;
    for (std::size_t c = 0; c < columns_; ++c) set.add(all.subspan(rows_ == 0 ? 0 : c * rows_, rows_));
    return use(set);
  }

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::size_t row_stride_ = 1;
  std::size_t column_stride_ = 1;
  std::size_t size_ = 0;
  layout as_;
  std::unique_ptr<T[]> memory_;
};

template <class Ids>
std::string difference(const Ids& found, std::size_t count, const std::vector<std::uint64_t>& expected_ids) {
  for (std::size_t i = 0; i < std::min(count, expected_ids.size()); ++i) {
    if (static_cast<std::uint64_t>(found[i]) != expected_ids[i]) {
      return "id " + std::to_string(i) + " is " + std::to_string(found[i]) + ", expected " +
             std::to_string(expected_ids[i]);
    }
  }
  if (count == expected_ids.size()) return {};
  return "has " + std::to_string(count) + " rows, expected " + std::to_string(expected_ids.size());
}

template <class Index, class Points>
std::string check_ids(const zenith_test::target& on, const Points& points, const zenith::skyline_options& options,
                      const std::vector<std::uint64_t>& expected_ids, std::size_t spare) {
  constexpr Index unwritten = 77;
  std::vector<Index> ids(expected_ids.size() + spare, unwritten);
  const std::size_t count = zenith::skyline(on.on, points, ids, options);
  if (std::any_of(ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size())), ids.end(),
                  [](Index id) { return id != unwritten; })) {
    return "wrote behind the ids";
  }
  return difference(ids, count, expected_ids);
}

template <class Points>
std::string check_form(const zenith_test::target& on, const Points& points, form as,
                       const zenith::skyline_options& options, const std::vector<std::uint64_t>& expected_ids,
                       random_source& random) {
  const std::size_t spare = random() % 3;
  switch (as) {
    case form::ids_u32: return check_ids<std::uint32_t>(on, points, options, expected_ids, spare);
    case form::ids_i32: return check_ids<std::int32_t>(on, points, options, expected_ids, spare);
    case form::ids_u64: return check_ids<std::uint64_t>(on, points, options, expected_ids, spare);
    case form::ids_i64: return check_ids<std::int64_t>(on, points, options, expected_ids, spare);
    case form::value: {
      const auto result = zenith::skyline(on.on, points, options);
      if (result.backend != on.on.backend() || result.strategy != on.strategy) return "ran as " + result.strategy;
      return difference(result.ids, result.ids.size(), expected_ids);
    }
    case form::mask: break;
  }
  const auto rows = points.rows();
  const auto flags = std::make_unique<bool[]>(rows);
  const std::size_t count = zenith::skyline_mask(on.on, points, std::span<bool>(flags.get(), rows), options);
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < rows; ++i) {
    if (flags[i]) ids.push_back(i);
  }
  return count == ids.size() ? difference(ids, count, expected_ids) : "counts otherwise than the mask";
}

}  // namespace

std::string name_of(shape one) {
  switch (one) {
    case shape::independent: return "independent";
    case shape::correlated: return "correlated";
    case shape::anticorrelated: return "anticorrelated";
    case shape::few_values: return "few_values";
    case shape::all_equal: return "all_equal";
    case shape::one_dominates: return "one_dominates";
    case shape::antichain: return "antichain";
    case shape::chain: return "chain";
    case shape::copies: return "copies";
    case shape::specials: return "specials";
    case shape::with_nans: break;
  }
  return "with_nans";
}

template <class T>
table<T> make_table(shape one, std::size_t rows, std::size_t columns, random_source& random) {
  table<T> made{name_of(one), rows, columns, std::vector<T>(rows * columns)};
  fill(made, one, random);
  return made;
}

std::string request::text() const {
  std::string said = duplicates == zenith::duplicate_rows::keep_all ? "keep_all " : "keep_first ";
  said += nans == zenith::nan_rows::drop ? "drop " : nans == zenith::nan_rows::worst ? "worst " : "reject ";
  for (const auto one : preferences) {
    said += one == zenith::preference::minimise ? '-' : one == zenith::preference::maximise ? '+' : '=';
  }
  return said;
}

request some_request(std::size_t columns, random_source& random) {
  request asked;
  const auto kind = random() % 4;  // all minimised, minimised and maximised, all three, all three and few to group
  for (std::size_t c = 0; kind != 0 && c < columns; ++c) {
    auto one = static_cast<zenith::preference>(random() % (kind == 1 ? 2 : 3));
    if (kind == 3 && one == zenith::preference::different && random() % columns != 0)
      one = zenith::preference::maximise;
    asked.preferences.push_back(one);
  }
  if (random() % 2 == 0) asked.duplicates = zenith::duplicate_rows::keep_first;
  if (random() % 2 == 0) asked.nans = zenith::nan_rows::drop;
  return asked;
}

template <class T>
std::vector<std::size_t> rows_in(const table<T>& of, const request& asked) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < of.rows; ++i) {
    bool has_nan = false;
    for (std::size_t c = 0; c < of.columns; ++c) has_nan = has_nan || is_nan(of.at(i, c));
    if (!has_nan || asked.nans == zenith::nan_rows::worst) rows.push_back(i);
  }
  return rows;
}

template <class T>
relation compare_rows(const table<T>& of, const request& asked, std::size_t q, std::size_t p) {
  bool is_better = false;
  for (std::size_t c = 0; c < of.columns; ++c) {
    const auto by = asked.preferences.empty() ? zenith::preference::minimise : asked.preferences[c];
    const int order = compare(of.at(q, c), of.at(p, c), by);
    if (order > 0 || (order != 0 && by == zenith::preference::different)) return relation::none;
    is_better = is_better || order < 0;
  }
  return is_better ? relation::dominates : relation::equals;
}

template <class T>
std::vector<std::uint64_t> expected(const table<T>& of, const request& asked) {
  const auto rows = rows_in(of, asked);
  std::vector<std::uint64_t> ids;
  for (const auto p : rows) {
    const bool is_out = std::any_of(rows.begin(), rows.end(), [&](std::size_t q) {
      if (p == q) return false;
      const auto found = compare_rows(of, asked, q, p);
      return found == relation::dominates ||
             (found == relation::equals && asked.duplicates == zenith::duplicate_rows::keep_first && q < p);
    });
    if (!is_out) ids.push_back(p);
  }
  return ids;
}

/// What is wrong with what the rounds say that they found: members are the result, and with those that they pruned all
/// rows.
std::string fault_of_rounds(std::string_view strategy, const zenith::skyline_statistics& seen, std::size_t rows,
                            std::size_t result) {
  std::size_t members = 0;
  std::size_t pruned = 0;
  for (const auto& round : seen.by_round) {
    members += round.members;
    pruned += round.pruned;
    if (!(round.seconds >= 0)) return "a round takes " + std::to_string(round.seconds) + " s";
  }
  const bool has_copies = strategy == "skyalign_padded";
  const bool is_all = has_copies ? members + pruned >= rows : members + pruned == rows;
  const bool has_each = seen.by_round.size() == (rows == 0 ? 0 : seen.rounds + 1) || strategy == "bskytree" ||
                        (seen.by_round.size() == 1 && strategy == "bitmap_tiles" && seen.mask_tests == 0);
  if (is_all && members == result && has_each) return "";
  return "of " + std::to_string(seen.rounds) + " rounds " + std::to_string(seen.by_round.size()) +
         " are counted, with " + std::to_string(members) + " of " + std::to_string(result) + " members and " +
         std::to_string(pruned) + " other rows of " + std::to_string(rows);
}

template <class T>
std::string fault_of(const zenith_test::target& on, const table<T>& of, const request& asked,
                     const std::vector<std::uint64_t>& expected_ids, random_source& random) {
  const auto as = static_cast<layout>(random() % 6);
  const auto result = static_cast<form>(random() % 6);
  const laid_out<T> memory(of, as);
  zenith::skyline_statistics seen;
  const zenith::skyline_options options{.preferences = asked.preferences,
                                        .duplicates = asked.duplicates,
                                        .nans = asked.nans,
                                        .strategy = on.strategy,
                                        .statistics = random() % 4 == 0 ? &seen : nullptr};
  auto fault = zenith_test::caught([&] {
    return memory.with(
        [&](const auto& points) { return check_form(on, points, result, options, expected_ids, random); });
  });
  if (fault.empty() && options.statistics != nullptr) {
    fault = fault_of_rounds(on.strategy, seen, of.rows, expected_ids.size());
  }
  if (fault.empty()) return fault;
  return "layout " + std::to_string(static_cast<int>(as)) + " form " + std::to_string(static_cast<int>(result)) + ": " +
         fault;
}

#define ZENITH_TABLES(T)                                                                        \
  template table<T> make_table<T>(shape, std::size_t, std::size_t, random_source&);             \
  template std::vector<std::size_t> rows_in<T>(const table<T>&, const request&);                \
  template relation compare_rows<T>(const table<T>&, const request&, std::size_t, std::size_t); \
  template std::vector<std::uint64_t> expected<T>(const table<T>&, const request&);             \
  template std::string fault_of<T>(const zenith_test::target&, const table<T>&, const request&, \
                                   const std::vector<std::uint64_t>&, random_source&);
ZENITH_TABLES(float32)
ZENITH_TABLES(float64)
ZENITH_TABLES(int32)
ZENITH_TABLES(uint32)
ZENITH_TABLES(int64)
ZENITH_TABLES(uint64)
#undef ZENITH_TABLES

}  // namespace conformance::skyline
