// How good the decisions are: over a random choice of questions, every backend and strategy of this machine is run, and
// its time is compared with what the cost models said.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <perf/study/calibrate.hpp>
#include <perf/study/clock.hpp>
#include <perf/study/subject.hpp>
#include <zenith/error.hpp>
#include <zenith/machine.hpp>

namespace {

struct settings {
  std::string subject = "top_k";
  int points = 120;
  int seed = 1;
  bool calibrate = false;
  bool all = false;
  bool rivals = false;
  bool resident = false;
  std::string machine_file;
  std::string written_file;

  [[nodiscard]] zenith::memory_space space() const {
    return resident ? zenith::memory_space::device : zenith::memory_space::host;
  }
};

constexpr std::string_view usage =
    "usage: zenith-decision-accuracy [--subject NAME] [--points N] [--seed N] [--calibrate] [--all]\n"
    "                                [--rivals] [--resident] [--machine FILE] [--write FILE]\n"
    "  --subject    top_k, which is the default, packed_column, skyline, threshold_table or spatial_join\n"
    "  --calibrate  measure this machine first, instead of the profile that machine::local finds\n"
    "  --all        print every point, not only the worst\n"
    "  --rivals     print every strategy of every point, with tabs between: question, executor and strategy, "
    "predicted\n"
    "               and measured microseconds, and what the prediction is made of\n"
    "  --resident   the data lies in the memory of a device, and so do the results\n"
    "  --machine    a machine of this profile file, of which nothing is measured; with --rivals\n"
    "  --write      writes the profiles that were asked to a file\n";

struct outcome {
  std::string question;
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
    } else if (key == "--rivals") {
      into.rivals = true;
    } else if (key == "--resident") {
      into.resident = true;
    } else if (key == "--machine" && i + 1 < count) {
      into.machine_file = arguments[++i];
    } else if (key == "--write" && i + 1 < count) {
      into.written_file = arguments[++i];
    } else if (key == "--subject" && i + 1 < count) {
      into.subject = arguments[++i];
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
  return into.machine_file.empty() || (into.rivals && !into.calibrate);
}

// The one operation of the input that is placed where `at` says.
zenith_study::trial place_one(const zenith_study::varied_input& from, std::string_view operation,
                              const zenith_study::placement& at) {
  for (auto& one : from.place(at)) {
    if (one.operation == operation) return std::move(one);
  }
  throw zenith::error(zenith::error_code::unsupported, at.executor + " does not offer " + std::string{operation});
}

// What was chosen, and what is not predicted to take so many times longer that it cannot be the fastest.
std::vector<zenith::candidate> rivals_of(const zenith::decision& decided) {
  constexpr double most_times_the_chosen = 12;
  auto rivals = decided.rejected;
  rivals.insert(rivals.begin(), {decided.backend, decided.device, decided.strategy, decided.predicted_seconds, {}});
  const auto is_rival = [&](const zenith::candidate& of) {
    return of.predicted_seconds < most_times_the_chosen * decided.predicted_seconds;
  };
  rivals.erase(std::ranges::find_if_not(rivals, is_rival), rivals.end());
  return rivals;
}

std::string executor_of(const zenith::candidate& rival) {
  return rival.backend + (rival.device > 0 ? ":" + std::to_string(rival.device) : "");
}

// Microseconds of each phase, and of the ways to the device and back.
std::string parts_of(const zenith::cost& of, const zenith::device_profile& on) {
  std::string parts;
  const auto add = [&](std::string_view name, double seconds) {
    parts += (parts.empty() ? "" : " ") + std::string{name} + "=" + std::to_string(seconds * 1e6);
  };
  for (const auto& one : of.phases) add(one.name, zenith::seconds(one, on));
  zenith::cost link;
  link.to_device_bytes = of.to_device_bytes;
  link.to_host_bytes = of.to_host_bytes;
  link.pieces = of.pieces;
  if (const double seconds = zenith::seconds(link, on); seconds > 0) add("link", seconds);
  return parts;
}

void print_rival(zenith_study::input& from, const zenith_study::question& asked, const outcome& one,
                 const zenith::candidate& rival, double seconds, const zenith::machine& on, bool resident) {
  const auto& profile = *on.find(rival.backend, rival.device);
  const auto cost =
      from.cost(asked.point, asked.operation, {executor_of(rival), {}, rival.strategy, resident}, profile);
  std::printf("%s\t%s/%s\t%.2f\t%.2f\t%s\n", one.question.c_str(), executor_of(rival).c_str(), rival.strategy.c_str(),
              rival.predicted_seconds * 1e6, seconds * 1e6, cost ? parts_of(*cost, profile).c_str() : "");
  std::fflush(stdout);
}

outcome decide(zenith_study::input& from, const zenith_study::question& asked, const zenith::machine& on,
               zenith::memory_space space) {
  outcome one;
  one.question = std::string{asked.operation} + ", " + from.label(asked.point);
  one.decided = from.decide(asked.point, asked.operation, space, on);
  return one;
}

outcome measure(const zenith_study::varied_input& from, const zenith_study::question& asked, const zenith::machine& on,
                const settings& given) {
  auto one = decide(from.first(), asked, on, given.space());
  const auto rivals = rivals_of(one.decided);
  // Cores are slower while others use them: of two rounds the faster counts, for all alike.
  constexpr int rounds = 2;
  std::vector<double> seconds(rivals.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      const auto& rival = rivals[i];
      const auto spec = executor_of(rival);
      const auto placed =
          place_one(from, asked.operation, {spec, zenith::make_executor(spec), rival.strategy, given.resident});
      seconds[i] = std::min(seconds[i], zenith_study::lower_quartile_seconds(placed.call, {}));
      if (const auto fault = placed.fault(); !fault.empty()) {
        throw zenith::error(zenith::error_code::device_failure, spec + ", " + one.question + ": " + fault);
      }
    }
  }
  const auto fastest = static_cast<std::size_t>(std::ranges::min_element(seconds) - seconds.begin());
  one.measured = seconds.front();
  one.fastest = seconds[fastest];
  one.fastest_name = rivals[fastest].backend + "/" + rivals[fastest].strategy;
  for (std::size_t i = 0; given.rivals && i < rivals.size(); ++i) {
    print_rival(from.first(), asked, one, rivals[i], seconds[i], on, given.resident);
  }
  return one;
}

