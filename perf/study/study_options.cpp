#include <perf/study/study_options.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <perf/study/quantity.hpp>

namespace zenith_study {

void add_backends(CLI::App& command, std::vector<std::string>& backends) {
  command
      .add_option("--backend", backends,
                  "A backend, with settings if need be: cpu, cuda:1, cpu:threads=1,isa=avx2; again for more")
      ->allow_extra_args(false)
      ->delimiter('\0');
}

void add_lines(CLI::App& command, std::vector<std::string>& backends, std::vector<std::string>& strategies,
               const std::string& names) {
  add_backends(command, backends);
  command.add_option("--strategy", strategies, names + "; again for more")->allow_extra_args(false);
}

CLI::Option* add_output(CLI::App& command, std::string& folder) {
  return command.add_option("--output", folder, "Folder for numbers and pictures, else ZENITH_STUDY_OUTPUT");
}

CLI::Option* add_kinds(CLI::App& command, const char* option, std::vector<std::string>& kinds,
                       std::vector<std::string> names) {
  const auto what = fmt::format("{}; again for more, all by default", fmt::join(names, ", "));
  return command.add_option(option, kinds, what)->check(CLI::IsMember(std::move(names)))->allow_extra_args(false);
}

CLI::Option* add_time_limit(CLI::App& command, double& seconds) {
  return command
      .add_option("--time-limit", seconds, "Seconds: a strategy that takes longer is left out of larger sets of points")
      ->check(finite_from_0() & CLI::Range(0.001, 1e6));
}

CLI::Option* add_repeat(CLI::App& command, int& repeat, int most, const std::string& what) {
  return command.add_option("--repeat", repeat, what + ", their median counts")->check(CLI::Range(1, most));
}

CLI::Validator finite_from_0() {
  const auto fault = [](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || status == std::errc::invalid_argument || std::isnan(value)) {
      return fmt::format("'{}' is not a number", text);
    }
    if (status == std::errc::result_out_of_range || std::isinf(value)) {
      return fmt::format("'{}' is not finite; it must be a finite number", text);
    }
    return value < 0 ? fmt::format("'{}' is negative; it must be 0 or more", text) : std::string{};
  };
  return {fault, "NUMBER FROM 0 ON"};
}

CLI::Validator whole_to(std::uint64_t most) {
  const auto fault = [most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = status == std::errc{} && end == text.data() + text.size() && value <= most;
    return is_whole ? std::string{} : fmt::format("'{}' is not a whole number from 0 to {}", text, most);
  };
  return {fault, "WHOLE NUMBER"};
}

bool is_asked(const std::vector<std::string>& named, std::string_view kind) {
  return named.empty() || std::ranges::find(named, kind) != named.end();
}

file_line only_line(const std::vector<std::string>& backends, const std::vector<std::string>& strategies,
                    std::string_view input) {
  const auto only = [&](const char* option, const std::vector<std::string>& all) {
    if (all.size() > 1) reject(fmt::format("with {}, {} takes one name", input, option));
    return all.empty() ? std::string{"auto"} : all.front();
  };
  return {only("--backend", backends), only("--strategy", strategies)};
}

std::uint64_t k_of_file(const CLI::App& command, const std::string& k) {
  return command.count("--k") == 0 ? 10 : parse_count("--k", k);
}

}  // namespace zenith_study
