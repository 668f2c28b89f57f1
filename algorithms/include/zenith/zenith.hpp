#pragma once

/// \file
/// All of Zenith's public interface. Each header also stands alone.

#include <zenith/array.hpp>
#include <zenith/backend.hpp>
#include <zenith/columns.hpp>
#include <zenith/cost.hpp>
#include <zenith/cuda.hpp>
#include <zenith/error.hpp>
#include <zenith/executor.hpp>
#include <zenith/function.hpp>
#include <zenith/machine.hpp>
#include <zenith/matrix.hpp>
#include <zenith/packed_block.hpp>
#include <zenith/packed_call.hpp>
#include <zenith/packed_column.hpp>
#include <zenith/packed_layout.hpp>
#include <zenith/packed_table.hpp>
#include <zenith/scored_top_k.hpp>
#include <zenith/scored_top_k_call.hpp>
#include <zenith/skyband.hpp>
#include <zenith/skyline.hpp>
#include <zenith/skyline_call.hpp>
#include <zenith/skyline_layers.hpp>
#include <zenith/span.hpp>
#include <zenith/spatial_index.hpp>
#include <zenith/spatial_index_call.hpp>
#include <zenith/spatial_join.hpp>
#include <zenith/spatial_join_call.hpp>
#include <zenith/threshold_table.hpp>
#include <zenith/threshold_table_call.hpp>
#include <zenith/top_k.hpp>
#include <zenith/types.hpp>
#include <zenith/updatable_threshold_table.hpp>
#include <zenith/version.hpp>
