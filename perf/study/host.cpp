#include <perf/study/host.hpp>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <perf/study/quantity.hpp>

namespace zenith_study {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  return text;
}

// The value of the first "key : value" or "key=value" line.
std::string value_of(const fs::path& file, std::string_view key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find(separator);
    if (at == std::string::npos) continue;
    const auto start = line.find_first_not_of(" \t\"", at + 1);
    if (start == std::string::npos) return {};
    const auto end = line.find_last_not_of(" \t\"");
    return line.substr(start, end - start + 1);
  }
  return {};
}

std::uint64_t number_in(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::uint64_t memory_fact(std::string_view key) { return number_in(value_of("/proc/meminfo", key, ':')) * 1024; }

int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::vector<host_cache> caches() {
  std::vector<host_cache> found;
  for (int i = 0; i < 8; ++i) {
    const fs::path folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", i);
    const auto kind = first_line(folder / "type");
    if (kind.empty() || kind == "Instruction") continue;
    const auto size = first_line(folder / "size");
    const auto shared = first_line(folder / "shared_cpu_list");
    found.push_back({fmt::format("L{}{}", first_line(folder / "level"), kind == "Data" ? "d" : ""),
                     fmt::format("{}, for cpu {}",
                                 format_bytes(number_in(size) * (size.ends_with('K')   ? 1024
                                                                 : size.ends_with('M') ? 1048576
                                                                                       : 1)),
                                 shared)});
  }
  return found;
}

std::string vendor_name(const std::string& vendor) {
  if (vendor == "0x10de") return "NVIDIA";
  if (vendor == "0x1002") return "AMD";
  if (vendor == "0x8086") return "Intel";
  return "vendor " + vendor;
}

// Display controllers and 3D controllers (which compute cards are) have class 0x03.
std::vector<std::string> gpus() {
  std::set<std::string> found;
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices", fault)) {
    if (!first_line(entry.path() / "class").starts_with("0x03")) continue;
    const auto address = entry.path().filename().string();
    auto name = value_of(fmt::format("/proc/driver/nvidia/gpus/{}/information", address), "Model", ':');
    if (name.empty())
      name = vendor_name(first_line(entry.path() / "vendor")) + " device " + first_line(entry.path() / "device");
    const auto driver = fs::read_symlink(entry.path() / "driver", fault).filename().string();
    found.insert(fmt::format("{} at {}, {}", name, address,
                             driver.empty() ? "no driver: install the vendor's" : "driver " + driver));
  }
  return {found.begin(), found.end()};
}

}  // namespace

host_facts inspect_host() {
  host_facts facts;
  utsname kernel{};
  uname(&kernel);
  const auto system = value_of("/etc/os-release", "PRETTY_NAME", '=');
  facts.system = fmt::format("{}, {} {} on {}", system.empty() ? "unknown system" : system, kernel.sysname,
                             kernel.release, kernel.machine);
  facts.cpu = value_of("/proc/cpuinfo", "model name", ':');
  if (facts.cpu.empty()) facts.cpu = kernel.machine;
  facts.threads = static_cast<int>(std::thread::hardware_concurrency());
  facts.usable_threads = usable_threads();
  facts.threads = std::max(facts.threads, facts.usable_threads);
  facts.caches = caches();
  facts.memory = memory_fact("MemTotal");
  facts.available_memory = memory_fact("MemAvailable");
  facts.memory_limit = number_in(first_line("/sys/fs/cgroup/memory.max"));
  facts.gpus = gpus();
  return facts;
}

}  // namespace zenith_study
