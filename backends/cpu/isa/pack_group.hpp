// Writing a group that was measured: the bytes that algorithms/packed_column/encode.hpp specifies. Included by a unit
// that is compiled for one instruction set, inside its namespace.

/// Moves the words of a miniblock that are longer than `width` to the patches.
template <class U>
ZENITH_FN void take_patches(vector_of<U>* words, unsigned width, unsigned first, const packed_layout& to,
                            std::byte* out, std::uint64_t& patch) {
  if (longer_than<U>(words, width) == 0) return;
  U unpacked[packed_miniblock_items];
  for (unsigned i = 0; i < mini_vectors<U>; ++i) words[i].store_unaligned(unpacked + i * vector_of<U>::size);
  for (unsigned i = 0; i < packed_miniblock_items; ++i) {
    if (unpacked[i] <= masks<U>.of[width]) continue;
    out[to.patch_positions_at + patch] = static_cast<std::byte>(first + i);
    __builtin_memcpy(out + to.patch_values_at + patch * sizeof(U), &unpacked[i], sizeof(U));
    unpacked[i] = 0;
    ++patch;
  }
  for (unsigned i = 0; i < mini_vectors<U>; ++i) {
    words[i] = vector_of<U>::load_unaligned(unpacked + i * vector_of<U>::size);
  }
}

/// What a group's record, bases and patches say, and its words.
template <class U, bool IsDelta, bool Patched>
ZENITH_FN void write_group_as(const packed_group_write& asked) {
  const packed_layout& to = *asked.to;
  const packed_group_shape& shape = *asked.shape;
  const U* from = static_cast<const U*>(asked.values);
  std::byte* const out = asked.out;
  std::byte* const record = out + to.groups_at + asked.group * packed::group_bytes<U>;
  std::uint64_t patch = asked.patch;
  // a group's payload comes together in the L1 cache: what is written too far belongs to nobody
  std::byte* const payload = asked.rows->buffer + asked.rows->held;
  std::byte* at = payload;
  std::uint64_t start = asked.payload;
#pragma GCC unroll 1
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot, from += packed_block_items) {
    const auto offset = static_cast<std::uint32_t>(at - payload) / 4;
    const auto reference = static_cast<U>(shape.reference[slot]);
    const auto& width = Patched ? shape.patched_width[slot] : shape.width[slot];
    const std::uint64_t patch_before = patch;
    if constexpr (IsDelta || Patched) {
      auto words = IsDelta ? steps_of(from) : values_of(from);
      subtract(words, reference);
      if (IsDelta) {
        clear_first<U>(words.v[0]);
        const U base = static_cast<U>(from[0] - reference);
        __builtin_memcpy(out + to.bases_at + (asked.group * packed_group_blocks + slot) * sizeof(U), &base,
                         sizeof base);
      }
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        auto* mini = words.v + m * mini_vectors<U>;
        if (Patched) take_patches<U>(mini, width[m], m * packed_miniblock_items, to, out, patch);
        write_words(mini, width[m], at);
        at += width[m] * 4U;
      }
    } else {
      const vector_of<U> less(reference);
#pragma GCC unroll 1
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        vector_of<U> words[mini_vectors<U>];
        for (unsigned i = 0; i < mini_vectors<U>; ++i) {
          words[i] = vector_of<U>::load_unaligned(from + m * packed_miniblock_items + i * vector_of<U>::size) - less;
        }
        write_words(words, width[m], at);
        at += width[m] * 4U;
      }
    }
    ask_for_next_group<4, 4>(static_cast<const U*>(asked.values), slot);
    if (Patched) {
      std::byte* const index = out + to.patch_index_at + asked.group * packed::patch_index_bytes;
      if (slot == 0) __builtin_memcpy(index, &patch_before, sizeof patch_before);
      index[8 + slot] = static_cast<std::byte>(patch - patch_before);
    }
    __builtin_memcpy(record + 8 + slot * sizeof(U), &reference, sizeof reference);
    if constexpr (sizeof(U) == 4) {
      const std::uint32_t fields = width[0] | width[1] << 6 | width[2] << 12 | width[3] << 18;
      __builtin_memcpy(record + 72 + slot * 3, &fields, 3);
      if (slot == 8) start |= std::uint64_t{offset} << packed::start_bits;
    } else {
      const auto short_offset = static_cast<std::uint16_t>(offset);
      __builtin_memcpy(record + 136 + slot * 4, width, 4);
      __builtin_memcpy(record + 200 + slot * 2, &short_offset, 2);
    }
  }
  __builtin_memcpy(record, &start, sizeof start);
  asked.rows->held += static_cast<std::uint32_t>(at - payload);
  store_rows(*asked.rows);
}

template <class U>
void write_group(const packed_group_write& asked) {
  const bool patched = asked.to->patches > 0;
  if (asked.to->kind == encoding::delta) {
    patched ? write_group_as<U, true, true>(asked) : write_group_as<U, true, false>(asked);
  } else {
    patched ? write_group_as<U, false, true>(asked) : write_group_as<U, false, false>(asked);
  }
}
