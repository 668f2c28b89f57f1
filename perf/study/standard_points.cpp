#include <perf/study/standard_points.hpp>

#include <algorithm>
#include <span>

namespace zenith_study {
namespace {

// glibc's rand(): an additive feedback generator over 31 words, which a multiplicative one fills.
class glibc_rand {
 public:
  explicit glibc_rand(std::uint32_t seed) {
    state_[0] = seed == 0 ? 1 : seed;
    for (unsigned i = 1; i < words; ++i) {
      // a remainder with the sign of the dividend, as the library computes it
      const std::int64_t product = std::int64_t{16807} * static_cast<std::int32_t>(state_[i - 1]);
      const std::int64_t remainder = product % 2147483647;
      state_[i] = static_cast<std::uint32_t>(remainder < 0 ? remainder + 2147483647 : remainder);
    }
    for (int i = 0; i < 310; ++i) next();
  }

  // 31 bits.
  std::uint32_t next() {
    const unsigned behind = at_ < 3 ? at_ + words - 3 : at_ - 3;
    const std::uint32_t sum = state_[at_] += state_[behind];
    at_ = at_ + 1 == words ? 0 : at_ + 1;
    return sum >> 1;
  }

 private:
  static constexpr unsigned words = 31;
  std::array<std::uint32_t, words> state_{};
  unsigned at_ = 3;
};

class points_source {
 public:
  explicit points_source(std::uint32_t seed) : random_(seed) {}

  double uniform(double from, double to) {
    return static_cast<double>(random_.next()) / 2147483647.0 * (to - from) + from;
  }
  // The mean of several: peaks in the middle.
  double peak(double from, double to, unsigned draws) {
    double sum = 0;
    for (unsigned i = 0; i < draws; ++i) sum += uniform(0, 1);
    return sum / draws * (to - from) + from;
  }
  double normal(double middle, double reach) { return peak(middle - reach, middle + reach, 12); }

  void draw(correlation of, std::span<double> point) {
    const auto columns = static_cast<unsigned>(point.size());
    if (of == correlation::independent) {
      for (auto& value : point) value = uniform(0, 1);
      return;
    }
    do {
      const bool close = of == correlation::correlated;
      const double level = close ? peak(0, 1, columns) : normal(0.5, 0.25);
      const double reach = level <= 0.5 ? level : 1 - level;
      std::ranges::fill(point, level);
      for (unsigned j = 0; j < columns; ++j) {
        const double shift = close ? normal(0, reach) : uniform(-reach, reach);
        point[j] += shift;
        point[j + 1 < columns ? j + 1 : 0] -= shift;
      }
    } while (std::ranges::any_of(point, [](double value) { return value < 0 || value > 1; }));
  }

 private:
  glibc_rand random_;
};

}  // namespace

std::vector<float> standard_points(correlation of, std::uint64_t rows, unsigned columns, std::uint32_t seed) {
  points_source source(seed);
  std::vector<float> values(rows * columns);
  std::vector<double> point(columns);
  for (std::uint64_t i = 0; i < rows; ++i) {
    source.draw(of, point);
    std::ranges::transform(point, values.begin() + static_cast<std::ptrdiff_t>(i * columns),
                           [](double value) { return static_cast<float>(value); });
  }
  return values;
}

std::vector<std::vector<float>> columns_of(const std::vector<float>& points, unsigned columns) {
  std::vector<std::vector<float>> all(columns, std::vector<float>(points.size() / columns));
  for (std::size_t i = 0; i < all.front().size(); ++i) {
    for (unsigned j = 0; j < columns; ++j) all[j][i] = points[i * columns + j];
  }
  return all;
}

}  // namespace zenith_study
