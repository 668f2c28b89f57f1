#pragma once

namespace zenith_study {

/// The exit status of the program.
enum exit_status : int { succeeded = 0, failed_run = 1, wrong_usage = 2, wrong_results = 3 };

}  // namespace zenith_study
