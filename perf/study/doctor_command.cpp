#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/host.hpp>
#include <perf/study/quantity.hpp>
#include <zenith/backend.hpp>
#include <zenith/error.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>

namespace zenith_study {
namespace {

void line(std::string_view name, std::string_view text) { fmt::print("  {:<14}{}\n", name, text); }

void print_host() {
  const auto host = inspect_host();
  fmt::print("Machine\n");
  line("system", host.system);
  line("cpu", host.cpu);
  line("threads", fmt::format("{} usable of {}", host.usable_threads, host.threads));
  for (const auto& cache : host.caches) line(cache.name, cache.size);
  line("memory",
       fmt::format("{}, {} available{}", format_bytes(host.memory), format_bytes(host.available_memory),
                   host.memory_limit == 0 ? "" : fmt::format(", limited to {}", format_bytes(host.memory_limit))));
  if (host.gpus.empty()) line("gpu", "none on the PCI bus");
  for (const auto& gpu : host.gpus) line("gpu", gpu);
}

void print_instruction_sets() {
  fmt::print("\nInstruction sets of the cpu backend\n");
  for (const std::string isa : {"sse2", "avx2", "avx512"}) {
    try {
      const auto on = zenith::make_executor("cpu:isa=" + isa);
      line(isa, "usable");
    } catch (const zenith::error& fault) {
      line(isa, fault.what());
    }
  }
  try {
    const auto on = zenith::make_executor("cpu");
    line("by default", on.isa().empty() ? "the backend does not say" : on.isa());
  } catch (const zenith::error& fault) {
    line("by default", fault.what());
  }
}

void print_backends() {
  fmt::print("\nBackends\n");
  for (const auto& one : zenith::backends()) {
    line(one.name, one.usable ? "built and usable" : one.built ? "built, not usable" : "not built");
    if (!one.description.empty()) line("", one.description);
    if (!one.usable) {
      line("", "why not: " + one.why_not);
      if (!one.remedy.empty()) line("", "remedy:  " + one.remedy);
    }
    for (const auto& device : one.devices) {
      line("", fmt::format("device {}: {}{}{}", device.ordinal, device.name,
                           device.detail.empty() ? "" : ", " + device.detail,
                           device.memory_bytes == 0 ? "" : ", " + format_bytes(device.memory_bytes)));
    }
    if (!one.strategies.empty()) line("", fmt::format("offers: {}", fmt::join(one.strategies, ", ")));
  }
}

// A damaged profile is a finding here, not a failure.
int print_profile() {
  const auto file = zenith::machine::profile_path();
  fmt::print("\nProfile\n");
  line("file", file.string() + (std::filesystem::exists(file) ? "" : " (not there: run zenith-study calibrate)"));
  try {
    const auto& devices = zenith::machine::local().devices();
    if (devices.empty()) line("devices", "none: the dispatcher has nothing to choose from");
    for (const auto& one : devices) {
      const auto read =
          one.levels.empty() ? std::string{} : fmt::format(", reads {:.0f} GB/s", one.levels.back().read / 1e9);
      line(one.backend,
           fmt::format("{}{}{}{}",
                       one.origin == "calibrated" ? "calibrated"
                       : one.origin == "probed"   ? "shipped defaults and probed bandwidths, not calibrated"
                                                  : "shipped defaults, not calibrated",
                       one.date.empty() ? "" : " on " + one.date, one.name.empty() ? "" : ", " + one.name, read));
    }
    return succeeded;
  } catch (const zenith::error& fault) {
    line("damaged", fault.what());
    line("remedy", "zenith-study calibrate writes a new one");
    return failed_run;
  }
}

}  // namespace

void add_doctor(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("doctor", "The machine as Zenith sees it, and what is missing");
  command->callback([&status] {
    fmt::print("Zenith {}\n\n", ZENITH_STUDY_VERSION);
    print_host();
    print_instruction_sets();
    print_backends();
    status = print_profile();
  });
}

}  // namespace zenith_study
