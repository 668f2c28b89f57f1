#pragma once

#include <string>

#include <zenith/error.hpp>

/// \file
/// How the program ends.

namespace zenith_study {

enum exit_status : int { succeeded = 0, failed_run = 1, wrong_usage = 2, wrong_results = 3 };

/// Throws `invalid_argument`, which ends the program as a failed run.
[[noreturn]] inline void reject(const std::string& why) {
  throw zenith::error(zenith::error_code::invalid_argument, why);
}

}  // namespace zenith_study
