#pragma once

/// \file
/// Spatial indexes: built once over points or boxes with scores, they answer ranked range queries and joins. Joins take
/// points and boxes in columns as well.

#include <zenith/spatial_index_join.hpp>
#include <zenith/spatial_index_range.hpp>
#include <zenith/spatial_index_tree.hpp>
#include <zenith/spatial_sides.hpp>
