// One instruction set's unit for top-k's scan of packed columns for the largest values.

#define ZENITH_SCAN_TABLE packed_largest
#define ZENITH_SCAN_SMALLEST false
#include <backends/cpu/isa/packed_scan_unit.hpp>
