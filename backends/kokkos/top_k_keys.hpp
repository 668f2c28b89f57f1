#pragma once

/// \file
/// A call's keys and results at the border between the caller's memory and the space's.

#include <utility>

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <backends/kokkos/keys.hpp>
#include <backends/kokkos/space.hpp>

namespace zenith::kokkos_backend {

template <class T>
using entry_of = top_k_detail::entry_t<top_k_detail::bits_t<T>>;

/// The call's keys where the space can read them: the caller's own memory, or a copy when the space has its own.
template <class T>
class call_keys {
 public:
  explicit call_keys(const top_k_call& call)
      : mirror_(allocating(
            "a copy of the keys",
            [&] { return Kokkos::create_mirror_view_and_copy(memory{}, caller_keys(call), "zenith::top_k keys"); })),
        keys_(mirror_.data(), mirror_.extent(0)) {}

  [[nodiscard]] plain_keys<T> view() const { return {keys_}; }

 private:
  static host_view<const T> caller_keys(const top_k_call& call) {
    return host_view<const T>(static_cast<const T*>(call.keys), static_cast<std::size_t>(call.count));
  }

  decltype(Kokkos::create_mirror_view_and_copy(memory{}, std::declval<host_view<const T>>())) mirror_;
  borrowed<const T> keys_;
};

/// The keys as entries.
template <class Keys>
struct key_source {
  using key = typename Keys::key;

  Keys keys;
  top_k_detail::key_order<key> order;

  KOKKOS_FUNCTION entry_of<key> operator()(std::uint64_t i) const {
    return entry_of<key>::make(order.image(keys(i)), static_cast<std::uint32_t>(i));
  }
};

/// Results from entries: the input's own bits, found by index.
template <class Keys, class Index>
struct emit_results {
  using key = typename Keys::key;

  buffer<entry_of<key>> best;
  Keys keys;
  std::uint64_t first_index;
  borrowed<key> out_keys;
  borrowed<Index> out_indices;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::uint32_t index = best(i).index();
    out_keys(i) = keys(index);
    out_indices(i) = static_cast<Index>(first_index + index);
  }
};

template <class Index, class Keys>
void write_results_as(const top_k_call& call, const Keys& keys, const buffer<entry_of<typename Keys::key>>& best) {
  using T = typename Keys::key;
  const auto k = static_cast<std::size_t>(call.k);
  const host_view<T> caller_keys(static_cast<T*>(call.out_keys), k);
  const host_view<Index> caller_indices(static_cast<Index*>(call.out_indices), k);
  const auto out_keys =
      allocating("the result's keys", [&] { return Kokkos::create_mirror_view(memory{}, caller_keys); });
  const auto out_indices =
      allocating("the result's indices", [&] { return Kokkos::create_mirror_view(memory{}, caller_indices); });
  Kokkos::parallel_for("zenith::top_k::emit", range(k),
                       emit_results<Keys, Index>{best, keys, call.first_index, borrowed<T>(out_keys.data(), k),
                                                 borrowed<Index>(out_indices.data(), k)});
  space{}.fence();
  Kokkos::deep_copy(caller_keys, out_keys);
  Kokkos::deep_copy(caller_indices, out_indices);
}

/// The last phase of each strategy; nothing fails after it began to write.
template <class Keys>
void write_results(const top_k_call& call, const Keys& keys, const buffer<entry_of<typename Keys::key>>& best) {
  call.index_bytes == 4 ? write_results_as<std::uint32_t>(call, keys, best)
                        : write_results_as<std::uint64_t>(call, keys, best);
}

}  // namespace zenith::kokkos_backend
