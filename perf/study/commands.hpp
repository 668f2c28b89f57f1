#pragma once

#include <CLI/CLI.hpp>

#include <perf/study/exit_status.hpp>

/// \file
/// The subcommands of zenith-study, one file each. A subcommand throws `zenith::error` for what it cannot do.

namespace zenith_study {

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
