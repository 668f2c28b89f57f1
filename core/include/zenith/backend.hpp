#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zenith/types.hpp>

/// \file
/// What a backend is: a descriptor with a kernel table. Users need this header only to bring a backend of their own.

namespace zenith {

struct backend;
struct device_profile;

/// Where and how a call runs: an executor's settings, resolved against its backend. Backends receive it with each call.
struct execution {
  const backend* target = nullptr;  ///< nullptr: chosen for each call by `decide` ("auto")
  int device = 0;                   ///< ordinal among the backend's devices
  int threads = 0;                  ///< host threads; 0 before `configure`, at least 1 after
  std::string isa;                  ///< instruction set, in the backend's own words; empty where there is no choice
  void* stream = nullptr;           ///< the backend's native stream, borrowed from the caller; nullptr: its default
  void* memory = nullptr;           ///< the backend's memory resource, borrowed; nullptr: its default
};

/// Whether a backend can run on this machine now.
struct availability {
  bool usable = false;
  std::string why_not;  ///< one sentence, empty when usable
  std::string remedy;   ///< what would make it usable, empty when usable
};

/// One device that a backend drives.
struct device_info {
  int ordinal = 0;
  std::string name;
  std::string detail;  ///< instruction sets, threads, compute capability: one line for a person
  std::size_t memory_bytes = 0;
};

/// One strategy of one operation that a backend offers. `run` gets the operation's call structure (`top_k_call` for
/// operation "top_k"), whose type is fixed by the operation's name; build entries with `make_kernel`.
struct kernel {
  std::string_view operation;
  std::string_view strategy;
  void (*run)(const execution& on, const void* call) = nullptr;
};

/// A kernel table entry from a function that takes the operation's call structure.
template <class Call, void (*Function)(const execution&, const Call&)>
[[nodiscard]] constexpr kernel make_kernel(std::string_view strategy) noexcept {
  return {Call::operation, strategy,
          [](const execution& on, const void* call) { Function(on, *static_cast<const Call*>(call)); }};
}

/// Called by measurements that take a while: the share done so far, 0 to 1, and what is being measured.
using progress_function = std::function<void(double share, std::string_view what)>;

/// A backend: what it is, whether it is usable, and what it can run. A plain constant; a function that a backend has no
/// use for may be nullptr: then a call by name throws `unsupported`, and "auto" takes another backend.
struct backend {
  std::string_view name;         ///< as in `make_executor("name")`
  std::string_view description;  ///< one line
  std::string_view needs;        ///< what it needs to be built and to run
  memory_space memory = memory_space::host;
  std::span<const std::string_view> options = {};  ///< keys that its executor string takes: "threads", "isa", …
  std::span<const kernel> kernels = {};

  availability (*available)() = nullptr;  ///< nullptr: always usable
  std::vector<device_info> (*devices)() = nullptr;
  /// Checks the settings and fills in what was left open; throws `error` for what this machine does not have.
  void (*configure)(execution& settings) = nullptr;

  /// Memory of the device, for `memory_space::device` backends; ordered on `on.stream`.
  void* (*allocate)(const execution& on, std::size_t bytes) = nullptr;
  void (*deallocate)(const execution& on, void* pointer, std::size_t bytes) noexcept = nullptr;
  void (*copy)(const execution& on, void* to, memory_space to_space, const void* from, memory_space from_space,
               std::size_t bytes) = nullptr;
  /// Lets kernels read memory of the host where it lies, and returns where they see it; it stays readable for the host.
  /// nullptr: the backend's kernels cannot.
  const void* (*map_host)(const execution& on, const void* at, std::size_t bytes) = nullptr;
  /// Ends that, of what `map_host` returned. Waits for kernels that may read it.
  void (*unmap_host)(const execution& on, const void* seen) noexcept = nullptr;
  /// Waits for all work of this executor and throws the fault that it ended in, if any.
  void (*synchronize)(const execution& on) = nullptr;

  /// The profile shipped for this device, by what the device says of itself. nullptr: never chosen by "auto".
  device_profile (*default_profile)(const execution& on) = nullptr;
  /// Measures bandwidths and overheads of this device in a few seconds.
  device_profile (*measure)(const execution& on, const progress_function& progress) = nullptr;
  /// What some milliseconds of measuring say of this device. nullptr: no more than the shipped profile.
  device_profile (*probe)(const execution& on) = nullptr;
};

/// The entry for `strategy` of `operation`, nullptr when the backend does not offer it.
[[nodiscard]] const kernel* find_kernel(const backend& in, std::string_view operation,
                                        std::string_view strategy) noexcept;

/// Adds a backend from outside the library; `descriptor` is borrowed and must outlive every use. Thread-safe. Throws
/// `invalid_argument` when the name is empty, not a plain word, or taken.
void register_backend(const backend& descriptor);

/// Every backend of this build in order of listing, the registered ones last.
[[nodiscard]] std::vector<const backend*> backend_descriptors();

/// The descriptor called `name`; throws `backend_unavailable`, naming the ones there are, when there is none.
[[nodiscard]] const backend& find_backend(std::string_view name);

/// One backend as `backends()` reports it.
struct backend_info {
  std::string name;
  std::string description;
  bool built = false;
  bool usable = false;
  std::string why_not;  ///< why it is not built or not usable; empty when usable
  std::string remedy;   ///< what would change that; empty when usable
  std::vector<device_info> devices;
  std::vector<std::string> strategies;  ///< "operation/strategy" for each kernel it offers
};

/// Every backend that Zenith knows: those built, those left out of this build, and the registered ones.
[[nodiscard]] std::vector<backend_info> backends();

}  // namespace zenith
