/// \file
/// Each word of the vocabulary against what CUDA's documentation says of the intrinsic that it stands for.

#include "simt_test.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

using namespace simt_test;

namespace {

using words = std::vector<std::uint32_t>;
constexpr unsigned seeds = 5;

}  // namespace

TEST_CASE("every thread of every block runs once and knows who it is", "[vocabulary]") {
  with_seeds(seeds, [](std::uint64_t) {
    const buffer<std::uint32_t> out(words(5 * 96, 0));
    std::uint32_t* const to = out.data();
    launch<96>(5, [=] {
      const unsigned at = simt::block_index() * simt::block_size() + simt::thread_index();
      const bool right = simt::grid_size() == 5 && simt::lane_index() == simt::thread_index() % 32 &&
                         simt::warp_index() == simt::thread_index() / 32;
      simt::atomic_add(to + at, right ? 1 : 100);
    });
    CHECK(out.values() == words(5 * 96, 1));
  });
}

TEST_CASE("the order of blocks and threads depends on the seed alone", "[vocabulary]") {
  const auto order = [](std::uint64_t seed) {
    const std::uint64_t before = zenith::simt_engine::seed();
    zenith::simt_engine::set_seed(seed);
    const buffer<std::uint32_t> out(words(65, 0));
    std::uint32_t* const to = out.data();
    launch<32>(2, [=] {
      const std::uint32_t turn = simt::atomic_add(to, 1);
      simt::store(to + 1 + turn, simt::block_index() * 32 + simt::thread_index());
    });
    zenith::simt_engine::set_seed(before);
    return out.values();
  };
  CHECK(order(1) == order(1));
  CHECK(order(1) != order(2));
  CHECK(order(7) == order(7));
}

TEST_CASE("block barriers order memory and count predicates", "[vocabulary]") {
  with_seeds(seeds, [](std::uint64_t) {
    const auto reversed = by_thread<std::uint32_t, 128>([] {
      ZENITH_STATIC_SHARED(std::uint32_t, exchange, 128);
      std::uint32_t value = simt::thread_index();
      for (unsigned round = 0; round < 3; ++round) {
        exchange.write(simt::thread_index(), value);
        simt::block_barrier();
        value = exchange.read(127 - simt::thread_index());
        simt::block_barrier();
      }
      return value;
    });
    for (unsigned i = 0; i < 128; ++i) CHECK(reversed[i] == 127 - i);
  });
  const auto third = [] { return simt::thread_index() % 3 == 0; };
  CHECK(by_thread<std::uint32_t, 64>([=] { return simt::block_barrier_count(third()); }) == words(64, 22));
  CHECK(by_thread<std::uint32_t, 64>([=] { return simt::block_barrier_or(third()); }) == words(64, 1));
  CHECK(by_thread<std::uint32_t, 64>([=] { return simt::block_barrier_or(false); }) == words(64, 0));
  CHECK(by_thread<std::uint32_t, 64>([=] { return simt::block_barrier_and(third()); }) == words(64, 0));
  CHECK(by_thread<std::uint32_t, 64>([=] { return simt::block_barrier_and(true); }) == words(64, 1));
}

TEST_CASE("loads and stores move one value or a vector", "[vocabulary]") {
  std::vector<std::uint64_t> values(64);
  std::iota(values.begin(), values.end(), std::uint64_t{1} << 40);
  const buffer<std::uint64_t> in(values);
  const buffer<std::uint64_t> out(64);
  const std::uint64_t* const from = in.data();
  std::uint64_t* const to = out.data();
  launch<32>(1, [=] {
    const unsigned at = simt::thread_index() * 2;
    if (at < 32) {
      simt::store_vector<2>(to + at, simt::load_vector<2>(from + at));
    } else if (at < 48) {
      simt::store_vector<2>(to + at, simt::load_vector_streaming<2>(from + at));
    } else {
      simt::store(to + at, simt::load(from + at));
      simt::store(to + at + 1, simt::load_streaming(from + at + 1));
    }
  });
  CHECK(out.values() == values);
}

