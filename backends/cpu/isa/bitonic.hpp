// The bitonic top-k of one worker's share, tile by tile. Included by a unit that is compiled for one instruction set,
// inside its namespace.

/// Writes entries for keys[0, count), and worst entries up to `capacity`.
template <class T>
ZENITH_FN void load_entries(const T* keys, std::uint64_t count, std::uint32_t first_index, std::uint64_t capacity,
                            const top_k_detail::key_order<T>& order, std::uint64_t* words, std::uint64_t plane) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto image = order.image(keys[i]);
    const std::uint32_t complement = ~(first_index + static_cast<std::uint32_t>(i));
    if constexpr (sizeof(T) == 4) {
      words[i] = (static_cast<std::uint64_t>(image) << 32) | complement;
    } else {
      words[i] = image;
      words[i + plane] = complement;
    }
  }
  for (std::uint64_t i = count; i < capacity; ++i) {
    words[i] = 0;
    if constexpr (sizeof(T) == 8) words[i + plane] = 0;
  }
}

template <class T>
void bitonic_reduce(const bitonic_request& asked) {
  using row = std::conditional_t<sizeof(T) == 4, packed_row, split_row>;
  const T* keys = static_cast<const T*>(asked.keys);
  const top_k_detail::key_order<T> order{asked.smallest, asked.nan_first};
  const auto k = static_cast<tile_index>(asked.k);
  const auto reduction = static_cast<tile_index>(asked.rows / asked.k);
  const std::uint64_t tile_items = asked.rows * row_lanes;
  const std::uint64_t best_items = asked.k * row_lanes;

  entry_tile<row> tile(asked.tile, asked.rows, tile_items);
  entry_tile<row> best(asked.best, asked.k, best_items);
  load_entries<T>(keys, 0, 0, best_items, order, asked.best, best_items);

  for (std::uint64_t at = 0; at < asked.count; at += tile_items) {
    const std::uint64_t left = asked.count - at;
    const std::uint64_t count = left < tile_items ? left : tile_items;
    load_entries<T>(keys + at, count, asked.first_index + static_cast<std::uint32_t>(at), tile_items, order, asked.tile,
                    tile_items);
    tile.reset(asked.rows);
    top_k_detail::sort_reduce_tile(tile, k, reduction);
    tile.top_k_merge(best, k);
  }
}
