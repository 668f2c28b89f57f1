#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <zenith/machine.hpp>

namespace zenith_test {

/// A variable of the environment for as long as this lives; machine::local is read afresh at both ends.
class environment {
 public:
  environment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
    zenith::machine::reload_local();
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() {
    before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_);
    zenith::machine::reload_local();
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace zenith_test