TEST_CASE("shared memory: static variables and dynamic spans", "[vocabulary]") {
  with_seeds(seeds, [](std::uint64_t) {
    const buffer<std::uint32_t> out(64);
    std::uint32_t* const to = out.data();
    launch<64>(
        1,
        [=] {
          ZENITH_STATIC_SHARED(std::uint32_t, first, 64);
          ZENITH_STATIC_SHARED(std::uint64_t, second, 64);
          const auto low = simt::dynamic_shared<std::uint32_t>(0, 64);
          const auto high = simt::dynamic_shared<std::uint64_t>(256, 64).subspan(0, 64);
          const unsigned t = simt::thread_index();
          first.write(t, t);
          second.write(t, t * 2);
          low.write(t, t * 3);
          high.write(t, t * 4);
          simt::atomic_add<simt::scope::block>(first.pointer(t), 5);
          simt::block_barrier();
          const unsigned other = 63 - t;
          simt::store(to + t, first.read(other) + static_cast<std::uint32_t>(second.read(other) + high.read(other)) +
                                  low.read(other));
        },
        256 + 512);
    const auto got = out.values();
    for (unsigned i = 0; i < 64; ++i) CHECK(got[i] == (63 - i) * 10 + 5);
  });
}

TEST_CASE("shuffles", "[vocabulary]") {
  with_seeds(seeds, [](std::uint64_t) {
    const auto lane = [] { return simt::lane_index() + 100; };
    const auto all = simt::full_warp;
    const auto got = by_thread<std::uint32_t>([=] { return simt::shuffle(all, lane(), 5); });
    CHECK(got == words(32, 105));
    const auto rotated = by_thread<std::uint32_t>([=] { return simt::shuffle(all, lane(), simt::lane_index() + 1); });
    const auto up = by_thread<std::uint32_t>([=] { return simt::shuffle_up(all, lane(), 3); });
    const auto down = by_thread<std::uint32_t>([=] { return simt::shuffle_down(all, lane(), 4); });
    const auto swapped = by_thread<std::uint32_t>([=] { return simt::shuffle_xor(all, lane(), 9); });
    for (unsigned i = 0; i < 32; ++i) {
      CHECK(rotated[i] == 100 + (i + 1) % 32);
      CHECK(up[i] == 100 + (i < 3 ? i : i - 3));
      CHECK(down[i] == 100 + (i > 27 ? i : i + 4));
      CHECK(swapped[i] == 100 + (i ^ 9U));
    }
    struct wide {
      std::uint64_t a, b;
    };
    const auto moved = by_thread<std::uint64_t>([=] {
      const wide got_wide = simt::shuffle_xor(all, wide{simt::lane_index(), ~std::uint64_t{0}}, 1);
      return got_wide.a + (got_wide.b == ~std::uint64_t{0} ? 1000 : 0);
    });
    for (unsigned i = 0; i < 32; ++i) CHECK(moved[i] == 1000 + (i ^ 1U));
    CHECK(by_thread<float>([=] { return simt::shuffle(all, static_cast<float>(simt::lane_index()) / 2, 3); }) ==
          std::vector<float>(32, 1.5F));
  });
}

TEST_CASE("two halves of a warp work apart from each other", "[vocabulary]") {
  with_seeds(seeds, [](std::uint64_t) {
    const auto got = by_thread<std::uint32_t>([] {
      const std::uint32_t mask = simt::lane_index() < 16 ? 0xffffU : 0xffff0000U;
      std::uint32_t sum = simt::lane_index();
      for (unsigned distance = 8; distance > 0; distance /= 2) sum += simt::shuffle_xor(mask, sum, distance);
      simt::warp_barrier(simt::full_warp);
      return sum;
    });
    for (unsigned i = 0; i < 32; ++i) CHECK(got[i] == (i < 16 ? 120 : 376));
  });
}

TEST_CASE("votes, matches and reductions", "[vocabulary]") {
  with_seeds(seeds, [](std::uint64_t) {
    const auto all = simt::full_warp;
    CHECK(by_thread<std::uint32_t>([=] { return simt::ballot(all, simt::lane_index() % 4 == 1); }) ==
          words(32, 0x22222222U));
    CHECK(by_thread<std::uint32_t>([=] { return simt::any(all, simt::lane_index() == 9); }) == words(32, 1));
    CHECK(by_thread<std::uint32_t>([=] { return simt::any(all, false); }) == words(32, 0));
    CHECK(by_thread<std::uint32_t>([=] { return simt::all(all, simt::lane_index() < 32); }) == words(32, 1));
    CHECK(by_thread<std::uint32_t>([=] { return simt::all(all, simt::lane_index() != 9); }) == words(32, 0));
    CHECK(by_thread<std::uint32_t>([=] { return simt::reduce_add(all, simt::lane_index()); }) == words(32, 496));
    CHECK(by_thread<std::uint32_t>([=] { return simt::reduce_min(all, simt::lane_index() + 7); }) == words(32, 7));
    CHECK(by_thread<std::uint32_t>([=] { return simt::reduce_max(all, simt::lane_index()); }) == words(32, 31));
    const auto matches = by_thread<std::uint32_t>([=] { return simt::match_any(all, simt::lane_index() % 3); });
    const auto wide =
        by_thread<std::uint32_t>([=] { return simt::match_any(all, std::uint64_t{simt::lane_index() % 2} << 40); });
    for (unsigned i = 0; i < 32; ++i) {
      std::uint32_t same = 0;
      for (unsigned j = i % 3; j < 32; j += 3) same |= 1U << j;
      CHECK(matches[i] == same);
      CHECK(wide[i] == 0x55555555U << (i % 2));
    }
  });
}

