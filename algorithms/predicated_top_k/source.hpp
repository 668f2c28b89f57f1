#pragma once

/// \file
/// The predicated source: keys, and in place of those whose rows are not taken the worst that there is.

#include <bit>
#include <limits>
#include <type_traits>

#include <core/device/source.hpp>
#include <core/key_order.hpp>
#include <zenith/packed_block.hpp>
#include <zenith/predicated_top_k_call.hpp>

// Decoders of every encoding are much text, and each kernel would have it anew: compilers took minutes. A unit of one
// instruction set has its own, which no other unit can be linked to.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define ZENITH_DECODER __host__ __device__ __noinline__ inline
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define ZENITH_ROLLED _Pragma("unroll 1")
#else
#define ZENITH_ROLLED
#endif
#elif defined(ZENITH_ISA)
#define ZENITH_DECODER __attribute__((noinline, unused)) static
#else
#define ZENITH_DECODER __attribute__((noinline)) inline
#endif

namespace zenith::predicated_top_k_family {

using device::u32;
using device::u64;

template <class U>
ZENITH_DECODER void decode_block(const packed_layout& column, u64 block, U* to) {
  (void)packed::unpack_block(column, block, to);
}
template <class U>
ZENITH_DECODER U decoded_value(const packed_layout& column, u64 i) {
  return packed::value_at<U>(column, i);
}

/// Whether values of integers lie in a range, of either sign: distances from its low end, modulo 2^n.
template <class U>
struct integer_range {
  U low;
  U length;

  ZENITH_FN explicit integer_range(const row_range& of)
      : low(static_cast<U>(of.low)), length(static_cast<U>(static_cast<U>(of.high) - low)) {}
  ZENITH_FN bool takes(U value) const { return static_cast<U>(value - low) <= length; }
};
template <class T>
struct number_range {
  T low;
  T high;

  ZENITH_FN explicit number_range(const row_range& of)
      : low(ordered::key_order<T>::from_bits(static_cast<ordered::bits_t<T>>(of.low))),
        high(ordered::key_order<T>::from_bits(static_cast<ordered::bits_t<T>>(of.high))) {}
  ZENITH_FN bool takes(T value) const { return (value >= low) & (value <= high); }
};

/// Calls use(range, values of a plain column) with the column's type.
template <class Use>
ZENITH_FN void with_values(const row_range& rows, const Use& use) {
  if (rows.type == key_type::float32) {
    use(number_range<float>(rows), static_cast<const float*>(rows.values));
  } else if (rows.type == key_type::float64) {
    use(number_range<double>(rows), static_cast<const double*>(rows.values));
  } else if (rows.type == key_type::int64 || rows.type == key_type::uint64) {
    use(integer_range<u64>(rows), static_cast<const u64*>(rows.values));
  } else {
    use(integer_range<u32>(rows), static_cast<const u32*>(rows.values));
  }
}

/// Calls use(range, values of the column from row `first` on) with the column's type; `first` is a block's first row.
template <class Use>
ZENITH_FN void with_rows(const row_range& rows, u64 first, const Use& use) {
  const bool is_wide = rows.type == key_type::int64 || rows.type == key_type::uint64;
  if (rows.is_packed && is_wide) {
    u64 values[packed_block_items];
    decode_block(rows.column, first / packed_block_items, values);
    use(integer_range<u64>(rows), static_cast<const u64*>(values));
  } else if (rows.is_packed) {
    u32 values[packed_block_items];
    decode_block(rows.column, first / packed_block_items, values);
    use(integer_range<u32>(rows), static_cast<const u32*>(values));
  } else {
    with_values(rows, [&](const auto& range, const auto* values) ZENITH_BODY { use(range, values + first); });
  }
}

/// Whether bit i of a bitmap is set.
ZENITH_FN bool is_set(const u64* bitmap, u64 i) { return (bitmap[i / 64] >> (i % 64) & 1) != 0; }

/// Whether row i is taken.
ZENITH_DECODER bool is_taken(const row_range& rows, u64 i) {
  if (rows.taken != nullptr) return is_set(rows.taken, i);
  const bool is_wide = rows.type == key_type::int64 || rows.type == key_type::uint64;
  if (rows.is_packed) {
    return is_wide ? integer_range<u64>(rows).takes(decoded_value<u64>(rows.column, i))
                   : integer_range<u32>(rows).takes(decoded_value<u32>(rows.column, i));
  }
  if (rows.type == key_type::float32) return number_range<float>(rows).takes(static_cast<const float*>(rows.values)[i]);
  if (rows.type == key_type::float64)
    return number_range<double>(rows).takes(static_cast<const double*>(rows.values)[i]);
  return is_wide ? integer_range<u64>(rows).takes(static_cast<const u64*>(rows.values)[i])
                 : integer_range<u32>(rows).takes(static_cast<const u32*>(rows.values)[i]);
}

/// Keys in their own type and order. Hosts compare these in SIMD lanes.
template <class T>
struct own_keys {
  using stored = T;
  using key = T;
  static constexpr bool are_images = false;

