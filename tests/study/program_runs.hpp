#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

/// \file
/// Runs of the program, and the files beside them.

namespace zenith_study_test {

namespace fs = std::filesystem;

// Without what an earlier run left there, which a test could take for its own.
inline const fs::path output = [] {
  const fs::path folder = ZENITH_TEST_OUTPUT;
  fs::remove_all(folder);
  return folder;
}();

[[nodiscard]] inline std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string write(const std::string& name, const std::string& text) {
  fs::create_directories(output);
  std::ofstream(output / name, std::ios::binary) << text;
  return (output / name).string();
}

[[nodiscard]] inline std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

struct ran {
  int status = 0;
  std::string out;
  std::string err;
};

// Each run has a profile of its own, which is not there: what the user has calibrated decides nothing.
inline ran run(const std::string& arguments, const std::string& environment = {}) {
  fs::create_directories(output);
  const auto out = output / "out.txt";
  const auto err = output / "err.txt";
  const auto command = "ZENITH_PROFILE='" + (output / "none.json").string() + "' " + environment + " '" +
                       ZENITH_STUDY_PROGRAM "' " + arguments + " >'" + out.string() + "' 2>'" + err.string() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
}

/// The same of a study whose numbers and pictures go to a folder.
inline ran run_into(const fs::path& folder, const std::string& arguments) {
  return run(arguments + " --output '" + folder.string() + "'");
}

}  // namespace zenith_study_test
