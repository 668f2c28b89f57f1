#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include <perf/study/calibrate.hpp>
#include <perf/study/commands.hpp>
#include <perf/study/progress.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/table.hpp>
#include <zenith/machine.hpp>

namespace zenith_study {
namespace {

std::string bandwidth(double bytes_per_second) {
  return bytes_per_second > 0 ? fmt::format("{:.1f}", bytes_per_second / 1e9) : "-";
}

void print_profiles(const zenith::machine& measured) {
  table shown(
      {{"device", align::left}, {"level", align::left}, {"size"}, {"read GB/s"}, {"write GB/s"}, {"copy GB/s"}});
  for (const auto& device : measured.devices()) {
    auto name = device.device == 0 ? device.backend : fmt::format("{}:{}", device.backend, device.device);
    for (const auto& level : device.levels) {
      shown.add({name, level.name, level.bytes == 0 ? "-" : format_bytes(level.bytes), bandwidth(level.read),
                 bandwidth(level.write), bandwidth(level.copy)});
      name.clear();
    }
  }
  fmt::print("{}\n", shown.text());
  for (const auto& device : measured.devices()) {
    fmt::print("{}: a launch takes {}; {} rates fitted\n", device.backend, format_seconds(device.launch_overhead),
               device.rates.size());
  }
}

int run(const std::string& output) {
  const std::filesystem::path file = output.empty() ? zenith::machine::profile_path() : std::filesystem::path{output};
  const auto measured = [] {
    progress shown("calibrate");
    return calibrate([&](double share, std::string_view what) { shown.show(share, what); });
  }();
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  measured.write(file);
  print_profiles(measured);
  fmt::print("profile: {}\n", file.string());
  return succeeded;
}

}  // namespace

void add_calibrate(CLI::App& app, int& status) {
  auto* command =
      app.add_subcommand("calibrate", "Measures this machine, for the dispatcher's predictions; takes a minute or two");
  const auto output = std::make_shared<std::string>();
  command->add_option("--output", *output, "The file to write; without it, where Zenith looks for the profile");
  command->callback([output, &status] { status = run(*output); });
}

}  // namespace zenith_study
