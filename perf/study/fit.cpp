#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace zenith_study {
namespace {

// Beyond a factor of 1.5 a point's pull grows linearly only.
double loss(double predicted, double measured) {
  constexpr double near = 0.405;
  const double off = std::abs(std::log(std::max(predicted, 1e-12) / measured));
  return off <= near ? off * off : near * (2 * off - near);
}

double total_loss(const std::vector<measured_cost>& points, const zenith::device_profile& profile) {
  double sum = 0;
  for (const auto& one : points) sum += loss(zenith::seconds(one.of, profile), one.seconds);
  return sum;
}

}  // namespace

void fit_rates(const std::vector<measured_cost>& points, zenith::device_profile& profile) {
  for (const auto& point : points) {
    for (const auto& phase : point.of.phases) {
      for (const auto& work : phase.operations) profile.rates.try_emplace(std::string{work.rate}, work.default_seconds);
    }
  }
  std::vector<double*> rates;
  for (const auto& point : points) {
    for (const auto& phase : point.of.phases) {
      for (const auto& work : phase.operations) {
        double* rate = &profile.rates.find(work.rate)->second;
        if (std::ranges::find(rates, rate) == rates.end()) rates.push_back(rate);
      }
    }
  }

  // Coordinate descent on the rates' logarithms, by factors that shrink. The roofline's maximum has kinks that a method
  // with derivatives would stumble over, and an evaluation costs microseconds.
  double best = total_loss(points, profile);
  const auto improves = [&](double& rate, double trial) {
    const double before = rate;
    rate = trial;
    if (const double now = total_loss(points, profile); now < best * (1 - 1e-9)) {
      best = now;
      return true;
    }
    rate = before;
    return false;
  };
  constexpr double least_rate = 1e-14;
  for (double factor = 4; factor > 1.005; factor = std::sqrt(factor)) {
    constexpr int most_rounds = 40;
    bool moved = true;
    for (int round = 0; moved && round < most_rounds; ++round) {
      moved = false;
      for (double* rate : rates) {
        if (*rate < least_rate) *rate = least_rate;
        moved = improves(*rate, *rate * factor) || improves(*rate, *rate / factor) || moved;
      }
    }
  }
}

}  // namespace zenith_study
