// What must compile and, above all, what must not: memory of the host and of a device do not mix.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <catch.hpp>
#include <zenith/zenith.hpp>

namespace {

template <class From, class To>
constexpr bool converts = std::is_convertible_v<From, To> || std::is_constructible_v<To, From>;

using zenith::device_span;
static_assert(!converts<std::span<float>, device_span<float>>);
static_assert(!converts<device_span<float>, std::span<float>>);
static_assert(!converts<device_span<float>, std::span<const float>>);
static_assert(!converts<std::vector<float>&, device_span<float>>);
static_assert(!converts<std::vector<float>&, device_span<const float>>);
static_assert(!converts<float*, device_span<float>>);
static_assert(!converts<device_span<float>, float*>);
static_assert(std::is_convertible_v<device_span<float>, device_span<const float>>);
static_assert(!converts<device_span<const float>, device_span<float>>);
static_assert(!converts<device_span<float>, device_span<double>>);
static_assert(!converts<device_span<std::int32_t>, device_span<std::uint32_t>>);
static_assert(std::is_trivially_copyable_v<device_span<float>>);
// a device span is no range: a loop over it on the host would read device memory
static_assert(!std::ranges::range<device_span<float>>);

template <class Keys, class OutKeys, class OutIndices>
concept callable = requires(const zenith::executor& on, Keys keys, OutKeys out_keys, OutIndices out_indices) {
  zenith::top_k(on, keys, out_keys, out_indices);
  zenith::top_k(on, keys, out_keys, out_indices, {.strategy = "filter"});
};
template <class Keys>
concept callable_for_value = requires(const zenith::executor& on, Keys keys) {
  zenith::top_k(on, keys, 3);
};

using host_keys = std::span<const float>;
using host_best = std::span<float>;
using host_index = std::span<std::uint32_t>;
using device_keys = device_span<const float>;
using device_best = device_span<float>;
using device_index = device_span<std::uint32_t>;

static_assert(callable<host_keys, host_best, host_index>);
static_assert(callable<device_keys, device_best, device_index>);
static_assert(callable<device_best, device_best, device_index>);
// every mixture of the two memories
static_assert(!callable<host_keys, host_best, device_index>);
static_assert(!callable<host_keys, device_best, host_index>);
static_assert(!callable<host_keys, device_best, device_index>);
static_assert(!callable<device_keys, host_best, host_index>);
static_assert(!callable<device_keys, host_best, device_index>);
static_assert(!callable<device_keys, device_best, host_index>);
static_assert(!callable<std::vector<float>&, device_best, device_index>);
static_assert(!callable<std::vector<float>&, device_best, std::vector<int>&>);

// contiguous ranges convert
static_assert(callable<const std::vector<float>&, std::vector<float>&, std::vector<std::uint64_t>&>);
static_assert(callable<const std::array<double, 9>&, std::array<double, 3>&, std::array<std::int64_t, 3>&>);
static_assert(callable<const int (&)[9], int (&)[3], unsigned (&)[3]>);
static_assert(callable<std::span<int, 9>, std::span<int, 3>, std::span<long, 3>>);
static_assert(callable_for_value<const std::vector<float>&>);
static_assert(callable_for_value<std::span<const unsigned long long>>);

// outputs that cannot be written, keys and outputs of two types, types that are no key and no index
static_assert(!callable<host_keys, std::span<const float>, host_index>);
static_assert(!callable<host_keys, host_best, std::span<const std::uint32_t>>);
static_assert(!callable<host_keys, const std::vector<float>&, std::vector<int>&>);
static_assert(!callable<host_keys, std::span<double>, host_index>);
static_assert(!callable<host_keys, host_best, std::span<float>>);
static_assert(!callable<host_keys, host_best, std::span<std::uint16_t>>);
static_assert(!callable<host_keys, host_best, std::span<std::uint8_t>>);
static_assert(!callable<std::span<const std::int16_t>, std::span<std::int16_t>, host_index>);
static_assert(!callable<std::span<const bool>, std::span<bool>, host_index>);
static_assert(!callable<std::span<const long double>, std::span<long double>, host_index>);
static_assert(!callable<std::string, std::string, std::vector<int>&>);
static_assert(!callable<std::vector<bool>&, std::vector<bool>&, std::vector<int>&>);
static_assert(!callable_for_value<device_keys>);
static_assert(!callable<device_keys, device_span<const float>, device_index>);

static_assert(zenith::key_type_of<long> == zenith::key_type::int64);
static_assert(zenith::key_type_of<long long> == zenith::key_type::int64);
static_assert(zenith::key_type_of<unsigned> == zenith::key_type::uint32);
static_assert(!zenith::key<char> && !zenith::key<bool> && !zenith::key<wchar_t> && !zenith::key<char32_t>);
static_assert(!zenith::key<void*> && !zenith::index<float> && zenith::index<int>);

}  // namespace

TEST_CASE("device spans narrow") {
  int here[10]{};
  const zenith::device_span all(here, 10);
  CHECK(all.size() == 10);
  CHECK(all.size_bytes() == 10 * sizeof(int));
  CHECK(all.first(3).size() == 3);
  CHECK(all.first(3).data() == here);
  CHECK(all.subspan(4, 2).data() == here + 4);
  CHECK(all.subspan(4, 2).size() == 2);
  CHECK(zenith::device_span<int>{}.empty());
  CHECK(zenith::device_span<int>{}.data() == nullptr);
}

TEST_CASE("the two 64-bit integers are one key type") {
  const std::vector<long long> keys{4, 9, -2};
  const auto best = zenith::top_k(zenith::reference(), keys, 1);
  CHECK(best.keys[0] == 9);
  const auto narrow = zenith::top_k<int>(zenith::reference(), std::vector<unsigned long>{1, 2}, 1);
  CHECK(narrow.indices[0] == 1);
}
