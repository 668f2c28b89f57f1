#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include <environment.hpp>

namespace zenith_test {

/// As long as this lives, choices are made by the profiles that are shipped, whatever a probe of this machine says.
class shipped_models {
 public:
  shipped_models() = default;
  shipped_models(const shipped_models&) = delete;
  shipped_models& operator=(const shipped_models&) = delete;
  ~shipped_models() {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }

 private:
  static std::filesystem::path write() {
    auto file = std::filesystem::temp_directory_path() / ("zenith-shipped-" + std::to_string(::getpid()) + ".json");
    auto devices = zenith::machine::defaults().devices();
    for (auto& one : devices) one.origin = "calibrated";
    zenith::machine{std::move(devices)}.write(file);
    return file;
  }

  std::filesystem::path file_ = write();
  environment profile_{"ZENITH_PROFILE", file_.string()};
};

}  // namespace zenith_test
