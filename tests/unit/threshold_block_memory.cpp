// The memory of an updatable table's blocks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <algorithms/threshold_table/src/block_memory.hpp>
#include <catch.hpp>
#include <settings.hpp>

using zenith::detail::block_memory;

TEST_CASE("pieces of memory do not overlap, and any thread gives them back") {
  constexpr std::size_t bytes = 1000;
  block_memory memory(bytes);
  std::mt19937_64 random(zenith_test::seed_of("table.block_memory", 0));
  struct piece {
    unsigned char* at;
    unsigned char value;
  };
  std::vector<piece> held;
  bool is_right = true;
  const auto take = [&] {
    const piece one{static_cast<unsigned char*>(memory.take()), static_cast<unsigned char>(random() % 256)};
    is_right = is_right && reinterpret_cast<std::uintptr_t>(one.at) % block_memory::alignment == 0;
    std::memset(one.at, one.value, bytes);
    held.push_back(one);
  };
  const auto is_whole = [](const piece& one) {
    return std::all_of(one.at, one.at + bytes, [&](unsigned char byte) { return byte == one.value; });
  };
  for (int step = 0; step < 20000; ++step) {
    if (random() % 16 < (step % 8000 < 4000 ? 12U : 4U)) {
      take();
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      is_right = is_right && is_whole(held.back());
      memory.give_back(held.back().at);
      held.pop_back();
    }
  }
  CHECK(is_right);
  CHECK(memory.bytes() >= held.size() * bytes);
  while (held.size() < 3000) take();
  CHECK(std::ranges::all_of(held, is_whole));
  // what was given back is taken again
  memory.give_back(held[5].at);
  CHECK(memory.take() == held[5].at);
  std::thread other([&] {
    for (std::size_t i = 0; i < held.size(); i += 2) memory.give_back(held[i].at);
  });
  for (std::size_t i = 1; i < held.size(); i += 2) memory.give_back(held[i].at);
  other.join();
  // one slab stays
  CHECK(memory.bytes() <= std::size_t{2} << 20);
  memory.give_back(memory.take());
}