TEST_CASE("a vote among some lanes", "[vocabulary]") {
  const auto got = by_thread<std::uint32_t>([] {
    const unsigned lane = simt::lane_index();
    if (lane % 2 == 0) return simt::ballot(0x55555555U, lane < 8);
    return simt::all(0xaaaaaaaaU, true) ? 2U : 3U;
  });
  for (unsigned i = 0; i < 32; ++i) CHECK(got[i] == (i % 2 == 0 ? 0x55U : 2U));
}

TEST_CASE("a warp barrier orders shared memory among its lanes", "[vocabulary]") {
  with_seeds(seeds, [](std::uint64_t) {
    const auto got = by_thread<std::uint32_t, 64>([] {
      ZENITH_STATIC_SHARED(std::uint32_t, exchange, 64);
      exchange.write(simt::thread_index(), simt::thread_index());
      simt::warp_barrier(simt::full_warp);
      return exchange.read(simt::thread_index() ^ 31U);
    });
    for (unsigned i = 0; i < 64; ++i) CHECK(got[i] == (i ^ 31U));
  });
}

TEST_CASE("atomics return what stood there", "[vocabulary]") {
  with_seeds(seeds, [](std::uint64_t) {
    const buffer<std::uint32_t> counter(words(1, 0));
    const buffer<std::uint32_t> out(128);
    std::uint32_t* const at = counter.data();
    std::uint32_t* const to = out.data();
    launch<64>(2, [=] { simt::store(to + simt::block_index() * 64 + simt::thread_index(), simt::atomic_add(at, 2)); });
    auto tickets = out.values();
    std::sort(tickets.begin(), tickets.end());
    for (unsigned i = 0; i < 128; ++i) CHECK(tickets[i] == 2 * i);
    CHECK(counter.values()[0] == 256);
  });
  const auto one = []<class T>(T start, const auto& change) {
    const buffer<T> cell(std::vector<T>(1, start));
    T* const at = cell.data();
    launch<32>(1, [=] { change(at, simt::thread_index()); });
    return cell.values()[0];
  };
  CHECK(one(std::int32_t{-5}, [](auto* at, unsigned t) { simt::atomic_max(at, static_cast<int>(t) - 40); }) == -5);
  CHECK(one(std::int32_t{-5}, [](auto* at, unsigned t) { simt::atomic_min(at, static_cast<int>(t) - 40); }) == -40);
  CHECK(one(std::int32_t{-5}, [](auto* at, unsigned) { simt::atomic_add(at, -1); }) == -37);
  CHECK(one(std::uint64_t{5}, [](auto* at, unsigned t) { simt::atomic_max(at, std::uint64_t{t} << 40); }) ==
        std::uint64_t{31} << 40);
  CHECK(one(std::uint32_t{0}, [](auto* at, unsigned) { simt::atomic_add<simt::scope::system>(at, 0x10000000U); }) == 0);
  CHECK(one(std::uint64_t{99}, [](auto* at, unsigned t) {
          if (t == 4) simt::atomic_exchange(at, 4);
        }) == 4);
  CHECK(one(std::uint32_t{0}, [](auto* at, unsigned) {
          std::uint32_t seen = simt::atomic_load(at);
          while (true) {
            const std::uint32_t found = simt::atomic_compare_exchange(at, seen, seen + 3);
            if (found == seen) break;
            seen = found;
          }
        }) == 96);
  CHECK(one(std::uint32_t{0}, [](auto* at, unsigned t) { simt::atomic_store(at, t == 0 ? 7 : 7); }) == 7);
}

TEST_CASE("fences around a ticket hand a block's stores to the last block", "[vocabulary]") {
  with_seeds(20, [](std::uint64_t) {
    const buffer<std::uint32_t> parts(8 * 32);
    const buffer<std::uint32_t> ticket(words(2, 0));
    std::uint32_t* const part = parts.data();
    std::uint32_t* const at = ticket.data();
    launch<32>(8, [=] {
      ZENITH_STATIC_SHARED(std::uint32_t, last, 1);
      simt::store(part + simt::block_index() * 32 + simt::thread_index(), 1);
      simt::block_barrier();
      if (simt::thread_index() == 0) {
        simt::fence<simt::scope::device>();
        last.write(0, simt::atomic_add(at, 1) == 7 ? 1 : 0);
        simt::fence<simt::scope::device>();
      }
      simt::block_barrier();
      if (last.read(0) == 0) return;
      std::uint32_t sum = 0;
      for (unsigned i = 0; i < 8; ++i) sum += simt::load(part + i * 32 + simt::thread_index());
      simt::atomic_add(at + 1, sum);
    });
    CHECK(ticket.values()[1] == 8 * 32);
  });
}

