#include <backends/kokkos/runtime.hpp>

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include <backends/kokkos/space.hpp>
#include <zenith/error.hpp>

namespace zenith::kokkos_backend {
namespace {

constinit std::mutex in_use;

#if KOKKOS_VERSION >= 40000

void watch() {}
bool was_finalized() { return Kokkos::is_finalized(); }

#else

// Kokkos 3 forgets that it was finalised, so a hook remembers. A host that finalised before this backend first looked
// is not noticed; Kokkos 3 starts again then.
constinit std::atomic<bool> watching{false};
constinit std::atomic<bool> finalized{false};

void watch() {
  finalized = false;
  if (watching.exchange(true)) return;
  Kokkos::push_finalize_hook([] {
    finalized = true;
    watching = false;
  });
}
bool was_finalized() { return finalized; }

#endif

// Kokkos::num_devices() ends the process where no driver is installed, so the driver is asked.
bool has_device() {
#if defined(KOKKOS_ENABLE_CUDA)
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
#elif defined(KOKKOS_ENABLE_HIP)
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess && count > 0;
#else
  return true;
#endif
}

std::string missing_device() {
  return is_host_space || has_device() ? std::string{} : std::string{"Kokkos sees no device for "} + space::name();
}

void finalize_ours() {
  const std::scoped_lock lock(in_use);
  if (Kokkos::is_initialized()) Kokkos::finalize();
}

void initialize_ours() {
  try {
#if KOKKOS_VERSION >= 30700
    Kokkos::initialize(Kokkos::InitializationSettings{}.set_disable_warnings(true));
#else
    Kokkos::InitArguments arguments;
    arguments.disable_warnings = true;
    Kokkos::initialize(arguments);
#endif
  } catch (const std::bad_alloc&) {
    throw error(error_code::out_of_memory, "there is no memory to initialise Kokkos", "kokkos");
  } catch (const std::exception& fault) {
    throw error(error_code::backend_unavailable, std::string{"Kokkos could not be initialised: "} + fault.what(),
                "kokkos");
  }
  // registered after Kokkos constructed its statics, so it runs before they are destroyed
  std::atexit(finalize_ours);
}

}  // namespace

availability state() {
  const std::scoped_lock lock(in_use);
  if (Kokkos::is_initialized()) {
    watch();
    return {true, {}, {}};
  }
  if (was_finalized()) {
    return {false, "Kokkos was finalised by the program, and does not run again",
            "call Zenith's kokkos backend before Kokkos::finalize()"};
  }
  if (auto why = missing_device(); !why.empty()) {
    return {false, std::move(why), "make the device visible, or use a Kokkos built for this machine"};
  }
  return {true, {}, {}};
}

std::string space_name() {
  constexpr int version = KOKKOS_VERSION;
  const std::string patch = std::to_string(version % 100);
  std::string name = "Kokkos " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
                     (patch.size() < 2 ? "0" : "") + patch + " " + space::name();
#if defined(KOKKOS_ENABLE_SERIAL)
  if (std::is_same_v<space, Kokkos::Serial>) name += " (single-threaded)";
#endif
  return name;
}

int concurrency() {
#if defined(KOKKOS_ENABLE_SERIAL)
  if (std::is_same_v<space, Kokkos::Serial>) return 1;
#endif
  if (Kokkos::is_initialized()) return static_cast<int>(space{}.concurrency());
  return static_cast<int>(std::thread::hardware_concurrency());
}

session::session() : lock_(in_use) {
  if (!Kokkos::is_initialized()) {
    if (was_finalized()) {
      throw error(error_code::backend_unavailable,
                  "Kokkos was finalised by the program, and does not run again; call Zenith's kokkos backend before "
                  "Kokkos::finalize()",
                  "kokkos");
    }
    initialize_ours();
  }
  watch();
}

}  // namespace zenith::kokkos_backend
