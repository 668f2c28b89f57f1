#pragma once

/// \file
/// Catch2 2.13 and 3 under one name.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
// version 2 brings it into scope itself
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
