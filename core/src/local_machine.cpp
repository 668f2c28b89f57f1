#include <atomic>
#include <memory>
#include <mutex>

#include <core/built_backends.hpp>
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

device_profile shipped_profile(const backend& of, int ordinal) {
  execution on;
  on.target = &of;
  on.device = ordinal;
  auto profile = of.default_profile(detail::resolve(std::move(on)));
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
void overlay(device_profile& shipped, const machine& measured) {
  const auto* found = measured.find(shipped.backend, shipped.device);
  if (found == nullptr || found->name != shipped.name || found->cores != shipped.cores) return;
  // what the backend can do is never taken from a file
  auto offers = std::move(shipped.offers);
  const auto memory = shipped.memory;
  shipped = *found;
  shipped.offers = std::move(offers);
  shipped.memory = memory;
}

machine look_around() {
  auto devices = machine::defaults().devices();
  const auto file = machine::profile_path();
  std::error_code fault;
  if (!file.empty() && std::filesystem::exists(file, fault)) {
    const auto measured = machine::read(file);
    for (auto& one : devices) overlay(one, measured);
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

void machine::reload_local() { the_memory().latest.store(nullptr, std::memory_order_release); }

}  // namespace zenith
