#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include <zenith/error.hpp>

namespace zenith_test {

/// Checks that `call` throws a zenith::error of this code whose message holds every one of `words`.
void expect_error(zenith::error_code code, std::initializer_list<std::string_view> words,
                  const std::function<void()>& call);

}  // namespace zenith_test
