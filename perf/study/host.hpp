#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zenith_study {

struct host_cache {
  std::string name;  ///< "L1d", "L2"
  std::string size;  ///< "32 KiB, shared by 2 threads"
};

/// What the operating system says of this machine.
struct host_facts {
  std::string system;
  std::string cpu;
  int threads = 0;         ///< that the machine has
  int usable_threads = 0;  ///< that this process may use
  std::vector<host_cache> caches;
  std::uint64_t memory = 0;
  std::uint64_t available_memory = 0;
  std::uint64_t memory_limit = 0;  ///< of the control group; 0: none
  std::vector<std::string> gpus;   ///< display and compute devices of the PCI bus, with the driver that holds them
};

[[nodiscard]] host_facts inspect_host();

}  // namespace zenith_study
