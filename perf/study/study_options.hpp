#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <perf/study/exit_status.hpp>

/// \file
/// What the subcommands have in common.

namespace zenith_study {

/// --backend and --strategy. `names` are some of the strategies.
void add_lines(CLI::App& command, std::vector<std::string>& backends, std::vector<std::string>& strategies,
               const std::string& names);
void add_backends(CLI::App& command, std::vector<std::string>& backends);
/// --output.
CLI::Option* add_output(CLI::App& command, std::string& folder);
/// --correlation or --kind: some of `names`, or all.
CLI::Option* add_kinds(CLI::App& command, const char* option, std::vector<std::string>& kinds,
                       std::vector<std::string> names);
CLI::Option* add_time_limit(CLI::App& command, double& seconds);

/// Whether a kind was named, or none was.
[[nodiscard]] bool is_asked(const std::vector<std::string>& named, std::string_view kind);
/// The one name that `option` may have beside `input`; "auto" without one.
[[nodiscard]] std::string only(std::string_view option, const std::vector<std::string>& all,
                               std::string_view input = "--input");

}  // namespace zenith_study
