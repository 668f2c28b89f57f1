#include <perf/study/packed_data.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace zenith_study {
namespace {

constexpr std::array<std::string_view, 4> names{"widths", "sorted", "normal", "zipf"};
constexpr std::array<std::string_view, 4> axes{"effective bits", "distinct values", "mean", "exponent"};

constexpr double deviation = 20;
// Zipf's law needs an end when its exponent is 1: as many ranks as a large dictionary has words.
constexpr std::size_t ranks = std::size_t{1} << 20;

// Draws ranks by looking a uniform number up in the cumulative probabilities, from a table of where to begin.
class zipf_ranks {
 public:
  explicit zipf_ranks(double exponent) : cumulative_(ranks), guide_(ranks + 1) {
    double sum = 0;
    for (std::size_t i = 0; i < ranks; ++i) {
      sum += std::pow(static_cast<double>(i + 1), -exponent);
      cumulative_[i] = sum;
    }
    for (auto& one : cumulative_) one /= sum;
    std::size_t at = 0;
    for (std::size_t g = 0; g <= ranks; ++g) {
      while (at + 1 < ranks && cumulative_[at] < static_cast<double>(g) / static_cast<double>(ranks)) ++at;
      guide_[g] = at;
    }
  }

  [[nodiscard]] std::int32_t operator()(double uniform) const {
    auto at = guide_[static_cast<std::size_t>(uniform * static_cast<double>(ranks))];
    while (at + 1 < ranks && cumulative_[at] < uniform) ++at;
    return static_cast<std::int32_t>(at + 1);
  }

 private:
  std::vector<double> cumulative_;
  std::vector<std::size_t> guide_;
};

}  // namespace

std::span<const std::string_view> packed_figure_names() noexcept { return names; }
std::string_view to_string(packed_figure of) noexcept { return names[static_cast<std::size_t>(of)]; }
std::string_view axis_of(packed_figure of) noexcept { return axes[static_cast<std::size_t>(of)]; }

std::vector<double> parameters_of(packed_figure of, std::uint64_t count) {
  std::vector<double> all;
  switch (of) {
    case packed_figure::widths:
      for (int bits = 2; bits <= 30; bits += 2) all.push_back(bits);
      break;
    case packed_figure::sorted:
      for (std::uint64_t distinct = 4; distinct < count; distinct *= 16) all.push_back(static_cast<double>(distinct));
      all.push_back(static_cast<double>(count));
      break;
    case packed_figure::normal:
      for (int power = 6; power <= 30; power += 4) all.push_back(std::exp2(power));
      break;
    case packed_figure::zipf:
      for (double exponent = 1; exponent <= 5; exponent += 0.5) all.push_back(exponent);
      break;
  }
  return all;
}

std::vector<std::int32_t> packed_column_of(packed_figure of, double parameter, std::uint64_t count,
                                           std::uint64_t seed) {
  std::vector<std::int32_t> values(count);
  std::mt19937_64 random(seed);
  switch (of) {
    case packed_figure::widths: {
      const auto bits = static_cast<int>(parameter);
      const std::uint64_t low = std::uint64_t{1} << (bits - 1);
      for (auto& value : values) value = static_cast<std::int32_t>(low | (random() & (low - 1)));
      break;
    }
    case packed_figure::sorted: {
      const auto distinct = static_cast<std::uint64_t>(parameter);
      for (std::uint64_t i = 0; i < count; ++i) {
        values[i] = static_cast<std::int32_t>(static_cast<double>(i) * static_cast<double>(distinct) /
                                              static_cast<double>(count));
      }
      break;
    }
    case packed_figure::normal: {
      std::normal_distribution<> draw(parameter, deviation);
      for (auto& value : values) value = static_cast<std::int32_t>(std::lround(draw(random)));
      break;
    }
    case packed_figure::zipf: {
      const zipf_ranks draw(parameter);
      for (auto& value : values) value = draw(static_cast<double>(random() >> 11) * 0x1p-53);
      break;
    }
  }
  return values;
}

}  // namespace zenith_study
