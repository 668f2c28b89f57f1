#pragma once

// A strategy and a score that no part of Zenith knows.

#include <cstdint>
#include <vector>

#include <zenith/strategies/top_k.hpp>

namespace own {

// How many values are above the mean of all: a reduction, a tile of items at a time, and a counter.
struct count_above {
  static constexpr std::uint32_t scratch_bytes = sizeof(std::uint32_t);
  zenith::device::plain<float> source;
  const float* sum;
  std::uint32_t* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    auto* const mine = team.template scratch<std::uint32_t>();
    team.once([&]() ZENITH_BODY { *mine = 0; });
    team.barrier();
    const float mean = *sum / static_cast<float>(source.count);
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      team.each_item(items, [&](float value) ZENITH_BODY {
        if (value > mean) team.add(mine, 1U);
      });
    });
    team.barrier();
    team.once([&]() ZENITH_BODY { (void)zenith::device::atomic_add(to, *mine); });
  }
};
using kernels = zenith::device::list<count_above>;

template <class Place>
std::uint32_t above_mean(const Place& here, const std::vector<float>& values) {
  std::uint32_t found = 0;
  here.template run<kernels>([&](auto& on) {
    const auto n = values.size();
    const float* const at = on.input(values.data(), n, zenith::memory_space::host);
    auto* const sum = on.template buffer<float>(1);
    auto* const count = on.template buffer<std::uint32_t>(1);
    on.template reduce<zenith::device::plus>(at, n, sum);
    on.fill_zero(count, 1);
    on.for_tiles(count_above{{at, n}, sum, count});
    on.copy(on.output(&found, 1, zenith::memory_space::host), static_cast<const std::uint32_t*>(count), 1);
    on.finish();
  });
  return found;
}

// The lower of two marks.
struct weakest {
  template <class Row>
  ZENITH_FN float operator()(const Row& row) const {
    return row[0] < row[1] ? row[0] : row[1];
  }
};

// Returns 0, or what went wrong.
template <class Place>
int try_on(const Place& here) {
  std::vector<float> maths(5000);
  std::vector<float> music(5000);
  for (std::size_t i = 0; i < maths.size(); ++i) {
    maths[i] = static_cast<float>(i * 7919 % 5000);
    music[i] = static_cast<float>(i * 104729 % 4999);
  }
  std::uint32_t above = 0;
  for (const float one : maths) above += one > 2499.5F ? 1 : 0;
  if (above_mean(here, maths) != above) return 10;

  std::size_t best = 0;
  const auto score = [&](std::size_t i) { return maths[i] < music[i] ? maths[i] : music[i]; };
  for (std::size_t i = 1; i < maths.size(); ++i) best = score(i) > score(best) ? i : best;
  const zenith::column_set<float> columns{maths, music};
  const auto rows = zenith::strategies::top_k(here, columns, weakest{}, 3);
  if (rows.indices[0] != best || rows.keys[0] != score(best) || rows.keys[1] > rows.keys[0]) return 11;
  const auto table = zenith::threshold_table<float>::build(columns);
  const auto same = zenith::strategies::top_k(here, table, weakest{}, 3);
  if (same.indices != rows.indices || same.keys != rows.keys) return 12;
  return 0;
}

}  // namespace own
