#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <zenith/machine.hpp>

namespace zenith_test {

/// As long as this lives, choices are made by the profiles that are shipped, whatever a probe of this machine says.
class shipped_models {
 public:
  shipped_models()
      : file_(std::filesystem::temp_directory_path() / ("zenith-shipped-" + std::to_string(::getpid()) + ".json")) {
    auto devices = zenith::machine::defaults().devices();
    for (auto& one : devices) one.origin = "calibrated";
    zenith::machine{std::move(devices)}.write(file_);
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, file_.c_str(), 1);
    zenith::machine::reload_local();
  }
  shipped_models(const shipped_models&) = delete;
  shipped_models& operator=(const shipped_models&) = delete;
  ~shipped_models() {
    if (before_) {
      ::setenv(name, before_->c_str(), 1);
    } else {
      ::unsetenv(name);
    }
    zenith::machine::reload_local();
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }

 private:
  static constexpr const char* name = "ZENITH_PROFILE";
  std::filesystem::path file_;
  std::optional<std::string> before_;
};

}  // namespace zenith_test
