#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
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
/// --repeat, `most` at the most.
CLI::Option* add_repeat(CLI::App& command, int& repeat, int most, const std::string& what = "Timed repetitions");

/// Of an option: a finite number from 0 on. What is wrong with it is said in one line, with the text that was given.
[[nodiscard]] CLI::Validator finite_from_0();

/// Of an option: a whole number from 0 to `most`; what is wrong is said in the same way.
[[nodiscard]] CLI::Validator whole_to(std::uint64_t most);
/// --seed.
template <class Seed>
CLI::Option* add_seed(CLI::App& command, Seed& seed, const char* of) {
  return command.add_option("--seed", seed, of)->check(whole_to(std::numeric_limits<Seed>::max()));
}

/// Whether a kind was named, or none was.
[[nodiscard]] bool is_asked(const std::vector<std::string>& named, std::string_view kind);
/// What a question of a file runs on.
struct file_line {
  std::string backend = "auto";
  std::string strategy = "auto";
};
/// The one backend and the one strategy that may be named beside `input`.
[[nodiscard]] file_line only_line(const std::vector<std::string>& backends, const std::vector<std::string>& strategies,
                                  std::string_view input = "--input");
/// The --k of such a question, 10 where it is not given.
[[nodiscard]] std::uint64_t k_of_file(const CLI::App& command, const std::string& k);

}  // namespace zenith_study
