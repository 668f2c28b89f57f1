// Profiles: any text gives a machine or corrupt_data, and what was read is written as something that reads the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <zenith/error.hpp>
#include <zenith/machine.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto read = zenith::machine::parse({reinterpret_cast<const char*>(data), size});
    for (const auto& device : read.devices()) {
      if (device.level_for(~std::uint64_t{0}).name.empty()) std::abort();
    }
    const auto written = read.to_json();
    if (zenith::machine::parse(written).to_json() != written) std::abort();
  } catch (const zenith::error& refused) {
    if (refused.code() != zenith::error_code::corrupt_data) std::abort();
  }
  return 0;
}
