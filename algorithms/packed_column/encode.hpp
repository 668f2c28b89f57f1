#pragma once

/// \file
/// Packing, one lane a group: what every backend's encoder must write, bit by bit. FORMAT.md says what the bytes mean,
/// this says which of the possible bytes are written: the least widths, the cheapest patches, one choice for each
/// input.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <zenith/packed_block.hpp>

namespace zenith::packed {

/// What a group of 2048 values takes in each encoding.
struct group_sizes {
  std::uint64_t words = 0;  ///< frame_of_reference
  std::uint64_t patched_words = 0;
  std::uint64_t patches = 0;
  std::uint64_t delta_words = 0;
  std::uint64_t delta_patched_words = 0;
  std::uint64_t delta_patches = 0;
  std::uint64_t vertical_words = 0;
  std::uint64_t variable_bytes = 0;
  std::uint64_t runs = 0;         ///< that begin in the group
  std::uint64_t fixed_bytes = 1;  ///< of the widest value: 1, 2, 4 or 8; 64 bits: no padding

  ZENITH_FN void add(const group_sizes& other) {
    words += other.words;
    patched_words += other.patched_words;
    patches += other.patches;
    delta_words += other.delta_words;
    delta_patched_words += other.delta_patched_words;
    delta_patches += other.delta_patches;
    vertical_words += other.vertical_words;
    variable_bytes += other.variable_bytes;
    runs += other.runs;
    fixed_bytes = other.fixed_bytes > fixed_bytes ? other.fixed_bytes : fixed_bytes;
  }
};

/// Where a group's share of each section begins.
struct group_place {
  std::uint64_t payload = 0;  ///< words, bytes or runs
  std::uint64_t patch = 0;
};

/// Of a group of `sizes`, what an encoding takes.
ZENITH_FN group_place place_in(const group_sizes& sizes, encoding kind, bool patched) {
  switch (kind) {
    case encoding::frame_of_reference:
      return patched ? group_place{sizes.patched_words, sizes.patches} : group_place{sizes.words, 0};
    case encoding::delta:
      return patched ? group_place{sizes.delta_patched_words, sizes.delta_patches} : group_place{sizes.delta_words, 0};
    case encoding::vertical: return {sizes.vertical_words, 0};
    case encoding::null_suppression_variable: return {sizes.variable_bytes, 0};
    case encoding::run_length: return {sizes.runs, 0};
    default: return {};
  }
}

template <class U>
ZENITH_FN unsigned bit_width(U word) {
  unsigned width = 0;
  for (; word != 0; word >>= 1) ++width;
  return width;
}

/// a < b in the order of the values whose bits they are.
template <class U>
ZENITH_FN bool value_less(U a, U b, bool with_sign) {
  const U flip = with_sign ? U{1} << (sizeof(U) * 8 - 1) : U{0};
  return (a ^ flip) < (b ^ flip);
}

/// A block on its way into bits: what is added to its words, and the words, zeros behind the last value.
template <class U>
struct block_words {
  U reference = 0;
  U base = 0;  ///< of delta
  U word[packed_block_items] = {};
};

/// Differences from the least of `items` >= 1 values.
template <class U>
ZENITH_FN void take_frame(block_words<U>& to, const U* values, unsigned items, bool with_sign) {
  U least = values[0];
  for (unsigned i = 1; i < items; ++i) least = value_less(values[i], least, with_sign) ? values[i] : least;
  to.reference = least;
  for (unsigned i = 0; i < packed_block_items; ++i) to.word[i] = i < items ? static_cast<U>(values[i] - least) : U{0};
}

/// Differences of neighbours, less the least of them in two's complement; the first word is 0, so that the base is
/// within the block's own values.
template <class U>
ZENITH_FN void take_deltas(block_words<U>& to, const U* values, unsigned items) {
  U least = 0;
  for (unsigned i = 1; i < items; ++i) {
    const U step = static_cast<U>(values[i] - values[i - 1]);
    if (i == 1 || value_less(step, least, true)) least = step;
  }
  to.reference = least;
  to.base = static_cast<U>(values[0] - least);
  for (unsigned i = 0; i < packed_block_items; ++i) {
    to.word[i] = i > 0 && i < items ? static_cast<U>(values[i] - values[i - 1] - least) : U{0};
  }
}

/// Bits that a patch takes.
template <class U>
inline constexpr unsigned patch_bits = 8 + sizeof(U) * 8;

/// The widths of a miniblock without and with patches.
struct miniblock_shape {
  unsigned width;
  unsigned patched_width;
  unsigned patches;
};

/// The least width, and the width at which payload and patches together take the fewest bits; of equals the wider.
template <class U>
ZENITH_FN miniblock_shape shape_of(const U* words) {
  unsigned longer[sizeof(U) * 8 + 1] = {};  // words of each length
  unsigned width = 0;
  for (unsigned i = 0; i < packed_miniblock_items; ++i) {
    const unsigned length = bit_width(words[i]);
    ++longer[length];
    width = length > width ? length : width;
  }
  miniblock_shape best{width, width, 0};
  unsigned least = packed_miniblock_items * width;
  unsigned outside = 0;
  for (unsigned w = width; w-- > 0;) {
    outside += longer[w + 1];
    const unsigned bits = packed_miniblock_items * w + outside * patch_bits<U>;
    if (bits < least) {
      least = bits;
      best.patched_width = w;
      best.patches = outside;
    }
  }
  return best;
}

template <class U>
ZENITH_FN unsigned fixed_bytes_of(U bits, bool with_sign) {
  for (unsigned bytes = 1; bytes < sizeof(U); bytes *= 2) {
    if (widen_fixed<U>(bits, bytes, with_sign) == bits) return bytes;
  }
  return sizeof(U);
}

/// null_suppression_variable's code of a word: how many bytes it needs.
template <class U>
ZENITH_FN unsigned variable_code(U word) {
  unsigned code = 0;
  while (code < 3 && (word >> (8 * variable_bytes<U>(code))) != 0) ++code;
  return code;
}

template <class U>
ZENITH_FN U variable_word(U bits, bool with_sign) {
  return with_sign ? to_zigzag(bits) : bits;
}

/// Bytes are written whole words at a time, at any alignment.
template <class Word>
ZENITH_FN void store(std::byte* to, Word word) {
  __builtin_memcpy(to, &word, sizeof word);
}

/// Words of any length, one behind the other in 32-bit words, `stride` bytes from each to the next. Each of these is
/// written once, when it is full.
template <class U>
class word_writer {
 public:
  ZENITH_FN word_writer(std::byte* to, unsigned stride) : to_(to), stride_(stride) {}

