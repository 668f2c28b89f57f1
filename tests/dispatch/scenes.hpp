#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <environment.hpp>
#include <zenith/backend.hpp>
#include <zenith/machine.hpp>

/// \file
/// What the tests of the dispatcher share: machines from files, backends that note what ran.

namespace zenith_test {

/// The machine in perf/profiles/`name`.
[[nodiscard]] zenith::machine fixture(std::string_view name);
/// Every file of perf/profiles.
[[nodiscard]] std::vector<std::filesystem::path> fixture_files();

/// A folder that is gone with this.
class temporary_folder {
 public:
  temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder();

  [[nodiscard]] std::filesystem::path file(std::string_view name) const { return path_ / name; }
  [[nodiscard]] std::size_t count() const;

 private:
  std::filesystem::path path_;
};

/// Registers the backends "recorder_fast" and "recorder_slow", once per process: both answer like a sort would, note
/// what ran, and say of themselves that they are far faster than any real device, and far slower. They offer "filter"
/// and "bitonic"; "recorder_slow" alone offers "own", which no cost model knows.
void register_recorders();
/// "backend/strategy" of each call since the last time this was asked.
[[nodiscard]] std::vector<std::string> recorded();

}  // namespace zenith_test
