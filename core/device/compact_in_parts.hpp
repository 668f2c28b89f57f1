#pragma once

/// \file
/// A host's compaction by parts, with the test behind pointers to functions: what hands parts to threads is compiled
/// once for all tests.

#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include <core/device/function.hpp>
#include <core/device/kernel.hpp>

namespace zenith::device {

/// A test of items, of which a compaction wants those in [begin, end) for which it holds. The test is borrowed.
struct part_test {
  const void* test;
  u64 (*count)(const void* test, u64 begin, u64 end);
  u64 (*write)(const void* test, u64 begin, u64 end, u32* to);  ///< returns how many it wrote
};

/// A test that compilers ask of many items at once, such as whether a byte has some value: it says so by `is_flag`. Of
/// these, a block without any is left out at once, and what a block has is listed without a branch.
template <class Test>
concept flag_test = Test::is_flag;

namespace detail {

inline constexpr u64 flag_block = 64;

template <flag_test Test>
[[nodiscard]] u32 count_flags(const Test& holds, u64 begin) {
  std::uint8_t found = 0;
  for (u64 j = 0; j < flag_block; ++j) found = static_cast<std::uint8_t>(found + (holds(begin + j) ? 1 : 0));
  return found;
}

/// Few of them bit by bit, as long as no branch is hard to predict; many all alike.
template <flag_test Test>
[[nodiscard]] u32 list_flags(const Test& holds, u64 begin, u32 flags, u32* to) {
  constexpr u32 few = 6;
  if (std::endian::native == std::endian::little && flags <= few) {
    std::uint8_t bytes[flag_block];
    for (u64 j = 0; j < flag_block; ++j) bytes[j] = holds(begin + j) ? 1 : 0;
    u64 bits = 0;
    for (u64 eight = 0; eight < flag_block; eight += 8) {
      u64 word;
      std::memcpy(&word, bytes + eight, sizeof(word));
      bits |= (word * 0x0102040810204080) >> 56 << eight;
    }
    for (u32 j = 0; j < flags; ++j, bits &= bits - 1) to[j] = static_cast<u32>(begin + std::countr_zero(bits));
    return flags;
  }
  u32 listed[flag_block];
  u32 found = 0;
  for (u64 j = 0; j < flag_block; ++j) {
    listed[found] = static_cast<u32>(begin + j);
    found += holds(begin + j) ? 1 : 0;
  }
  for (u32 j = 0; j < found; ++j) to[j] = listed[j];
  return found;
}

}  // namespace detail

/// About how many bytes a compaction reads, or what takes as long. Of flags that is asked of some blocks: where hardly
/// any is set, the others are left out.
template <class Test>
[[nodiscard]] u64 compaction_cost(const Test& test, u64 n) {
  if constexpr (flag_test<Test>) {
    constexpr u64 blocks = 16;
    constexpr u64 least = u64{1} << 16;
    if (n >= least) {
      u64 found = 0;
      for (u64 b = 0; b < blocks; ++b) found += detail::count_flags(test, n / blocks * b);
      return n + 16 * n / (blocks * detail::flag_block) * found;
    }
  }
  return n * item_cost_of<Test>;
}

template <class Test>
[[nodiscard]] part_test part_test_of(const Test& test) {
  return {&test,
          [](const void* at, u64 begin, u64 end) {
            const Test holds = *static_cast<const Test*>(at);
            u64 found = 0;
            if constexpr (flag_test<Test>) {
              for (; begin + detail::flag_block <= end; begin += detail::flag_block) {
                found += detail::count_flags(holds, begin);
              }
            }
            for (u64 i = begin; i < end; ++i) found += holds(i) ? 1 : 0;
            return found;
          },
          [](const void* at, u64 begin, u64 end, u32* to) {
            const Test holds = *static_cast<const Test*>(at);
            u64 found = 0;
            if constexpr (flag_test<Test>) {
              for (; begin + detail::flag_block <= end; begin += detail::flag_block) {
                const u32 flags = detail::count_flags(holds, begin);
                if (flags > 0) found += detail::list_flags(holds, begin, flags, to + found);
              }
            }
            for (u64 i = begin; i < end; ++i) {
              if (holds(i)) to[found++] = static_cast<u32>(i);
            }
            return found;
          }};
}

/// The items below `count` for which a test holds, in order, by so many parts, of which `run_all(parts, run)` calls
/// run(0) … run(parts - 1) at the same time. Returns how many items they are.
template <class RunAll>
u64 compact_in_parts(u64 count, u64 parts, const part_test& test, u32* to, const RunAll& run_all) {
  if (parts <= 1) return test.write(test.test, 0, count, to);
  const auto share = [&](u64 part) { return count * part / parts; };
  std::vector<u64> places(parts + 1);
  run_all(parts, [&](u64 part) { places[part + 1] = test.count(test.test, share(part), share(part + 1)); });
  std::partial_sum(places.begin(), places.end(), places.begin());
  run_all(parts, [&](u64 part) { (void)test.write(test.test, share(part), share(part + 1), to + places[part]); });
  return places[parts];
}

}  // namespace zenith::device
