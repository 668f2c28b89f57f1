#include <settings.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>

namespace zenith_test {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t choose_seed() {
  const char* given = std::getenv("ZENITH_SEED");
  const std::uint64_t chosen = given != nullptr
                                   ? std::stoull(given)
                                   : mix((std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}());
  std::printf("zenith: random cases use seed %llu; repeat them with ZENITH_SEED=%llu\n",
              static_cast<unsigned long long>(chosen), static_cast<unsigned long long>(chosen));
  std::fflush(stdout);
  return chosen;
}

double read_scale() {
  const char* given = std::getenv("ZENITH_TEST_SCALE");
  if (given == nullptr) return 1;
  const double value = std::stod(given);
  if (!(value > 0)) throw std::invalid_argument("ZENITH_TEST_SCALE must be a number above 0");
  return value;
}

}  // namespace

std::uint64_t seed() {
  static const std::uint64_t chosen = choose_seed();
  return chosen;
}

std::uint64_t seed_of(std::string_view test, std::uint64_t number) {
  std::uint64_t state = mix(seed() + number * 0x9e3779b97f4a7c15ULL);
  for (const char c : test) state = mix(state ^ static_cast<unsigned char>(c));
  return state;
}

double scale() {
  static const double chosen = read_scale();
  return chosen;
}

unsigned scaled(unsigned count) {
  return std::max(1U, static_cast<unsigned>(std::lround(count * std::min(1.0, scale()))));
}

double share_of_cases() { return std::sqrt(std::min(1.0, scale())); }

bool is_drawn(std::string_view test, std::uint64_t number) {
  const double share = share_of_cases();
  return share == 1 || static_cast<double>(seed_of(test, ~number)) < share * 0x1p64;
}

bool is_listed(const char* variable, std::string_view word) {
  const char* given = std::getenv(variable);
  std::string_view rest = given == nullptr ? "" : given;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    if (rest.substr(0, comma) == word) return true;
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return false;
}

}  // namespace zenith_test
