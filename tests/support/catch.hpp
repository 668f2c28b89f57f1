#pragma once

/// \file
/// Catch2 2.13 and 3 under one name.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