  /// `word` has no bits but its lowest `width`.
  ZENITH_FN void append(U word, unsigned width) {
    if constexpr (sizeof(U) == 8) {
      if (width > 32) {
        append_short(static_cast<std::uint32_t>(word), 32);
        word >>= 32;
        width -= 32;
      }
    }
    append_short(static_cast<std::uint32_t>(word), width);
  }

 private:
  ZENITH_FN void append_short(std::uint32_t word, unsigned width) {
    window_ |= std::uint64_t{word} << filled_;
    filled_ += width;
    if (filled_ < 32) return;
    store(to_, static_cast<std::uint32_t>(window_));
    to_ += stride_;
    window_ >>= 32;
    filled_ -= 32;
  }

  std::byte* to_;
  unsigned stride_;
  std::uint64_t window_ = 0;
  unsigned filled_ = 0;
};

/// One column on its way into bytes.
template <class U>
struct encoder {
  const U* values;
  std::uint64_t count;
  bool with_sign;
  bool patches;    ///< whether outliers may stand outside
  unsigned lanes;  ///< of vertical

  [[nodiscard]] ZENITH_FN unsigned items_from(std::uint64_t first, unsigned most) const {
    if (first >= count) return 0;
    return count - first < most ? static_cast<unsigned>(count - first) : most;
  }
  [[nodiscard]] ZENITH_FN static bool wants(encoding asked, encoding which) {
    return asked == which || asked == encoding::automatic;
  }

  /// What group `group` takes in the encodings that `asked` names.
  [[nodiscard]] ZENITH_FN group_sizes measure(std::uint64_t group, encoding asked) const {
    group_sizes found;
    const std::uint64_t first = group * packed_group_items;
    for (unsigned b = 0; b < packed_group_blocks; ++b) {
      const std::uint64_t from = first + b * packed_block_items;
      const unsigned items = items_from(from, packed_block_items);
      if (items == 0) break;
      block_words<U> words;
      if (wants(asked, encoding::frame_of_reference)) {
        take_frame(words, values + from, items, with_sign);
        add_shapes(words, found.words, found.patched_words, found.patches);
      }
      if (wants(asked, encoding::delta)) {
        take_deltas(words, values + from, items);
        add_shapes(words, found.delta_words, found.delta_patched_words, found.delta_patches);
      }
    }
    if (wants(asked, encoding::vertical)) {
      for (unsigned at = 0; at < packed_group_items; at += span()) {
        if (items_from(first + at, 1) == 0) break;
        found.vertical_words += std::uint64_t{lanes} * measure_span(first + at).width;
      }
    }
    const unsigned items = items_from(first, packed_group_items);
    if (wants(asked, encoding::run_length)) {
      for (unsigned i = 0; i < items; ++i) found.runs += begins_run(first + i) ? 1 : 0;
    }
    if (wants(asked, encoding::null_suppression_fixed)) {
      for (unsigned i = 0; i < items; ++i) {
        const unsigned bytes = fixed_bytes_of(values[first + i], with_sign);
        if (bytes > found.fixed_bytes) found.fixed_bytes = bytes;
      }
    }
    if (wants(asked, encoding::null_suppression_variable)) {
      for (unsigned i = 0; i < items; ++i) {
        found.variable_bytes += variable_bytes<U>(variable_code(variable_word(values[first + i], with_sign)));
      }
    }
    return found;
  }

