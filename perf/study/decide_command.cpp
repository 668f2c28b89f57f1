#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include <perf/study/commands.hpp>
#include <perf/study/key_type_name.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/table.hpp>
#include <zenith/top_k.hpp>

namespace zenith_study {
namespace {

struct settings {
  std::string count = "2^26";
  std::string k = "32";
  std::string type = "float32";
  bool on_device = false;
  std::string profile;
};

std::string device_name(const std::string& backend, int device) {
  return device == 0 ? backend : fmt::format("{}:{}", backend, device);
}

int explain(const settings& given) {
  zenith::top_k_problem problem;
  problem.count = parse_count("--count", given.count);
  problem.k = parse_count("--k", given.k);
  problem.type = parse_key_type("--type", given.type);
  problem.space = given.on_device ? zenith::memory_space::device : zenith::memory_space::host;
  if (problem.k > problem.count) {
    reject(fmt::format("--k is {}, but --count is only {}", with_commas(problem.k), with_commas(problem.count)));
  }
  const auto here = given.profile.empty() ? zenith::machine::local() : zenith::machine::read(given.profile);
  const auto decided = zenith::decide(problem, here);
  fmt::print("top-k, k = {} of {} {} in {} memory: {} on {}, {} predicted\n{}\n\n", with_commas(problem.k),
             with_commas(problem.count), zenith::to_string(problem.type), given.on_device ? "device" : "host",
             decided.strategy, device_name(decided.backend, decided.device), format_seconds(decided.predicted_seconds),
             decided.why);
  table shown({{"", align::left}, {"backend/strategy", align::left}, {"predicted"}, {"why", align::left}});
  shown.add({"*", fmt::format("{}/{}", device_name(decided.backend, decided.device), decided.strategy),
             format_seconds(decided.predicted_seconds), "chosen"});
  for (const auto& other : decided.rejected) {
    shown.add({"", fmt::format("{}/{}", device_name(other.backend, other.device), other.strategy),
               format_seconds(other.predicted_seconds), other.reason});
  }
  fmt::print("{}", shown.text());
  return succeeded;
}

}  // namespace

void add_decide(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("decide", "What the dispatcher chooses for a problem, and why not the others");
  const auto given = std::make_shared<settings>();
  command->option_defaults()->always_capture_default();
  command->add_option("--count", given->count, "How many values: 2^26, 64M, 64Mi, 1e6");
  command->add_option("-k,--k", given->k, "How many of them are wanted");
  command->add_option("--type", given->type, "float32, float64, int32, uint32, int64 or uint64");
  command->add_flag("--on-device", given->on_device, "The data lies in the memory of a device");
  command->add_option("--profile", given->profile, "Decide for the machine in this file instead of this one");
  command->callback([given, &status] { status = explain(*given); });
}

}  // namespace zenith_study