// Every strategy of a machine that is not this one.
void predict(zenith_study::input& from, const zenith_study::question& asked, const zenith::machine& on,
             const settings& given) {
  const auto one = decide(from, asked, on, given.space());
  auto all = one.decided.rejected;
  all.insert(all.begin(),
             {one.decided.backend, one.decided.device, one.decided.strategy, one.decided.predicted_seconds, {}});
  for (const auto& candidate : all) {
    if (candidate.predicted_seconds < std::numeric_limits<double>::infinity()) {
      print_rival(from, asked, one, candidate, 0, on, given.resident);
    }
  }
}

void print(const outcome& one) {
  std::printf("%-54s %-16s %11.2f %11.2f %7.2f   %-16s %6.2f\n", one.question.c_str(),
              (one.decided.backend + "/" + one.decided.strategy).c_str(), one.decided.predicted_seconds * 1e6,
              one.measured * 1e6, one.deviation(), one.fastest_name.c_str(), one.loss());
}

void print_worst(std::vector<outcome> all, std::string_view title, double (outcome::*by)() const) {
  constexpr std::size_t shown = 10;
  std::ranges::sort(all, [&](const outcome& a, const outcome& b) { return (a.*by)() > (b.*by)(); });
  all.resize(std::min(all.size(), shown));
  std::printf("\n%.*s\n%-54s %-16s %11s %11s %7s   %-16s %6s\n", static_cast<int>(title.size()), title.data(),
              "question", "chosen", "predicted", "measured us", "ratio", "fastest", "loss");
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
  const auto known = zenith_study::subjects();
  const auto subject = std::ranges::find(known, given.subject, [](const auto& one) { return one->name(); });
  if (subject == known.end()) {
    throw zenith::error(zenith::error_code::invalid_argument, "--subject is '" + given.subject + "'");
  }
  const auto machine = !given.machine_file.empty() ? zenith::machine::read(given.machine_file)
                       : given.calibrate           ? zenith_study::calibrate(show)
                                                   : zenith::machine::local();
  if (!given.written_file.empty()) machine.write(given.written_file);
  constexpr int most_log_count = 26;
  const auto questions = (*subject)->draw(given.points, static_cast<unsigned>(given.seed), most_log_count);
  std::vector<outcome> all;
  for (const auto& question : questions) {
    const zenith_study::varied_input from(question);
    show(static_cast<double>(all.size()) / static_cast<double>(questions.size()), from.first().label(question.point));
    if (!given.machine_file.empty()) {
      predict(from.first(), question, machine, given);
      continue;
    }
    all.push_back(measure(from, question, machine, given));
  }
  std::fprintf(stderr, "\r%80s\r", "");
  if (all.empty()) return;
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
