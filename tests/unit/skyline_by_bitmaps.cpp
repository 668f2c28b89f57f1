// See skyline_on_device.hpp.

#include <tests/unit/skyline_strategies_with.hpp>

template std::vector<skyline_on_device::named_strategy>
skyline_on_device::strategies_with<skyline_on_device::only_bitmap_tiles>();