  const T* keys;
  key worst;
  bool smallest;
  bool nan_first;

  own_keys(const T* all, key_type /*type*/, bool from_smallest, bool nan_is_first)
      : keys(all), worst(worst_key(from_smallest, nan_is_first)), smallest(from_smallest), nan_first(nan_is_first) {}

  ZENITH_FN ordered::key_order<T> order() const { return {smallest, nan_first}; }
  ZENITH_FN T at(u64 i) const { return keys[i]; }
  ZENITH_FN bool is_nan(key one) const { return order().is_nan(order().image(one)); }
  /// Whether no key is worse than that of row i.
  ZENITH_FN bool is_worst(u64 i) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (!nan_first) return keys[i] != keys[i];
    }
    return keys[i] == worst;
  }
  /// Calls use(a function from a row to its key).
  template <class Use>
  ZENITH_FN void with(const Use& use) const {
    use([all = keys](u64 i) ZENITH_BODY { return all[i]; });
  }

 private:
  /// A key that none is worse than.
  static T worst_key(bool smallest, bool nan_first) {
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>) {
      if (!nan_first) return limits::quiet_NaN();
      return smallest ? limits::infinity() : -limits::infinity();
    } else {
      return smallest ? limits::max() : limits::lowest();
    }
  }
};

/// Keys as images (core/key_order.hpp), so that one scan serves all types of a width in all orders. Devices, whose
/// compiler takes seconds for a scan, compare these.
template <class U>
struct key_images {
  using stored = U;
  using key = U;
  static constexpr bool are_images = true;
  static constexpr key worst = 0;

  const U* keys;
  U flips;  ///< of integers: their images differ from them in these bits
  bool is_number;
  bool smallest;
  bool nan_first;

  key_images(const U* all, key_type type, bool from_smallest, bool nan_is_first)
      : keys(all),
        flips((type == key_type::int32 || type == key_type::int64)
                  ? ordered::key_order<std::make_signed_t<U>>{from_smallest}.image(0)
                  : ordered::key_order<U>{from_smallest}.image(0)),
        is_number(type == key_type::float32 || type == key_type::float64),
        smallest(from_smallest),
        nan_first(nan_is_first) {}

  ZENITH_FN ordered::key_order<U> order() const { return {}; }
  ZENITH_FN key at(u64 i) const { return is_number ? number_image(keys[i]) : static_cast<key>(keys[i] ^ flips); }
  ZENITH_FN bool is_nan(key one) const { return numbers().is_nan(one) && is_number; }
  ZENITH_FN bool is_worst(u64 i) const { return at(i) == worst; }
  /// Calls use(a function from a stored key to its image).
  template <class Use>
  ZENITH_FN void with_images(const Use& use) const {
    if (is_number) {
      use([*this](U bits) ZENITH_BODY { return number_image(bits); });
    } else {
      use([other = flips](U bits) ZENITH_BODY { return static_cast<key>(bits ^ other); });
    }
  }
  template <class Use>
  ZENITH_FN void with(const Use& use) const {
    if (is_number) {
      use([*this](u64 i) ZENITH_BODY { return number_image(keys[i]); });
    } else {
      use([all = keys, other = flips](u64 i) ZENITH_BODY { return static_cast<key>(all[i] ^ other); });
    }
  }

 private:
  using number_order = ordered::key_order<std::conditional_t<sizeof(U) == 4, float, double>>;

  ZENITH_FN number_order numbers() const { return {smallest, nan_first}; }
  ZENITH_FN key number_image(U bits) const { return numbers().image(number_order::from_bits(bits)); }
};

/// The key where all bits of the mask are set, `rest` where none is. In bits: compilers for CPUs make a branch of a
/// selection, which is mispredicted, and no vectors.
template <class Key>
ZENITH_FN Key key_or(ordered::bits_t<Key> mask, Key one, Key rest) {
  using bits = ordered::bits_t<Key>;
  return std::bit_cast<Key>(static_cast<bits>((std::bit_cast<bits>(one) & mask) | (std::bit_cast<bits>(rest) & ~mask)));
}

/// The same as `decode_keys` by a bitmap of the rows.
template <class Keys>
ZENITH_FN void mask_keys(const Keys& keys, u64 first, u32 items, const u64* taken, typename Keys::key* to) {
  using bits = ordered::bits_t<typename Keys::key>;
  constexpr u32 together = 32;
  for (u32 begin = 0; begin < items; begin += together) {
    const auto word = static_cast<u32>(taken[(first + begin) / 64] >> (begin % 64));
    bits masks[together];
    for (u32 j = 0; j < together; ++j) masks[j] = static_cast<bits>(bits{0} - static_cast<bits>(word >> j & 1));
    const u32 count = items - begin < together ? items - begin : together;
    const auto* const from = keys.keys + first + begin;
    auto* const out = to + begin;
    for (u32 j = 0; j < count; ++j) out[j] = key_or(masks[j], from[j], keys.worst);
  }
}

