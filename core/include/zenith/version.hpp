#pragma once

/// \file
/// The version of these headers. CMake reads it from here, so it stands nowhere else.

#define ZENITH_VERSION_MAJOR 0
#define ZENITH_VERSION_MINOR 1
#define ZENITH_VERSION_PATCH 0

/// One number to compare with: major * 10000 + minor * 100 + patch.
#define ZENITH_VERSION (ZENITH_VERSION_MAJOR * 10000 + ZENITH_VERSION_MINOR * 100 + ZENITH_VERSION_PATCH)
