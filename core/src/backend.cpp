#include <zenith/backend.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <mutex>
#include <shared_mutex>

#include <core/built_backends.hpp>
#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace {

struct registry {
  std::shared_mutex mutex;
  std::atomic<std::size_t> registrations = 0;  // read on each automatic call, so without the mutex
  std::vector<const backend*> registered;
};

registry& the_registry() {
  static registry instance;
  return instance;
}

bool is_plain_word(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_' || c == '-';
  });
}

backend_info describe(const backend& of) {
  backend_info info;
  info.name = of.name;
  info.description = of.description;
  info.built = true;
  const auto state = of.available != nullptr ? of.available() : availability{true, {}, {}};
  info.usable = state.usable;
  info.why_not = state.why_not;
  info.remedy = state.remedy;
  if (info.usable && of.devices != nullptr) info.devices = of.devices();
  for (const auto& entry : of.kernels) {
    if (entry.run == nullptr) continue;
    info.strategies.push_back(std::string{entry.operation} + "/" + std::string{entry.strategy});
  }
  return info;
}

}  // namespace

const kernel* find_kernel(const backend& in, std::string_view operation, std::string_view strategy) noexcept {
  // a name is mostly the same characters, not only as many and alike
  const auto same = [](std::string_view a, std::string_view b) {
    return a.size() == b.size() && (a.data() == b.data() || a == b);
  };
  for (const auto& entry : in.kernels) {
    if (entry.run != nullptr && same(entry.operation, operation) && same(entry.strategy, strategy)) return &entry;
  }
  return nullptr;
}

void register_backend(const backend& descriptor) {
  if (!is_plain_word(descriptor.name)) {
    throw error(error_code::invalid_argument, "register_backend: descriptor.name is '" +
                                                  detail::shown(descriptor.name) +
                                                  "'; it must be a word of a-z, 0-9, '_' and '-'");
  }
  auto& all = the_registry();
  const std::unique_lock lock(all.mutex);
  const auto has_name = [&](const backend* other) { return other->name == descriptor.name; };
  const auto is_left_out = [&](const detail::absent_backend& other) { return other.name == descriptor.name; };
  if (descriptor.name == "auto" || std::ranges::any_of(detail::built_backends(), has_name) ||
      std::ranges::any_of(all.registered, has_name) || std::ranges::any_of(detail::absent_backends(), is_left_out)) {
    throw error(error_code::invalid_argument,
                "register_backend: there is a backend '" + std::string{descriptor.name} + "' already");
  }
  all.registered.push_back(&descriptor);
  all.registrations.store(all.registered.size(), std::memory_order_release);
}

std::size_t detail::registrations() noexcept { return the_registry().registrations.load(std::memory_order_acquire); }

std::vector<const backend*> backend_descriptors() {
  const auto built = detail::built_backends();
  std::vector<const backend*> all(built.begin(), built.end());
  auto& registered = the_registry();
  const std::shared_lock lock(registered.mutex);
  all.insert(all.end(), registered.registered.begin(), registered.registered.end());
  return all;
}

const backend& find_backend(std::string_view name) {
  std::string known;
  for (const auto* one : backend_descriptors()) {
    if (one->name == name) return *one;
    known += known.empty() ? "" : ", ";
    known += one->name;
  }
  for (const auto& absent : detail::absent_backends()) {
    if (absent.name == name) {
      throw error(error_code::backend_unavailable, std::string{absent.why} + "; " + std::string{absent.remedy}, name);
    }
  }
  throw error(error_code::backend_unavailable,
              "there is no backend '" + detail::shown(name) + "'; this build has: " + known + ", and auto");
}

std::vector<backend_info> backends() {
  std::vector<backend_info> all;
  for (const auto* one : backend_descriptors()) all.push_back(describe(*one));
  for (const auto& absent : detail::absent_backends()) {
    backend_info info;
    info.name = absent.name;
    info.why_not = absent.why;
    info.remedy = absent.remedy;
    all.push_back(std::move(info));
  }
  return all;
}

}  // namespace zenith
