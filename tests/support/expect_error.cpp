#include "expect_error.hpp"

#include <catch.hpp>

namespace zenith_test {

void expect_error(zenith::error_code code, std::initializer_list<std::string_view> words,
                  const std::function<void()>& call) {
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

}  // namespace zenith_test