TEST_CASE("asynchronous copies arrive with the wait, batch by batch", "[vocabulary]") {
  words values(256);
  std::iota(values.begin(), values.end(), 1000U);
  const buffer<std::uint32_t> in(values);
  const std::uint32_t* const from = in.data();
  with_seeds(seeds, [=](std::uint64_t) {
    const auto got = by_thread<std::uint32_t>([=] {
      ZENITH_STATIC_SHARED(std::uint32_t, first, 128);
      ZENITH_STATIC_SHARED(std::uint32_t, second, 32);
      const unsigned t = simt::thread_index();
      simt::async_copy<4>(first, 4 * t, from + 4 * t);
      simt::async_commit();
      simt::async_copy<1>(second, t, from + 128 + t);
      simt::async_commit();
      simt::async_wait<1>();
      simt::block_barrier();
      const std::uint32_t a = first.read(127 - t);
      simt::async_wait<0>();
      return a + second.read(t);
    });
    for (unsigned i = 0; i < 32; ++i) CHECK(got[i] == 1127 - i + 1128 + i);
  });
}

TEST_CASE("bits", "[vocabulary]") {
  CHECK(simt::popcount(0xf0f0U) == 8);
  CHECK(simt::popcount(~std::uint64_t{0}) == 64);
  CHECK(simt::find_first_set(std::uint32_t{0}) == 0);
  CHECK(simt::find_first_set(std::uint32_t{8}) == 4);
  CHECK(simt::find_first_set(std::uint64_t{1} << 63) == 64);
  CHECK(simt::count_leading_zeros(std::uint32_t{0}) == 32);
  CHECK(simt::count_leading_zeros(std::uint64_t{1}) == 63);
  CHECK(simt::funnel_shift_left(0x89abcdefU, 0x01234567U, 8) == 0x23456789U);
  CHECK(simt::funnel_shift_left(0x89abcdefU, 0x01234567U, 32) == 0x01234567U);
  CHECK(simt::funnel_shift_right(0x89abcdefU, 0x01234567U, 8) == 0x6789abcdU);
  CHECK(simt::funnel_shift_right(0x89abcdefU, 0x01234567U, 0) == 0x89abcdefU);
  CHECK(simt::funnel_shift_right_clamped(0x89abcdefU, 0x01234567U, 8) == 0x6789abcdU);
  CHECK(simt::funnel_shift_right_clamped(0x89abcdefU, 0x01234567U, 32) == 0x01234567U);
  CHECK(simt::funnel_shift_right_clamped(0x89abcdefU, 0x01234567U, 40) == 0x01234567U);
  CHECK(simt::dot_bytes(0xff020304U, 0xff806001U, 7) == 7 + 255 * 255 + 2 * 128 + 3 * 96 + 4);
  CHECK(simt::dot_halves(0xffff8001U, 0x9988ff03U, 7) == 7 + 0xffffU * 0xff + 0x8001U * 3);
  CHECK(simt::pick_bytes(0x33221100U, 0x77665544U, 0x5410) == 0x55441100U);
  CHECK(simt::pick_bytes(0x33221100U, 0x77665544U, 0x0327) == 0x00332277U);
}

TEMPLATE_TEST_CASE("the larger and the smaller of two numbers", "[vocabulary]", float, double) {
  constexpr TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  constexpr TestType infinity = std::numeric_limits<TestType>::infinity();
  CHECK(simt::larger(TestType{1}, TestType{-2}) == 1);
  CHECK(simt::smaller(TestType{1}, TestType{-2}) == -2);
  CHECK(simt::larger(TestType{1}, infinity) == infinity);
  CHECK(simt::larger(-infinity, nan) == -infinity);
  CHECK(simt::smaller(infinity, nan) == infinity);
}

TEST_CASE("an opaque value is what it was", "[vocabulary]") {
  CHECK(simt::opaque(1.5F) == 1.5F);
  CHECK(simt::opaque(-2.25) == -2.25);
  CHECK(simt::opaque(std::uint32_t{7}) == 7);
  CHECK(simt::opaque(~std::uint64_t{0}) == ~std::uint64_t{0});
}
