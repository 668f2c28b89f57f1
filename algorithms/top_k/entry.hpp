#pragma once

/// \file
/// The entries of top-k's strategies, which are the core's.

#include <core/entry.hpp>
#include <core/tile.hpp>

namespace zenith::top_k_detail {

using ordered::entry32;
using ordered::entry64;
using ordered::entry_t;

}  // namespace zenith::top_k_detail