/// Rows of a block: the keys of those that are taken, the worst in place of the others.
template <class Keys>
ZENITH_DECODER void decode_keys(const Keys& keys, u64 first, u32 items, const row_range& rows, typename Keys::key* to) {
  using key = typename Keys::key;
  const key worst = keys.worst;
  if constexpr (!Keys::are_images) {  // on hosts
    if (rows.taken != nullptr) return mask_keys(keys, first, items, rows.taken, to);
  }
  with_rows(rows, first, [&](const auto& range, const auto* values) ZENITH_BODY {
    keys.with([&](const auto& key_of) ZENITH_BODY {
#if defined(__CUDACC__) || defined(__HIPCC__)
      // some are loaded before the first is stored: a device does not know that the stores change no input
      constexpr u32 together = 4;
      u32 i = 0;
      ZENITH_ROLLED
      for (; i + together <= items; i += together) {
        key some[together];
        ZENITH_UNROLLED
        for (u32 j = 0; j < together; ++j) some[j] = key_of(first + i + j);
        ZENITH_UNROLLED
        for (u32 j = 0; j < together; ++j) some[j] = range.takes(values[i + j]) ? some[j] : worst;
        ZENITH_UNROLLED
        for (u32 j = 0; j < together; ++j) to[i + j] = some[j];
      }
      ZENITH_ROLLED
      for (; i < items; ++i) to[i] = range.takes(values[i]) ? key_of(first + i) : worst;
#else
      using bits = ordered::bits_t<key>;
      for (u32 i = 0; i < items; ++i) {
        const auto mask = static_cast<bits>(bits{0} - static_cast<bits>(range.takes(values[i]) ? 1 : 0));
        to[i] = key_or(mask, key_of(first + i), worst);
      }
#endif
    });
  });
}

template <class Keys>
struct predicated {
  using key = typename Keys::key;
  static constexpr bool are_images = Keys::are_images;
  static constexpr unsigned block_items = packed_block_items;

  Keys keys;
  u64 count;
  row_range rows;

  ZENITH_FN u64 size() const { return count; }
  ZENITH_FN key at(u64 i) const { return is_taken(rows, i) ? keys.at(i) : keys.worst; }
  ZENITH_FN void decode(u64 block, key* to) const {
    const u64 first = block * block_items;
    const u64 left = count - first;
    decode_keys(keys, first, left < block_items ? static_cast<u32>(left) : block_items, rows, to);
  }
};

/// The same by a plain column or a bitmap of the rows, as a formula: a device's neighbouring lanes read neighbouring
/// rows, where those that decode blocks read a block each.
template <class Keys>
struct masked {
  using key = typename Keys::key;
  static constexpr bool are_images = Keys::are_images;
  static constexpr unsigned streams = 2;
  static constexpr unsigned widest = sizeof(key);

  Keys keys;
  u64 count;
  row_range rows;

  ZENITH_FN u64 size() const { return count; }
  template <class Load>
  ZENITH_FN auto lanes(const Load& load) const {
    if constexpr (std::is_same_v<Load, device::item_of>) {
      return is_taken(rows, load.at) ? keys.at(load.at) : keys.worst;
    } else {
      // types are looked at once a tile
      decltype(load.each(static_cast<key (*)(u64)>(nullptr))) tile;
      if (rows.taken != nullptr) {
        // halves of its words, the lower one first: a device's registers are as wide, and rows have numbers as wide
        const auto* const halves = reinterpret_cast<const u32*>(rows.taken);
        keys.with_images([&](const auto& image) ZENITH_BODY {
          tile = load.each([&](u64 i) ZENITH_BODY {
            const auto row = static_cast<u32>(i);
            const bool taken = (halves[row / 32] >> (row % 32) & 1) != 0;
            // the load alone depends on it: no branches, so that several loads of a lane are under way at once
            const key own = image(taken ? keys.keys[i] : typename Keys::stored{});
            return taken ? own : keys.worst;
          });
        });
      } else {
        with_values(rows, [&](const auto& range, const auto* values) ZENITH_BODY {
          keys.with([&](const auto& key_of) ZENITH_BODY {
            tile = load.each([&](u64 i) ZENITH_BODY { return range.takes(values[i]) ? key_of(i) : keys.worst; });
          });
        });
      }
      return tile;
    }
  }
};

static_assert(device::block_source<predicated<own_keys<float>>> && device::block_source<predicated<key_images<u32>>>);
static_assert(device::formula_source<masked<key_images<u32>>>);

}  // namespace zenith::predicated_top_k_family

#undef ZENITH_DECODER
#undef ZENITH_ROLLED
