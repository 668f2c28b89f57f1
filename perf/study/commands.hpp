#pragma once

#include <CLI/CLI.hpp>

/// \file
/// The subcommands of zenith-study, one file each. A subcommand throws `zenith::error` for what it cannot do.

namespace zenith_study {

/// The exit status of the program.
enum exit_status : int { succeeded = 0, failed_run = 1, wrong_usage = 2, wrong_results = 3 };

/// Adds the subcommand to `app`; `status` is set when it has run.
void add_top_k(CLI::App& app, int& status);
void add_decide(CLI::App& app, int& status);
void add_pack(CLI::App& app, int& status);
void add_skyline(CLI::App& app, int& status);
void add_threshold(CLI::App& app, int& status);
void add_spatial_join(CLI::App& app, int& status);
void add_doctor(CLI::App& app, int& status);
void add_calibrate(CLI::App& app, int& status);

}  // namespace zenith_study
