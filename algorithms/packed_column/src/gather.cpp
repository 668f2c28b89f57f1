#include <algorithm>
#include <span>
#include <string>
#include <type_traits>

#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>

namespace zenith::detail {
namespace {

// More than a core has lines on their way at a time, few enough for their places to stay in L1.
constexpr std::size_t at_once = 32;

// The lines that `framed_place_of` reads.
template <class U>
void ask_for_record(const packed_layout& in, std::uint64_t index) {
  const std::uint64_t block = index / packed_block_items;
  const std::byte* record = packed::record_of<U>(in, block);
  const auto slot = block % packed_group_blocks;
  __builtin_prefetch(record + 8 + slot * sizeof(U));
  if (in.one_width != mixed_widths) return;
  __builtin_prefetch(record);
  if constexpr (sizeof(U) == 4) {
    const std::byte* widths = record + 72 + slot / (packed_group_blocks / 2) * 24;
    __builtin_prefetch(widths);
    __builtin_prefetch(widths + 23);
  } else {
    __builtin_prefetch(record + 136 + slot * 4);
    __builtin_prefetch(record + 200 + slot * 2);
  }
}

template <class U, class Index>
void gather_frames(const packed_layout& in, std::span<const Index> indices, U* out) {
  for (const auto index : indices.first(std::min(at_once, indices.size()))) ask_for_record<U>(in, index);
  while (!indices.empty()) {
    const auto some = indices.first(std::min(at_once, indices.size()));
    indices = indices.subspan(some.size());
    packed::framed_place<U> places[at_once];
    for (std::size_t i = 0; i < some.size(); ++i) {
      places[i] = packed::framed_place_of<U>(in, some[i]);
      __builtin_prefetch(places[i].words + places[i].bit / 8);
    }
    for (const auto index : indices.first(std::min(at_once, indices.size()))) ask_for_record<U>(in, index);
    for (std::size_t i = 0; i < some.size(); ++i) *out++ = packed::framed_value(in, some[i], places[i]);
  }
}

// `end`: behind the last index that the column and the signed type have.
template <class U, class Index>
void gather_values(const packed_layout& in, std::span<const Index> indices, bool index_signed, std::uint64_t end,
                   void* to) {
  const auto beyond = std::ranges::find_if(indices, [&](Index index) { return index >= end; });
  if (beyond != indices.end()) {
    const auto value =
        index_signed ? std::to_string(static_cast<std::make_signed_t<Index>>(*beyond)) : std::to_string(*beyond);
    throw error(error_code::invalid_argument, "gather: indices[" + std::to_string(beyond - indices.begin()) + "] is " +
                                                  value + ", but the column has " + std::to_string(in.count) +
                                                  " values");
  }
  auto* out = static_cast<U*>(to);
  if (in.kind == encoding::frame_of_reference) return gather_frames(in, indices, out);
  for (const auto index : indices) *out++ = packed::unframed_at<U>(in, index);
}

template <class U>
void gather_words(const packed_layout& in, const void* indices, std::size_t count, int index_bytes, bool index_signed,
                  void* out) {
  if (index_bytes == 4) {
    const std::uint64_t most = index_signed ? std::uint64_t{1} << 31 : std::uint64_t{1} << 32;
    gather_values<U>(in, std::span(static_cast<const std::uint32_t*>(indices), count), index_signed,
                     std::min(in.count, most), out);
  } else {
    gather_values<U>(in, std::span(static_cast<const std::uint64_t*>(indices), count), index_signed, in.count, out);
  }
}

}  // namespace

void gather(const packed_layout& column, const void* indices, std::size_t index_count, int index_bytes,
            bool index_signed, void* out, std::size_t out_count) {
  if (index_count != out_count) {
    throw error(error_code::invalid_argument, "gather: there are " + std::to_string(index_count) +
                                                  " indices, but values has " + std::to_string(out_count) +
                                                  " elements");
  }
  if (size_of(column.type) == 4) {
    gather_words<std::uint32_t>(column, indices, index_count, index_bytes, index_signed, out);
  } else {
    gather_words<std::uint64_t>(column, indices, index_count, index_bytes, index_signed, out);
  }
}

}  // namespace zenith::detail
