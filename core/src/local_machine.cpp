#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <core/built_backends.hpp>
#include <core/core_speed.hpp>
#include <core/decide.hpp>
#include <core/resolve.hpp>
#include <zenith/backend.hpp>
#include <zenith/error.hpp>
#include <zenith/machine.hpp>

namespace zenith {
namespace {

std::vector<int> ordinals_of(const backend& of) {
  if (of.devices == nullptr) return {0};
  std::vector<int> ordinals;
  for (const auto& one : of.devices()) ordinals.push_back(one.ordinal);
  return ordinals;
}

execution execution_of(const backend& of, int ordinal) {
  execution on;
  on.target = &of;
  on.device = ordinal;
  return detail::resolve(std::move(on));
}

device_profile shipped_profile(const backend& of, int ordinal) {
  auto profile = of.default_profile(execution_of(of, ordinal));
  profile.backend = of.name;
  profile.device = ordinal;
  profile.memory = of.memory;
  profile.origin = "default";
  profile.offers.clear();
  for (const auto& entry : of.kernels) {
    if (entry.run == nullptr) continue;
    profile.offers.push_back(std::string{entry.operation} + "/" + std::string{entry.strategy});
  }
  return profile;
}

// A device that fails while it is asked what it is cannot be chosen, but must not take the others down with it.
void add_devices(const backend& of, std::vector<device_profile>& to) {
  if (of.default_profile == nullptr) return;
  try {
    if (of.available != nullptr && !of.available().usable) return;
    for (const int ordinal : ordinals_of(of)) to.push_back(shipped_profile(of, ordinal));
  } catch (const error& fault) {
    if (fault.code() != error_code::device_failure && fault.code() != error_code::backend_unavailable) throw;
  }
}

// A measured profile stands for the chip it was measured on, with the cores that the process had.
bool fits(const device_profile* measured, const device_profile& shipped) {
  return measured != nullptr && measured->name == shipped.name && measured->cores == shipped.cores;
}

// What the backend can do, and what device it is, is never taken from a measurement.
void overlay(device_profile& shipped, device_profile measured) {
  measured.backend = std::move(shipped.backend);
  measured.device = shipped.device;
  measured.offers = std::move(shipped.offers);
  measured.memory = shipped.memory;
  shipped = std::move(measured);
}

// What a moment of measuring tells, once in a process for each device: it is not asked again when a backend is
// registered or a profile forgotten.
const device_profile* probed_profile(const device_profile& shipped) {
  static std::map<std::pair<std::string, int>, device_profile> known;  // guarded by the mutex of `local`
  const auto& of = find_backend(shipped.backend);
  if (of.probe == nullptr) return nullptr;
  const auto at = std::pair{shipped.backend, shipped.device};
  auto found = known.find(at);
  if (found == known.end()) {
    auto probed = of.probe(execution_of(of, shipped.device));
    probed.origin = "probed";
    found = known.emplace(at, std::move(probed)).first;
  }
  return &found->second;
}

machine look_around() {
  auto devices = machine::defaults().devices();
  const auto file = machine::profile_path();
  std::error_code fault;
  const bool is_kept = !file.empty() && std::filesystem::exists(file, fault);
  const auto measured = is_kept ? machine::read(file) : machine{};
  // once in a process, before and after the devices' probes, which take some ten milliseconds
  static detail::core_speed speed;  // guarded by the mutex of `local`
  const bool is_first = !speed.is_known();
  constexpr int times = 6;
  for (auto& one : devices) {
    if (const auto* kept = measured.find(one.backend, one.device); fits(kept, one)) {
      overlay(one, *kept);
      continue;
    }
    if (!speed.is_known()) speed.probe(times);
    if (const auto* probed = probed_profile(one); probed != nullptr) {
      overlay(one, *probed);
      if (is_first) speed.probe(times);
    }
  }
  for (auto& one : devices) {
    if (one.origin == "calibrated" || one.kind != device_kind::cpu) continue;
    // a backend that runs plainer code than the estimates are of says how many times as long it takes
    one.rates["core.estimate"] = speed.factor() * one.rate("core.estimate", 1);
  }
  return machine{std::move(devices)};
}

// What was read, and how many backends were registered then.
struct snapshot {
  machine here;
  std::size_t registrations;
};

struct memory_of_machines {
  std::mutex mutex;
  std::atomic<const snapshot*> latest = nullptr;
  std::vector<std::unique_ptr<const snapshot>> all;  // none is ever freed: callers hold references
  // Of profiles in `all`, with so many of their cores: as many as executors' settings name.
  std::map<std::pair<const device_profile*, int>, device_profile> narrow;
};

memory_of_machines& the_memory() {
  static memory_of_machines instance;
  return instance;
}

bool is_current(const snapshot* one) { return one != nullptr && one->registrations == detail::registrations(); }

}  // namespace

machine machine::defaults() {
  std::vector<device_profile> devices;
  for (const auto* one : backend_descriptors()) add_devices(*one, devices);
  return machine{std::move(devices)};
}

const machine& machine::local() {
  auto& memory = the_memory();
  if (const auto* known = memory.latest.load(std::memory_order_acquire); is_current(known)) return known->here;
  const std::unique_lock lock(memory.mutex);
  if (const auto* known = memory.latest.load(std::memory_order_relaxed); is_current(known)) return known->here;
  const auto registrations = detail::registrations();
  memory.all.push_back(std::make_unique<const snapshot>(snapshot{look_around(), registrations}));
  memory.latest.store(memory.all.back().get(), std::memory_order_release);
  return memory.all.back()->here;
}

const device_profile* detail::local_profile(const execution& on) {
  const auto* all = machine::local().find(on.target->name, on.device);
  if (all == nullptr || all->kind != device_kind::cpu || on.threads < 1 || on.threads >= all->cores) return all;
  auto& memory = the_memory();
  const std::unique_lock lock(memory.mutex);
  const auto asked = std::pair{all, on.threads};
  auto found = memory.narrow.find(asked);
  if (found == memory.narrow.end()) found = memory.narrow.emplace(asked, all->with_threads(on.threads)).first;
  return &found->second;
}

void machine::reload_local() { the_memory().latest.store(nullptr, std::memory_order_release); }

}  // namespace zenith
