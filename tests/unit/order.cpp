// The order-preserving images of keys, held against the order's definition, and the entries made of them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <catch.hpp>
#include <inputs.hpp>
#include <settings.hpp>

using namespace conformance;
using zenith::top_k_detail::key_order;

namespace {

// Whether a is the better key, by the words of the documentation.
template <class T>
bool is_better(T a, T b, bool smallest, bool nan_first) {
  const bool a_is_nan = a != a;
  const bool b_is_nan = b != b;
  if (a_is_nan && b_is_nan) return false;
  if (a_is_nan) return nan_first;
  if (b_is_nan) return !nan_first;
  return smallest ? a < b : a > b;
}

// Everything at an edge, and random bit patterns.
template <class T>
std::vector<T> telling_keys() {
  random_source random{zenith_test::seed_of("order", sizeof(T))};
  std::vector<T> keys;
  for (int i = 0; i < 60; ++i) {
    keys.push_back(extreme_key<T>(random));
    keys.push_back(key_at<T>(static_cast<bits_of<T>>(random())));
    keys.push_back(std::bit_cast<T>(static_cast<bits_of<T>>(random() >> (random() % 60))));
    if constexpr (std::is_floating_point_v<T>) {
      keys.push_back(special_key<T>(random));
      if (i % 4 == 0) keys.push_back(nan_key<T>(random));
      keys.push_back(std::nextafter(keys[0], T{0}));
    }
  }
  return keys;
}

}  // namespace

TEMPLATE_TEST_CASE("images compare as the keys do", "", float, double, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  const auto keys = telling_keys<TestType>();
  std::size_t wrong = 0;
  for (const bool smallest : {false, true}) {
    for (const bool nan_first : {false, true}) {
      const key_order<TestType> order{smallest, nan_first};
      for (const auto a : keys) {
        for (const auto b : keys) {
          if ((order.image(a) > order.image(b)) != is_better(a, b, smallest, nan_first)) ++wrong;
        }
      }
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("a key comes back from its image unless the image is ambiguous", "", float, double, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  using bits = bits_of<TestType>;
  for (const bool smallest : {false, true}) {
    for (const bool nan_first : {false, true}) {
      const key_order<TestType> order{smallest, nan_first};
      std::size_t wrong = 0;
      for (const auto key : telling_keys<TestType>()) {
        const auto image = order.image(key);
        const bool is_nan = key != key;
        const bool is_zero = std::is_floating_point_v<TestType> && key == TestType{0};
        if (order.is_nan(image) != is_nan) ++wrong;
        if (order.is_ambiguous(image) != (is_nan || is_zero)) ++wrong;
        const auto back = order.key(image);
        if (order.image(back) != image) ++wrong;
        if (!is_nan && !is_zero && std::bit_cast<bits>(back) != std::bit_cast<bits>(key)) ++wrong;
      }
      CHECK(wrong == 0);
    }
  }
}

TEMPLATE_TEST_CASE("no number has an image that is left for NaN", "", float, double) {
  using limits = std::numeric_limits<TestType>;
  for (const bool smallest : {false, true}) {
    for (const bool nan_first : {false, true}) {
      const key_order<TestType> order{smallest, nan_first};
      using image = typename key_order<TestType>::image_t;
      for (const auto key : {limits::infinity(), -limits::infinity(), limits::max(), limits::lowest()}) {
        CHECK(order.image(key) != image{0});
        CHECK(order.image(key) != static_cast<image>(~image{0}));
      }
      CHECK(order.image(limits::quiet_NaN()) == (nan_first ? static_cast<image>(~image{0}) : image{0}));
      CHECK(order.image(-limits::quiet_NaN()) == order.image(limits::signaling_NaN()));
    }
  }
}

TEST_CASE("the order of a call is what the call asks for") {
  zenith::top_k_call call;
  call.select = zenith::selection::smallest;
  CHECK(zenith::top_k_detail::order_of<float>(call).smallest);
  CHECK(!zenith::top_k_detail::order_of<float>(call).nan_first);
  call.select = zenith::selection::largest;
  call.nan_first = true;
  CHECK(!zenith::top_k_detail::order_of<float>(call).smallest);
  CHECK(zenith::top_k_detail::order_of<float>(call).nan_first);
}

TEMPLATE_TEST_CASE("entries are ordered by image, then by lower index", "", std::uint32_t, std::uint64_t) {
  using entry = zenith::top_k_detail::entry_t<TestType>;
  constexpr TestType most = std::numeric_limits<TestType>::max();
  const TestType images[] = {0, 1, most / 2, most / 2 + 1, most - 1, most};
  const std::uint32_t indices[] = {0, 1, 0x7fffffffU, 0x80000000U, 0xfffffffeU};
  for (const auto image : images) {
    for (const auto index : indices) {
      const auto one = entry::make(image, index);
      CHECK(one.image() == image);
      CHECK(one.index() == index);
      CHECK(better(one, entry::worst()));
      CHECK(!better(entry::worst(), one));
      CHECK(!better(one, one));
      for (const auto other_image : images) {
        for (const auto other_index : indices) {
          const bool expected = image > other_image || (image == other_image && index < other_index);
          if (better(one, entry::make(other_image, other_index)) != expected) {
            FAIL_CHECK(image << "/" << index << " against " << other_image << "/" << other_index);
          }
        }
      }
    }
  }
}
