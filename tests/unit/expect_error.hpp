#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <catch.hpp>
#include <zenith/error.hpp>

namespace unit {

/// Checks that `call` throws a zenith::error of this code whose message holds every one of `words`.
template <class Call>
void expect_error(zenith::error_code code, std::initializer_list<std::string_view> words, Call&& call) {
  try {
    call();
  } catch (const zenith::error& thrown) {
    INFO(thrown.what());
    CHECK(zenith::to_string(thrown.code()) == zenith::to_string(code));
    for (const auto word : words) {
      INFO("must say: " << word);
      CHECK(std::string_view{thrown.what()}.find(word) != std::string_view::npos);
    }
    return;
  }
  FAIL_CHECK("did not throw");
}

}  // namespace unit
