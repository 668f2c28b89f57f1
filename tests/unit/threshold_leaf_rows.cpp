// The memory of an updatable table's blocks.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <algorithms/threshold_table/src/leaf_rows.hpp>
#include <catch.hpp>
#include <settings.hpp>

using zenith::detail::block_memory;

TEST_CASE("pieces of memory do not overlap, and any thread gives them back") {
  constexpr std::size_t bytes = 1000;
  block_memory memory(bytes);
  std::mt19937_64 random(zenith_test::seed_of("table.block_memory", 0));
  std::vector<unsigned char*> held;
  bool is_right = true;
  const auto give_back = [&](unsigned char* one) {
    for (std::size_t i = 1; i < bytes; ++i) is_right = is_right && one[i] == one[0];
    memory.give_back(one);
  };
  for (int step = 0; step < 20000; ++step) {
    if (random() % 16 < (step % 8000 < 4000 ? 12U : 4U)) {
      held.push_back(static_cast<unsigned char*>(memory.take()));
      is_right = is_right && reinterpret_cast<std::uintptr_t>(held.back()) % block_memory::alignment == 0;
      std::memset(held.back(), static_cast<int>(random() % 256), bytes);
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      give_back(held.back());
      held.pop_back();
    }
  }
  CHECK(is_right);
  // what was given back is taken again
  while (held.size() < 3000) held.push_back(static_cast<unsigned char*>(memory.take()));
  memory.give_back(held[5]);
  CHECK(memory.take() == held[5]);
  std::thread other([&] {
    for (std::size_t i = 0; i < held.size(); i += 2) memory.give_back(held[i]);
  });
  for (std::size_t i = 1; i < held.size(); i += 2) memory.give_back(held[i]);
  other.join();
  memory.give_back(memory.take());
}
