#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <zenith/types.hpp>

namespace zenith {

enum class device_kind : std::uint8_t { cpu, gpu };

/// One level of a device's memory, the fastest first in a profile. Bandwidths in bytes per second, of the whole device.
struct memory_level {
  std::string name;  ///< "L2", "memory", "shared", …
  std::uint64_t bytes = 0;
  double read = 0;
  double write = 0;
  double copy = 0;  ///< bytes read plus bytes written
};

/// What the cost models know of one device. Times in seconds, bandwidths in bytes per second.
struct device_profile {
  std::string backend;
  int device = 0;
  std::string name;  ///< of the chip
  device_kind kind = device_kind::cpu;
  memory_space memory = memory_space::host;  ///< `device`: keys may lie in the device's own memory
  int cores = 1;                             ///< cores, or multiprocessors
  int simd_bytes = 0;                        ///< width of a SIMD register, or of a warp's 32-bit word
  /// Bytes that a core must get before another one is worth waking; 0: the whole device works on anything.
  std::uint64_t grain_bytes = 0;
  std::vector<memory_level> levels;
  double launch_overhead = 0;  ///< of one kernel, or of one parallel region
  double host_to_device = 0;   ///< link bandwidth; 0 when the device shares the host's memory
  double device_to_host = 0;
  double link_latency = 0;
  /// Seconds of a core for one unit of the named work, as the cost models name it ("top_k.filter.append/4"), fitted by
  /// calibration; where a name is missing the model estimates. Some names are used by all models. "link.short_copy":
  /// the time of a byte in the first 4 MiB of a copy over the link. "core.estimate": the time that this core takes
  /// for some work, over the estimated one; "core.vector": the same for computing with vectors.
  /// "core.all_busy": how many times as long a core takes while all cores work. "core.own_levels": the number of
  /// levels, from the first on, that are private caches of a core. "core.shared_alone": the bandwidth that one core
  /// reaches alone in the other levels, over its equal share of it. "core.huge_page": the time until a huge page of
  /// fresh memory can be written.
  std::map<std::string, double, std::less<>> rates;
  /// "operation/strategy" for each kernel that the backend offers; a strategy that is not listed is never chosen.
  std::vector<std::string> offers;
  std::string origin;   ///< "default", "probed" or "calibrated"
  std::string date;     ///< of the measurement, ISO 8601
  std::string version;  ///< of Zenith that measured

  [[nodiscard]] bool offers_kernel(std::string_view operation, std::string_view strategy) const;
  /// The rate called `name`, or `otherwise` when this profile has none.
  [[nodiscard]] double rate(std::string_view name, double otherwise) const;
  /// The smallest level that holds `bytes`, the last when none does. A profile has at least one level.
  [[nodiscard]] const memory_level& level_for(std::uint64_t bytes) const;
  /// The profile of the part of a CPU that an executor with `threads` threads uses: its share of the bandwidths, of the
  /// private caches and of the time of a parallel region. The profile itself for 0 threads, for as many as there are
  /// cores, and for a GPU.
  [[nodiscard]] device_profile with_threads(int threads) const;
};

/// The devices at hand. A plain value: decisions can be made for a machine that is only a file.
class machine {
 public:
  machine() = default;
  explicit machine(std::vector<device_profile> devices) : devices_(std::move(devices)) {}

  /// This machine: every usable device, with its calibrated profile when one is kept and was measured on this chip with
  /// this many cores. Otherwise it has the shipped default; a CPU's gets the bandwidths that a probe of 0.1 to 0.3
  /// seconds measures. Profiles are read once, and again after a backend was registered; the probe runs once.
  /// Thread-safe. A damaged profile file throws `corrupt_data` that names it.
  [[nodiscard]] static const machine& local();
  /// Forgets what `local` read, after a calibration. References from earlier calls of `local` stay valid.
  static void reload_local();
  /// Every usable device with its shipped default: this machine as it is before any calibration. Reads no file.
  [[nodiscard]] static machine defaults();

  /// Profiles from a JSON file; throws `corrupt_data` for anything that is not one, `invalid_argument` for no file.
  [[nodiscard]] static machine read(const std::filesystem::path& file);
  [[nodiscard]] static machine parse(std::string_view json);
  /// Writes the file whole or not at all, with the folders that lead to it; throws `invalid_argument` when it cannot.
  void write(const std::filesystem::path& file) const;
  /// What `parse` reads back to an equal machine; throws `invalid_argument` for a profile that `parse` would refuse.
  [[nodiscard]] std::string to_json() const;

  /// Where the calibrated profile is kept: ZENITH_PROFILE, or zenith/profile.json in the user's cache folder. Empty
  /// when the user has none.
  [[nodiscard]] static std::filesystem::path profile_path();

  [[nodiscard]] const std::vector<device_profile>& devices() const noexcept { return devices_; }
  /// nullptr when there is no such device.
  [[nodiscard]] const device_profile* find(std::string_view backend, int device = 0) const noexcept;

 private:
  std::vector<device_profile> devices_;
};

}  // namespace zenith
