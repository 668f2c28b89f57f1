// One instruction set's unit for top-k's scan of packed columns for the smallest values.

#define ZENITH_SCAN_TABLE packed_smallest
#define ZENITH_SCAN_SMALLEST true
#include <backends/cpu/isa/packed_scan_unit.hpp>
