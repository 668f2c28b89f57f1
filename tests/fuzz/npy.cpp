// .npy: any bytes give a table or an error; every row and column of a table can be asked for.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>
#include <vector>

#include <perf/study/npy.hpp>
#include <zenith/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> bytes(data, data + size);
  try {
    const auto table = zenith_study::parse_npy(std::as_bytes(std::span{bytes}));
    for (std::size_t row = 0; row < std::min<std::size_t>(table.rows(), 20); ++row) {
      if (table.row(row).size() != table.columns().size()) std::abort();
    }
    const auto names = table.column_names();
    for (std::size_t column = 0; column < std::min<std::size_t>(names.size(), 20); ++column) {
      // a matrix of no bytes may claim any number of rows
      if (table.rows() > size) break;
      try {
        const auto values = zenith_study::read_numbers(table, names[column]);
        if (std::visit([](const auto& all) { return all.size(); }, values) != table.rows()) std::abort();
      } catch (const zenith::error& refused) {
        if (refused.code() == zenith::error_code::device_failure) std::abort();
      }
    }
  } catch (const zenith::error& refused) {
    if (refused.code() != zenith::error_code::corrupt_data && refused.code() != zenith::error_code::unsupported) {
      std::abort();
    }
  }
  return 0;
}
