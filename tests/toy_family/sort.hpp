#pragma once

/// \file
/// argmin by sorting everything: a second strategy is one file like this one, a type in family.hpp and a line in
/// strategies.hpp.

#include <core/device/context.hpp>
#include <core/key_order.hpp>
#include <tests/toy_family/with_key.hpp>

namespace zenith::toy_family {

template <class Key>
struct write_pairs {
  const Key* keys;
  ordered::bits_t<Key>* images;
  device::u32* indices;

  ZENITH_FN void operator()(device::u64 i) const {
    // in the order of largest first an image rises with its key
    images[i] = ordered::key_order<Key>{}.image(keys[i]);
    indices[i] = static_cast<device::u32>(i);
  }
};

template <class Key>
struct write_first {
  const Key* keys;
  const device::u32* indices;
  device::u64* out_index;
  Key* out_key;

  ZENITH_FN void operator()(device::u64 /*i*/) const {
    *out_index = indices[0];
    *out_key = keys[indices[0]];
  }
};

using sort_kernels =
    device::list<write_pairs<float>, write_first<float>, write_pairs<std::uint64_t>, write_first<std::uint64_t>>;

template <class Context>
void sort::run(Context& on, const argmin_call& call) {
  with_key(call, [&]<class Key>(std::type_identity<Key>) {
    const device::u64 n = call.count;
    const Key* const keys = on.input(static_cast<const Key*>(call.keys), n, call.space);
    auto* const images = on.template buffer<ordered::bits_t<Key>>(n);
    auto* const indices = on.template buffer<device::u32>(n);
    on.for_each(n, write_pairs<Key>{keys, images, indices});
    on.sort_pairs(images, indices, n);
    on.for_each(1, write_first<Key>{keys, indices, on.output(call.out_index, 1, call.space),
                                    on.output(static_cast<Key*>(call.out_key), 1, call.space)});
    on.finish();
  });
}

}  // namespace zenith::toy_family