  /// Writes group `group` of a column laid out as `to`: every byte of its share of each section, whatever `out` held.
  ZENITH_FN void write(std::uint64_t group, const packed_layout& to, std::byte* out, group_place at) const {
    switch (to.kind) {
      case encoding::frame_of_reference:
      case encoding::delta: write_blocks(group, to, out, at); break;
      case encoding::vertical: write_vertical(group, to, out, at.payload); break;
      case encoding::run_length: write_runs(group, to, out, at.payload); break;
      case encoding::null_suppression_variable: write_variable(group, to, out, at.payload); break;
      default: write_fixed(group, to, out); break;
    }
  }

 private:
  struct span_shape {
    U reference;
    unsigned width;
  };

  [[nodiscard]] ZENITH_FN unsigned span() const { return packed_miniblock_items * lanes; }

  ZENITH_FN static void add_shapes(const block_words<U>& words, std::uint64_t& plain, std::uint64_t& patched,
                                   std::uint64_t& patches) {
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      const auto shape = shape_of(words.word + m * packed_miniblock_items);
      plain += shape.width;
      patched += shape.patched_width;
      patches += shape.patches;
    }
  }

  [[nodiscard]] ZENITH_FN bool begins_run(std::uint64_t i) const { return i == 0 || values[i] != values[i - 1]; }

  [[nodiscard]] ZENITH_FN span_shape measure_span(std::uint64_t first) const {
    const unsigned items = items_from(first, span());
    U least = values[first];
    for (unsigned i = 1; i < items; ++i) {
      least = value_less(values[first + i], least, with_sign) ? values[first + i] : least;
    }
    U all = 0;
    for (unsigned i = 0; i < items; ++i) all |= static_cast<U>(values[first + i] - least);
    return {least, bit_width(all)};
  }

  ZENITH_FN static void write_place(const packed_layout& to, std::byte* out, std::uint64_t block, U reference,
                                    const unsigned (&width)[packed_miniblocks], unsigned offset) {
    const auto slot = static_cast<unsigned>(block % packed_group_blocks);
    std::byte* record = out + to.groups_at + block / packed_group_blocks * group_bytes<U>;
    if constexpr (sizeof(U) == 4) {
      std::uint32_t fields = 0;
      for (unsigned m = 0; m < packed_miniblocks; ++m) fields |= width[m] << (6 * m);
      store(record + 8 + slot * 4, reference);
      for (unsigned byte = 0; byte < 3; ++byte) {
        record[72 + slot * 3 + byte] = static_cast<std::byte>(fields >> (8 * byte));
      }
      if (slot == 8) store(record, load<std::uint64_t>(record) | std::uint64_t{offset} << start_bits);
    } else {
      std::uint32_t widths = 0;
      for (unsigned m = 0; m < packed_miniblocks; ++m) widths |= width[m] << (8 * m);
      store(record + 8 + slot * 8, reference);
      store(record + 136 + slot * 4, widths);
      store(record + 200 + slot * 2, static_cast<std::uint16_t>(offset));
    }
  }

  ZENITH_FN void write_blocks(std::uint64_t group, const packed_layout& to, std::byte* out, group_place at) const {
    const bool patched = to.patches > 0;
    std::byte* index = out + to.patch_index_at + group * patch_index_bytes;
    unsigned offset = 0;
    if (patched) store(index, at.patch);
    store(out + to.groups_at + group * group_bytes<U>, at.payload);
    for (unsigned b = 0; b < packed_group_blocks; ++b) {
      const std::uint64_t block = group * packed_group_blocks + b;
      const std::uint64_t from = block * packed_block_items;
      const unsigned items = items_from(from, packed_block_items);
      block_words<U> words;
      unsigned width[packed_miniblocks] = {};
      const std::uint64_t patch_before = at.patch;
      if (items > 0) {
        if (to.kind == encoding::delta) {
          take_deltas(words, values + from, items);
          store(out + to.bases_at + block * sizeof(U), words.base);
        } else {
          take_frame(words, values + from, items, with_sign);
        }
        word_writer<U> payload(out + to.payload_at + (at.payload + offset) * 4, 4);
        for (unsigned m = 0; m < packed_miniblocks; ++m) {
          U* mini = words.word + m * packed_miniblock_items;
          const auto shape = shape_of(mini);
          width[m] = patched ? shape.patched_width : shape.width;
          for (unsigned i = 0; i < packed_miniblock_items; ++i) {
            if (bit_width(mini[i]) > width[m]) {
              out[to.patch_positions_at + at.patch] = static_cast<std::byte>(m * packed_miniblock_items + i);
              store(out + to.patch_values_at + at.patch * sizeof(U), mini[i]);
              mini[i] = 0;
              ++at.patch;
            }
            payload.append(mini[i], width[m]);
          }
        }
      }
      if (patched) index[8 + b] = static_cast<std::byte>(at.patch - patch_before);
      write_place(to, out, block, words.reference, width, offset);
      for (const unsigned one : width) offset += one;
    }
  }

