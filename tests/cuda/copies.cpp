/// \file
/// Long copies between pageable host memory and a device, which threads of the host stage through pinned pieces:
/// lengths about whole pieces, places at odd offsets, several callers at once, and a change of the source after the
/// call.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <zenith/array.hpp>
#include <zenith/cuda.hpp>
#include <zenith/error.hpp>
#include <zenith/executor.hpp>
#include <zenith/top_k.hpp>

namespace {

constexpr std::size_t piece = std::size_t{4} << 20;

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> made(count);
  for (auto& one : made) one = static_cast<std::uint8_t>(random() >> 56);
  return made;
}

// There and back again, each from a place of its own behind an alignment.
int count_wrong_round_trips(std::uint64_t seed) {
  int wrong = 0;
  const auto on = zenith::cuda();
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, 2 * piece - 1, 2 * piece,
                                  2 * piece + 1, 3 * piece, 7 * piece + 13, 33 * piece + 4095}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{3}}) {
      const auto values = random_bytes(count + offset, seed + count);
      auto sent = values;
      const zenith::array<std::uint8_t> there(on, std::span<const std::uint8_t>(sent).subspan(offset));
      sent.assign(sent.size(), 0);
      std::vector<std::uint8_t> back(count + 2 * offset, 7);
      there.copy_to(std::span(back).subspan(offset, count));
      bool is_right = true;
      for (std::size_t i = 0; i < back.size(); ++i) {
        const bool is_outside = i < offset || i >= offset + count;
        is_right = is_right && back[i] == (is_outside ? 7 : values[i]);
      }
      if (is_right) continue;
      ++wrong;
      std::printf("wrong: %zu bytes at offset %zu\n", count, offset);
    }
  }
  return wrong;
}

// A call that streams its input in chunks reads each chunk after it has arrived.
int count_wrong_queries(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> keys((std::size_t{50} << 20) + 17);
  for (auto& key : keys) key = static_cast<std::uint32_t>(random());
  const auto wanted = zenith::top_k(zenith::make_executor("cpu"), keys, 1000);
  const auto found = zenith::top_k(zenith::cuda(), keys, 1000);
  const bool is_right = found.keys == wanted.keys && found.indices == wanted.indices;
  if (!is_right) std::printf("wrong: top_k of %zu keys\n", keys.size());
  return is_right ? 0 : 1;
}

}  // namespace

int main() {
  try {
    static_cast<void>(zenith::cuda());
  } catch (const zenith::error& why) {
    std::printf("zenith: skipped: %s\n", why.what());
    return 0;
  }
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  int wrong = count_wrong_round_trips(seed) + count_wrong_queries(seed);
  std::vector<int> of_each(4);
  {
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < of_each.size(); ++i) {
      callers.emplace_back([&, i] { of_each[i] = count_wrong_round_trips(seed + i) + count_wrong_queries(seed + i); });
    }
  }
  for (const int one : of_each) wrong += one;
  return wrong == 0 ? 0 : 1;
}
