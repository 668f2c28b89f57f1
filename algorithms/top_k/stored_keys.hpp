#pragma once

/// \file
/// Top-k of keys that a strategy has written to its scratch memory. A context may have a word more for it than
/// core/device/context.hpp asks for:
///
///     top_k<T>(call)               operation "top_k" by the text that the backend has of its own for arrays: the keys,
///                                  which are T, and the outputs lie where kernels read and write them. Enqueued; waits
///                                  where statistics are asked for
///
/// Where there is none the filter that all backends share does it.

#include <cstdint>

#include <algorithms/top_k/strategies.hpp>
#include <core/device/source.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::top_k_family {

template <class Context, class T>
concept has_own_top_k = requires(Context& on, const top_k_call& call) {
  on.template top_k<T>(call);
};

/// The k best of asked.count keys in scratch memory; `asked.keys` is not looked at.
template <class Context, class T>
void select_from_stored(Context& on, const T* keys, const top_k_call& asked) {
  if constexpr (has_own_top_k<Context, T>) {
    auto stored = asked;
    stored.keys = keys;
    stored.space = memory_space::device;
    stored.out_keys = on.output(static_cast<T*>(asked.out_keys), asked.k, asked.space);
    if (asked.index_bytes == 4) {
      stored.out_indices = on.output(static_cast<std::uint32_t*>(asked.out_indices), asked.k, asked.space);
    } else {
      stored.out_indices = on.output(static_cast<std::uint64_t*>(asked.out_indices), asked.k, asked.space);
    }
    on.template top_k<T>(stored);
    on.finish();
  } else {
    select_from(on, device::plain<T>{keys, asked.count}, asked);
  }
}

}  // namespace zenith::top_k_family
