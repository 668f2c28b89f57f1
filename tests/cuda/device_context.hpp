#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Parts of the suite of the device context on a GPU, a unit each: what was wrong.
std::vector<std::string> launches_on_cuda(std::uint64_t seed);
std::vector<std::string> operations_on_cuda(std::uint64_t seed);
std::vector<std::string> team_sizes_on_cuda(std::uint64_t seed);
