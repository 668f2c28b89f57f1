#pragma once

/// \file
/// Packing as a skeleton: measure every group, decide, place every group, write every group. A backend brings the way
/// to run a function for every group at the same time, and an encoder: the plain one of encode.hpp, or a faster one
/// that writes the same bytes.

#include <cstdint>
#include <vector>

#include <algorithms/packed_column/layout.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::packed {

/// `for_groups(groups, work)` calls work(g) for every g < groups, in any order, at the same time if it likes.
template <class Encoder, class ForGroups>
void pack_groups(const pack_call& call, const Encoder& with, const ForGroups& for_groups) {
  packed_layout shape;
  shape.count = call.count;
  const std::uint64_t groups = shape.groups();
  std::vector<group_sizes> sizes(groups);
  // what takes the same whatever the values are need not be measured
  if (call.kind != encoding::plain) {
    for_groups(groups, [&](std::uint64_t g) { sizes[g] = with.measure(g, call.kind); });
  }
  group_sizes total;
  for (const auto& one : sizes) total.add(one);

  const auto chosen = choose(call.type, call.count, call.kind, call.patches, call.lanes, total);
  packed_layout made = *lay_out(chosen);
  std::byte* out = call.allocate(call.context, made.total_bytes);
  made.bytes = out;

  std::vector<group_place> places(groups);
  group_place at;
  for (std::uint64_t g = 0; g < groups; ++g) {
    places[g] = at;
    const auto taken = place_in(sizes[g], made.kind, made.patches > 0);
    at.payload += taken.payload;
    at.patch += taken.patch;
  }
  for_groups(groups, [&](std::uint64_t g) { with.write(g, made, out, places[g]); });
  *call.result = made;
}

/// The plain encoder of a call.
template <class U>
[[nodiscard]] encoder<U> plain_encoder(const pack_call& call) {
  return {static_cast<const U*>(call.values), call.count, is_signed(call.type), call.patches, call.lanes};
}

}  // namespace zenith::packed