  ZENITH_FN void write_vertical(std::uint64_t group, const packed_layout& to, std::byte* out,
                                std::uint64_t start) const {
    unsigned offset = 0;
    store(out + to.groups_at + group * group_bytes<U>, start);
    for (unsigned at = 0; at < packed_group_items; at += span()) {
      const std::uint64_t first = group * packed_group_items + at;
      const unsigned items = items_from(first, span());
      const auto shape = items > 0 ? measure_span(first) : span_shape{0, 0};
      std::byte* payload = out + to.payload_at + (start + offset) * 4;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        word_writer<U> words(payload + lane * 4, lanes * 4);
        for (unsigned i = lane; i < span(); i += lanes) {
          words.append(i < items ? static_cast<U>(values[first + i] - shape.reference) : U{0}, shape.width);
        }
      }
      const unsigned width[packed_miniblocks] = {shape.width, shape.width, shape.width, shape.width};
      for (unsigned b = 0; b < span() / packed_block_items; ++b) {
        write_place(to, out, first / packed_block_items + b, shape.reference, width, offset);
        offset += packed_miniblocks * shape.width;
      }
    }
  }

  ZENITH_FN void write_runs(std::uint64_t group, const packed_layout& to, std::byte* out, std::uint64_t run) const {
    const std::uint64_t first = group * packed_group_items;
    const unsigned items = items_from(first, packed_group_items);
    for (unsigned i = 0; i < items; ++i) {
      if (!begins_run(first + i)) continue;
      store(out + to.payload_at + run * sizeof(U), values[first + i]);
      if (run > 0) write_end(to, out, run - 1, first + i);
      ++run;
    }
    if (first + items == count) write_end(to, out, run - 1, count);
  }

  ZENITH_FN static void write_end(const packed_layout& to, std::byte* out, std::uint64_t run, std::uint64_t end) {
    if (to.parameter == 4) {
      store(out + to.codes_at + run * 4, static_cast<std::uint32_t>(end));
    } else {
      store(out + to.codes_at + run * 8, end);
    }
  }

  ZENITH_FN void write_variable(std::uint64_t group, const packed_layout& to, std::byte* out,
                                std::uint64_t start) const {
    const std::uint64_t first = group * packed_group_items;
    const unsigned items = items_from(first, packed_group_items);
    std::byte* record = out + to.groups_at + group * variable_group_bytes;
    store(record, start);
    unsigned offset = 0;
    unsigned codes = 0;
    const unsigned coded = (items + packed_block_items - 1) / packed_block_items * packed_block_items;
    for (unsigned i = 0; i < packed_group_items; ++i) {
      if (i % packed_block_items == 0) {
        store(record + 8 + i / packed_block_items * 2, static_cast<std::uint16_t>(offset));
      }
      if (i >= coded) continue;
      if (i < items) {
        const U word = variable_word(values[first + i], with_sign);
        const unsigned code = variable_code(word);
        codes |= code << (2 * (i % 4));
        for (unsigned byte = 0; byte < variable_bytes<U>(code); ++byte) {
          out[to.payload_at + start + offset++] = static_cast<std::byte>(word >> (8 * byte));
        }
      }
      if (i % 4 == 3) {
        out[to.codes_at + (first + i) / 4] = static_cast<std::byte>(codes);
        codes = 0;
      }
    }
  }

  ZENITH_FN void write_fixed(std::uint64_t group, const packed_layout& to, std::byte* out) const {
    const std::uint64_t first = group * packed_group_items;
    const unsigned items = items_from(first, packed_group_items);
    const unsigned bytes = to.kind == encoding::plain ? sizeof(U) : to.parameter;
    for (unsigned i = 0; i < items; ++i) {
      std::byte* at = out + to.payload_at + (first + i) * bytes;
      const U bits = values[first + i];
      switch (bytes) {
        case 1: store(at, static_cast<std::uint8_t>(bits)); break;
        case 2: store(at, static_cast<std::uint16_t>(bits)); break;
        case 4: store(at, static_cast<std::uint32_t>(bits)); break;
        default: store(at, static_cast<std::uint64_t>(bits)); break;
      }
    }
  }
};

}  // namespace zenith::packed
