#pragma once

/// \file
/// The vocabulary of <backends/cuda/simt/vocabulary.hpp> as a host program: the header that
/// ZENITH_SIMT_EMULATION_HEADER names. Each word takes the caller's source location last, and asks the engine.

#include <tests/simt/emulation/atomics.hpp>
#include <tests/simt/emulation/device.hpp>
#include <tests/simt/emulation/host.hpp>
#include <tests/simt/emulation/warp.hpp>
