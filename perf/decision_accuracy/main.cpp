// How good the decisions are: over a random choice of counts, k and key types, every backend and strategy of this
// machine is run, and its time is compared with what the cost models said.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <perf/study/calibrate.hpp>
#include <perf/study/measure_top_k.hpp>
#include <zenith/error.hpp>
#include <zenith/machine.hpp>
#include <zenith/top_k.hpp>

namespace {

using zenith::key_type;
using zenith::top_k_problem;

struct settings {
  int points = 120;
  int seed = 1;
  bool calibrate = false;
  bool all = false;
};

constexpr std::string_view usage =
    "usage: zenith-decision-accuracy [--points N] [--seed N] [--calibrate] [--all]\n"
    "  --calibrate  measure this machine first, instead of the profile that machine::local finds\n"
    "  --all        print every point, not only the worst\n";

struct outcome {
  top_k_problem problem;
  zenith::decision decided;
  double measured = 0;  // of what was chosen
  double fastest = std::numeric_limits<double>::infinity();
  std::string fastest_name;

  [[nodiscard]] double loss() const { return measured / fastest; }
  [[nodiscard]] double deviation() const { return decided.predicted_seconds / measured; }
  [[nodiscard]] double off() const { return std::max(deviation(), 1 / deviation()); }
};

bool parse(int count, char** arguments, settings& into) {
  for (int i = 1; i < count; ++i) {
    const std::string_view key = arguments[i];
    if (key == "--calibrate") {
      into.calibrate = true;
    } else if (key == "--all") {
      into.all = true;
    } else if ((key == "--points" || key == "--seed") && i + 1 < count) {
      const std::string_view text = arguments[++i];
      int value = 0;
      const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (fault != std::errc{} || end != text.data() + text.size() || value < 1) return false;
      (key == "--points" ? into.points : into.seed) = value;
    } else {
      return false;
    }
  }
  return true;
}

// Every count and k of the grid is as likely as every other, with each type.
std::vector<top_k_problem> choose_problems(const settings& given) {
  constexpr key_type types[] = {key_type::float32, key_type::float64, key_type::int32,
                                key_type::uint32,  key_type::int64,   key_type::uint64};
  std::mt19937 random(static_cast<unsigned>(given.seed));
  std::uniform_int_distribution<int> log_count(10, 26);
  std::uniform_int_distribution<int> log_k(0, 12);
  std::vector<top_k_problem> chosen;
  while (static_cast<int>(chosen.size()) < given.points) {
    const auto count = std::uint64_t{1} << log_count(random);
    const auto k = std::uint64_t{1} << log_k(random);
    if (k <= count) chosen.push_back({count, k, types[chosen.size() % std::size(types)]});
  }
  // one type after the other, so that the keys of only one are held
  std::ranges::stable_sort(chosen, {}, &top_k_problem::type);
  return chosen;
}

outcome measure(const top_k_problem& problem, const zenith::machine& on, const zenith_study::random_keys& keys) {
  outcome one;
  one.problem = problem;
  one.decided = zenith::decide(problem, on);
  // what is predicted to take this many times longer is not the fastest
  constexpr double most_times_the_chosen = 12;
  auto rivals = one.decided.rejected;
  rivals.insert(rivals.begin(),
                {one.decided.backend, one.decided.device, one.decided.strategy, one.decided.predicted_seconds, {}});
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    const auto& rival = rivals[i];
    if (!(rival.predicted_seconds < most_times_the_chosen * one.decided.predicted_seconds)) break;
    const auto executor =
        zenith::make_executor(rival.backend + (rival.device > 0 ? ":" + std::to_string(rival.device) : ""));
    const double seconds =
        zenith_study::measure_top_k(executor, rival.strategy, keys, problem.count, problem.k, problem.space, {});
    if (i == 0) one.measured = seconds;
    if (seconds < one.fastest) {
      one.fastest = seconds;
      one.fastest_name = rival.backend + "/" + rival.strategy;
    }
  }
  return one;
}

void print(const outcome& one) {
  std::printf("%9llu %5llu %-8s %-16s %11.2f %11.2f %7.2f   %-16s %6.2f\n",
              static_cast<unsigned long long>(one.problem.count), static_cast<unsigned long long>(one.problem.k),
              std::string{to_string(one.problem.type)}.c_str(),
              (one.decided.backend + "/" + one.decided.strategy).c_str(), one.decided.predicted_seconds * 1e6,
              one.measured * 1e6, one.deviation(), one.fastest_name.c_str(), one.loss());
}

void print_worst(std::vector<outcome> all, std::string_view title, double (outcome::*by)() const) {
  constexpr std::size_t shown = 10;
  std::ranges::sort(all, [&](const outcome& a, const outcome& b) { return (a.*by)() > (b.*by)(); });
  all.resize(std::min(all.size(), shown));
  std::printf("\n%.*s\n%9s %5s %-8s %-16s %11s %11s %7s   %-16s %6s\n", static_cast<int>(title.size()), title.data(),
              "count", "k", "type", "chosen", "predicted", "measured us", "ratio", "fastest", "loss");
  for (const auto& one : all) print(one);
}

double share(const std::vector<outcome>& all, double (outcome::*of)() const, double limit) {
  const auto good = std::ranges::count_if(all, [&](const outcome& one) { return (one.*of)() <= limit; });
  return 100.0 * static_cast<double>(good) / static_cast<double>(all.size());
}

void run(const settings& given) {
  const auto show = [](double done, std::string_view what) {
    std::fprintf(stderr, "\r%3.0f %% %-60.*s", done * 100, static_cast<int>(what.size()), what.data());
  };
  const auto machine = given.calibrate ? zenith_study::calibrate(show) : zenith::machine::local();
  const auto problems = choose_problems(given);
  std::vector<outcome> all;
  for (std::size_t i = 0; i < problems.size();) {
    const zenith_study::random_keys keys(problems[i].type, std::uint64_t{1} << 26,
                                         static_cast<std::uint64_t>(given.seed));
    for (; i < problems.size() && problems[i].type == keys.type(); ++i) {
      show(static_cast<double>(i) / static_cast<double>(problems.size()), to_string(keys.type()));
      all.push_back(measure(problems[i], machine, keys));
    }
  }
  std::fprintf(stderr, "\r%80s\r", "");
  if (given.all) {
    for (const auto& one : all) print(one);
  }
  print_worst(all, "worst choices", &outcome::loss);
  print_worst(all, "worst predictions", &outcome::off);
  constexpr double enough_loss = 1.1;
  constexpr double enough_off = 1.5;
  std::printf("\nchosen within %.1f of the fastest: %.1f %% of %zu points\n", enough_loss,
              share(all, &outcome::loss, enough_loss), all.size());
  std::printf("predicted within a factor %.1f:   %.1f %%\n", enough_off, share(all, &outcome::off, enough_off));
}

}  // namespace

int main(int count, char** arguments) {
  settings given;
  if (!parse(count, arguments, given)) {
    std::fputs(usage.data(), stderr);
    return 2;
  }
  try {
    run(given);
  } catch (const zenith::error& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
  return 0;
}
