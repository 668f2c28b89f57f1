// The filter's scan over register tiles. Included by a unit that is compiled for one instruction set, inside its
// namespace.

/// Whether a key reaches the threshold. Under `NanFirst` an unordered comparison keeps, otherwise it drops.
template <class T, bool Smallest, bool NanFirst>
struct reaches {
  xsimd::batch<T, arch> threshold;

  ZENITH_FN auto operator()(const xsimd::batch<T, arch>& keys) const {
    if constexpr (NanFirst) {
      return Smallest ? !(keys > threshold) : !(keys < threshold);
    } else {
      return Smallest ? keys <= threshold : keys >= threshold;
    }
  }
};

template <class T, bool Smallest, bool NanFirst>
scan_result scan_keys(const scan_request& asked) {
  using tile_type = register_tile<T>;
  const T* keys = static_cast<const T*>(asked.keys);
  const reaches<T, Smallest, NanFirst> keep{xsimd::batch<T, arch>(*static_cast<const T*>(asked.threshold))};
  tile_type tile(keys, asked.first_index, *static_cast<const T*>(asked.worst));
  survivor_sink<T> sink{static_cast<T*>(asked.out_keys), asked.out_indices, 0};
  const std::uint64_t limit = asked.capacity < tile_type::size ? 0 : asked.capacity - tile_type::size;

  std::uint64_t at = 0;
  for (; at + tile_type::size <= asked.count && sink.count <= limit; at += tile_type::size) {
    top_k_detail::filter_tile(tile, keys + at, tile_type::size, keep, sink);
  }
  if (at < asked.count && at + tile_type::size > asked.count && sink.count <= limit) {
    top_k_detail::filter_tile(tile, keys + at, static_cast<unsigned>(asked.count - at), keep, sink);
    at = asked.count;
  }
  return {at, sink.count};
}

template <class T>
constexpr scan_variants scans_of() {
  if constexpr (std::is_floating_point_v<T>) {
    return {scan_keys<T, false, false>, scan_keys<T, false, true>, scan_keys<T, true, false>, scan_keys<T, true, true>};
  } else {
    return {scan_keys<T, false, false>, scan_keys<T, false, false>, scan_keys<T, true, false>,
            scan_keys<T, true, false>};
  }
}

std::int32_t maximum(const std::int32_t* values, std::uint64_t count) {
  using batch = xsimd::batch<std::int32_t, arch>;
  constexpr unsigned unroll = 8;
  constexpr unsigned step = batch::size * unroll;
  batch best[unroll];
  for (auto& one : best) one = batch(INT32_MIN);
  std::uint64_t at = 0;
  for (; at + step <= count; at += step) {
    for (unsigned i = 0; i < unroll; ++i) {
      if (i * sizeof(batch) % 64 == 0) prefetch_ahead(values + at + i * batch::size);
      best[i] = xsimd::max(best[i], batch::load_unaligned(values + at + i * batch::size));
    }
  }
  for (unsigned i = 1; i < unroll; ++i) best[0] = xsimd::max(best[0], best[i]);
  std::int32_t lanes[batch::size];
  best[0].store_unaligned(lanes);
  std::int32_t found = INT32_MIN;
  for (const auto lane : lanes) found = lane > found ? lane : found;
  for (; at < count; ++at) found = values[at] > found ? values[at] : found;
  return found;
}
