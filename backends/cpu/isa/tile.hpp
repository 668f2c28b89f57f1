// The CPU's tile: a handful of SIMD registers. Included by a unit that is compiled for one instruction set, inside its
// namespace; `arch` is xsimd's name for that set.

/// Where survivors go.
template <class T>
struct survivor_sink {
  T* keys;
  std::uint32_t* indices;
  std::uint64_t count;

  struct slot {
    T* keys;
    std::uint32_t* indices;
  };

  ZENITH_FN slot reserve(unsigned more) {
    const slot at{keys + count, indices + count};
    count += more;
    return at;
  }
};

/// Eight registers of keys. Indices follow from where the keys were loaded.
template <class T>
class register_tile {
 public:
  using batch = xsimd::batch<T, arch>;
  static constexpr unsigned lanes = batch::size;
  static constexpr unsigned vectors = 8;
  static constexpr unsigned size = lanes * vectors;
  static_assert(size <= most_tile_items);

  struct items {
    batch v[vectors];
    std::uint32_t first_index;
  };
  struct flags {
    decltype(kept(typename batch::batch_bool_type{})) v[vectors];
  };
  struct ranks {
    std::uint32_t masks[vectors];
    unsigned count;
  };

  ZENITH_FN register_tile(const T* base, std::uint32_t first_index, T worst)
      : base_(base), worst_(worst), first_index_(first_index) {}

  ZENITH_FN items load(const T* from, unsigned count) const {
    items loaded;
    loaded.first_index = first_index_ + static_cast<std::uint32_t>(from - base_);
    if (count == size) {
      for (unsigned i = 0; i < vectors; ++i) {
        if (i * sizeof(batch) % 64 == 0) prefetch_ahead(from + i * lanes);
        loaded.v[i] = batch::load_unaligned(from + i * lanes);
      }
      return loaded;
    }
    // the end of the data: lanes beyond it hold a key that is never flagged
    T padded[size];
    for (unsigned i = 0; i < size; ++i) padded[i] = i < count ? from[i] : worst_;
    for (unsigned i = 0; i < vectors; ++i) loaded.v[i] = batch::load_unaligned(padded + i * lanes);
    return loaded;
  }

  template <class Keep>
  ZENITH_FN flags flag(const items& of, const Keep& keep) const {
    flags flagged;
    for (unsigned i = 0; i < vectors; ++i) flagged.v[i] = kept(keep(of.v[i]));
    return flagged;
  }

  ZENITH_FN bool any(const flags& of) const {
    auto merged = of.v[0];
    for (unsigned i = 1; i < vectors; ++i) merged = merged | of.v[i];
    return any_lane(merged);
  }

  ZENITH_FN ranks scan(const flags& of) const {
    ranks found;
    found.count = 0;
    for (unsigned i = 0; i < vectors; ++i) {
      found.masks[i] = lane_mask(of.v[i]);
      found.count += static_cast<unsigned>(__builtin_popcount(found.masks[i]));
    }
    return found;
  }

  ZENITH_FN void store_compacted(const items& of, const flags&, const ranks& at,
                                 typename survivor_sink<T>::slot to) const {
    for (unsigned i = 0; i < vectors; ++i) {
      if (at.masks[i] == 0) continue;
      const auto stored = compress_store(of.v[i], of.first_index + i * lanes, at.masks[i], to.keys, to.indices);
      to.keys += stored;
      to.indices += stored;
    }
  }

 private:
  const T* base_;
  T worst_;
  std::uint32_t first_index_;
};
