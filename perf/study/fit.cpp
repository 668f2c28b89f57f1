#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace zenith_study {
namespace {

// Beyond a factor of 1.5 a point's pull grows no further.
constexpr double near = 0.405;
constexpr double least_rate = 1e-14;

// What a rate weighs that stays near to what was given, beside a point: one of which a few points say little stays
// there, and one that they say is far away is not held back.
constexpr double prior = 2;
// The square of a logarithm's distance beyond which the pull ends: a factor of 2.
constexpr double prior_reach = 0.25;

// How much of the pull is left at a distance.
double pull_left(double off) { return std::exp(-off * off / prior_reach); }

double bounded_square(double off) {
  const double size = std::abs(off);
  return size <= near ? size * size : near * (2 * size - near);
}

using vector = std::vector<double>;

/// The rates that the points name and that are not known, as the unknowns of a least-squares problem in their
/// logarithms.
class rate_problem {
 public:
  rate_problem(const std::vector<measured_cost>& points, zenith::device_profile& profile, const rate_names& known)
      : points_(points), profile_(profile) {
    for (const auto& point : points) {
      for (const auto& phase : point.of.phases) {
        for (const auto& work : phase.operations) {
          if (!known.contains(work.rate)) add(work);
        }
      }
    }
    given_ = all();
  }

  [[nodiscard]] std::size_t unknowns() const { return rates_.size(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] double at(std::size_t j) const { return std::log(*rates_[j]); }
  void set(std::size_t j, double log_rate) { *rates_[j] = std::max(std::exp(log_rate), least_rate); }
  /// The logarithm of a rate over what it was at first.
  [[nodiscard]] double off_given(std::size_t j) const { return at(j) - given_[j]; }
  [[nodiscard]] vector all() const {
    vector values(unknowns());
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = at(j);
    return values;
  }
  void set(const vector& values) {
    for (std::size_t j = 0; j < values.size(); ++j) set(j, values[j]);
  }

  /// log(predicted / measured) of each point.
  [[nodiscard]] vector residuals() const {
    vector off;
    off.reserve(points_.size());
    for (const auto& one : points_) {
      off.push_back(std::log(std::max(zenith::seconds(one.of, profile_), 1e-12) / one.seconds));
    }
    return off;
  }
  [[nodiscard]] double loss() const {
    double sum = 0;
    for (const double off : residuals()) sum += bounded_square(off);
    for (std::size_t j = 0; j < unknowns(); ++j) sum += prior * prior_reach * (1 - pull_left(off_given(j)));
    return sum;
  }

 private:
  void add(const zenith::work& work) {
    const double estimate = work.default_seconds * profile_.rate("core.estimate", 1);
    double* rate = &profile_.rates.try_emplace(std::string{work.rate}, estimate).first->second;
    if (std::ranges::find(rates_, rate) != rates_.end()) return;
    *rate = std::max(*rate, least_rate);
    rates_.push_back(rate);
    names_.emplace_back(work.rate);
  }

  const std::vector<measured_cost>& points_;
  zenith::device_profile& profile_;
  std::vector<double*> rates_;
  std::vector<std::string> names_;
  vector given_;
};

// One unknown after the other, by factors that shrink: from anywhere to the right valley. The roofline's maximum has
// kinks, over which a method with derivatives would stumble out here.
void descend(rate_problem& problem) {
  double best = problem.loss();
  const auto improves = [&](std::size_t j, double step) {
    const double before = problem.at(j);
    problem.set(j, before + step);
    if (const double now = problem.loss(); now < best * (1 - 1e-9)) {
      best = now;
      return true;
    }
    problem.set(j, before);
    return false;
  };
  for (double step = std::log(4.0); step > 0.1; step /= 2) {
    constexpr int most_rounds = 20;
    bool moved = true;
    for (int round = 0; moved && round < most_rounds; ++round) {
      moved = false;
      for (std::size_t j = 0; j < problem.unknowns(); ++j) moved = improves(j, step) || improves(j, -step) || moved;
    }
  }
}

// Solves a x = b for a symmetric positive definite a, by elimination.
vector solve(std::vector<vector> a, vector b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t row = i + 1; row < n; ++row) {
      const double factor = a[row][i] / a[i][i];
      for (std::size_t j = i; j < n; ++j) a[row][j] -= factor * a[i][j];
      b[row] -= factor * b[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return b;
}

// Down the valley, along which several unknowns change together: Levenberg-Marquardt, with the weights that the bounded
// pull of far points amounts to.
void follow_valley(rate_problem& problem) {
  const std::size_t n = problem.unknowns();
  double best = problem.loss();
  double damping = 1e-2;
  constexpr int most_steps = 60;
  for (int step = 0; step < most_steps && damping < 1e6; ++step) {
    const vector base = problem.all();
    const vector off = problem.residuals();
    std::vector<vector> slopes(n);
    for (std::size_t j = 0; j < n; ++j) {
      constexpr double nudge = 1e-4;
      problem.set(j, base[j] + nudge);
      slopes[j] = problem.residuals();
      for (std::size_t i = 0; i < off.size(); ++i) slopes[j][i] = (slopes[j][i] - off[i]) / nudge;
      problem.set(j, base[j]);
    }
    std::vector<vector> normal(n, vector(n));
    vector pull(n);
    for (std::size_t i = 0; i < off.size(); ++i) {
      const double weight = std::min(1.0, near / std::max(std::abs(off[i]), 1e-12));
      for (std::size_t j = 0; j < n; ++j) {
        pull[j] -= weight * slopes[j][i] * off[i];
        for (std::size_t k = 0; k < n; ++k) normal[j][k] += weight * slopes[j][i] * slopes[k][i];
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      const double off_given = problem.off_given(j);
      const double weight = prior * pull_left(off_given);
      pull[j] -= weight * off_given;
      normal[j][j] += weight;
      normal[j][j] += damping * normal[j][j];
    }
    vector next = solve(std::move(normal), std::move(pull));
    for (std::size_t j = 0; j < n; ++j) next[j] = base[j] + std::clamp(next[j], -1.0, 1.0);
    problem.set(next);
    if (const double now = problem.loss(); now < best) {
      best = now;
      damping /= 3;
    } else {
      problem.set(base);
      damping *= 4;
    }
  }
}

}  // namespace

void fit_rates(const std::vector<measured_cost>& points, zenith::device_profile& profile, rate_names& known) {
  rate_problem problem(points, profile, known);
  const vector given = problem.all();
  vector best = given;
  double least = problem.loss();
  // A rate that is too low hides below the roofline's other resources, where no slope leads back up. From above all are
  // in sight.
  for (const double above : {1.0, 8.0, 64.0}) {
    for (std::size_t j = 0; j < given.size(); ++j) problem.set(j, given[j] + std::log(above));
    descend(problem);
    follow_valley(problem);
    if (const double loss = problem.loss(); loss < least) {
      least = loss;
      best = problem.all();
    }
  }
  problem.set(best);
  known.insert(problem.names().begin(), problem.names().end());
}

}  // namespace zenith_study
