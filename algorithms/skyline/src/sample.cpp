// How large a skyline will be, by that of a sample.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <core/key_order.hpp>
#include <core/with_key_type.hpp>
#include <zenith/skyline.hpp>

namespace zenith {
namespace {

/// The expectation over a row's probability p of being dominated by another: p is a product of `columns` uniform
/// numbers, so t = -ln p has a gamma distribution, and E = n * integral of t^(d-1) e^-t / Gamma(d) * (1 - e^-t)^(n-1).
class skyline_integral {
 public:
  explicit skyline_integral(double rows) : rows_(rows) {
    const double log = std::log(rows);
    const double begin = std::max(0.02, log - 5);
    step_ = (log + 40 - begin) / points;
    for (int i = 0; i < points; ++i) {
      const double t = begin + (i + 0.5) * step_;
      log_t_[i] = std::log(t);
      rest_[i] = log - t + (rows - 1) * std::log1p(-std::exp(-t));
    }
  }

  [[nodiscard]] double at(double columns) const {
    const double scale = std::lgamma(columns);
    double sum = 0;
    for (int i = 0; i < points; ++i) sum += std::exp((columns - 1) * log_t_[i] + rest_[i] - scale);
    return std::clamp(sum * step_, 1.0, rows_);
  }

 private:
  static constexpr int points = 40;

  double rows_;
  double step_ = 0;
  double log_t_[points];
  double rest_[points];
};

/// The columns for which the expectation is `size`, between 1 and 24.
double columns_for(double rows, double size) {
  const skyline_integral expectation(rows);
  double low = 1;
  double high = 24;
  for (int i = 0; i < 9; ++i) {
    const double middle = (low + high) / 2;
    (expectation.at(middle) < size ? low : high) = middle;
  }
  return (low + high) / 2;
}

struct sample {
  std::vector<std::uint64_t> values;  ///< of which less is better, row by row
  std::vector<std::uint64_t> groups;  ///< hashes of what must be equal; empty: there are no such columns
};

template <class T>
sample draw(const detail::skyline_points& points, std::span<const preference> preferences, std::size_t samples) {
  sample drawn;
  drawn.values.reserve(samples * points.columns.size());
  for (std::size_t i = 0; i < samples; ++i) {
    // not evenly: rows may come in periods
    const std::uint64_t jitter = (i * 0x9e3779b97f4a7c15ULL) >> 40;
    const std::uint64_t each = points.rows / samples;
    const std::uint64_t row = i * each + jitter % each;
    bool has_group = false;
    std::uint64_t group = 0;
    for (std::size_t c = 0; c < points.columns.size(); ++c) {
      const auto wanted = preferences.empty() ? preference::minimise : preferences[c];
      const ordered::key_order<T> order{wanted != preference::maximise, false};
      const std::uint64_t image =
          ~std::uint64_t{order.image(static_cast<const T*>(points.columns[c])[row * points.row_stride])};
      if (wanted == preference::different) {
        has_group = true;
        group = (group ^ image) * 0x9e3779b97f4a7c15ULL;
        group ^= group >> 32;
      } else {
        drawn.values.push_back(image);
      }
    }
    if (has_group) drawn.groups.push_back(group);
  }
  return drawn;
}

/// Of how many groups of one size, at most one for each row, as many drawn rows are expected to meet as these do.
double groups_of(std::vector<std::uint64_t> drawn, double rows) {
  if (drawn.empty()) return 0;
  const auto samples = static_cast<double>(drawn.size());
  std::ranges::sort(drawn);
  const auto met = static_cast<double>(std::unique(drawn.begin(), drawn.end()) - drawn.begin());
  if (met == samples) return rows;
  double low = met;
  double high = std::max(rows, met);
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (middle * -std::expm1(samples * std::log1p(-1 / std::max(middle, 1.5))) < met ? low : high) = middle;
  }
  return low;
}

bool dominates(const std::uint64_t* q, const std::uint64_t* p, std::size_t columns) {
  bool is_better = false;
  for (std::size_t c = 0; c < columns; ++c) {
    if (q[c] > p[c]) return false;
    is_better = is_better || q[c] < p[c];
  }
  return is_better;
}

/// Block-nested loops: a window of the rows that none has dominated so far.
std::size_t skyline_size(std::vector<std::uint64_t>& rows, std::size_t count) {
  const std::size_t columns = rows.size() / count;
  std::vector<const std::uint64_t*> window;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t* const row = rows.data() + i * columns;
    const bool is_out = std::ranges::any_of(window, [&](const auto* other) { return dominates(other, row, columns); });
    if (is_out) continue;
    std::erase_if(window, [&](const auto* other) { return dominates(row, other, columns); });
    window.push_back(row);
  }
  return window.size();
}

constexpr std::size_t least_samples = 32;
constexpr std::size_t most_samples = 256;  // compared pair by pair

/// `columns_for`, which takes longer than a small sample, and is asked for the same numbers again and again.
double remembered_columns_for(std::size_t samples, std::size_t size) {
  struct known {
    std::size_t samples = 0;
    std::array<double, most_samples + 1> columns{};  ///< of a size; 0: not yet
  };
  static thread_local known last;
  if (last.samples != samples) last = {samples, {}};
  double& columns = last.columns[size];
  if (columns == 0) columns = columns_for(static_cast<double>(samples), static_cast<double>(size));
  return columns;
}

/// How many of so many rows to compare; 0: none.
std::size_t samples_of(std::size_t rows, std::size_t columns) {
  // few rows say little of how much is incomparable, and where there are few values, they cost more than the choice is
  // worth
  constexpr std::size_t least_values = 2048;
  if (rows < 4 * least_samples || rows * columns < least_values) return 0;
  const auto all = static_cast<double>(rows);
  return std::clamp(static_cast<std::size_t>(std::max(std::sqrt(all / 2), std::min(128.0, all / 80))), least_samples,
                    most_samples);
}

}  // namespace

double expected_skyline(double rows, double columns) {
  if (rows < 2) return std::max(rows, 0.0);
  return skyline_integral(rows).at(std::max(columns, 1.0));
}

namespace detail {

skyline_problem skyline_problem_of(const skyline_points& points, std::span<const preference> preferences) {
  skyline_problem problem{points.rows, static_cast<unsigned>(points.columns.size()), points.type, points.space};
  // at least: a sample says how many there are
  problem.different = static_cast<unsigned>(std::ranges::count(preferences, preference::different));
  problem.groups = problem.different == 0 ? 0 : 1;
  const auto samples = samples_of(points.rows, points.columns.size());
  if (samples == 0 || points.space != memory_space::host) return problem;
  with_key_type(points.type, [&]<class T>(std::type_identity<T>) {
    auto drawn = draw<T>(points, preferences, samples);
    problem.groups = groups_of(std::move(drawn.groups), static_cast<double>(points.rows));
    const auto size = skyline_size(drawn.values, samples);
    problem.independent_columns = remembered_columns_for(samples, size);
  });
  return problem;
}

}  // namespace detail
}  // namespace zenith
