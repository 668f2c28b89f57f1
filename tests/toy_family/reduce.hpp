#pragma once

/// \file
/// argmin by two looks at the keys. The first raises a threshold that all teams share to the least key's image. The
/// second collects the items that reach it. There are few of them or, where keys repeat, more than a small collection
/// holds: then it looks once more with capacity for all.

#include <core/device/context.hpp>
#include <core/key_order.hpp>
#include <tests/toy_family/with_key.hpp>

namespace zenith::toy_family {

using device::u32;
using device::u64;

template <class Source>
struct start_threshold {
  using key = typename Source::key;

  Source source;
  device::running_threshold<ordered::bits_t<key>> least;

  ZENITH_FN void operator()(u64 /*i*/) const {
    least.raise(ordered::key_order<key>{true, false}.image(device::key_at(source, 0)));
  }
};

/// Hardly any tile has a key below the least so far, so hardly any is looked at item by item.
template <class Source>
struct raise_threshold {
  using key = typename Source::key;

  Source source;
  device::running_threshold<ordered::bits_t<key>> least;

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    const ordered::key_order<key> order{true, false};
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      const key limit = order.key(least.get());
      const auto flags = team.flag(items, [&](const auto& keys) ZENITH_BODY {
        using lane = std::remove_cvref_t<decltype(keys)>;
        return keys < lane(limit);
      });
      if (!team.any(flags)) return;
      team.each_item(items, [&](const auto& one) ZENITH_BODY { least.raise(order.image(static_cast<key>(one))); });
    });
  }
};

template <class Source>
struct collect_least {
  using key = typename Source::key;
  using entry = ordered::entry_t<ordered::bits_t<key>>;

  Source source;
  device::running_threshold<ordered::bits_t<key>> least;
  device::collection<entry> survivors;

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    const ordered::key_order<key> order{true, false};
    const auto image = least.get();
    const key limit = order.key(image);
    auto sink = team.open(survivors);
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      const auto flags = team.flag(items, [&](const auto& keys) ZENITH_BODY {
        using lane = std::remove_cvref_t<decltype(keys)>;
        return keys <= lane(limit);
      });
      if (!team.any(flags)) return;
      sink.append(team, items, flags, [&](u64 i) ZENITH_BODY { return entry::make(image, static_cast<u32>(i)); });
    });
    sink.close(team);
  }
};

struct lost_some {
  const u32* count;
  u32 capacity;

  ZENITH_FN bool operator()() const { return *count > capacity; }
};

template <class Source>
struct write_best {
  using key = typename Source::key;

  Source source;
  const ordered::entry_t<ordered::bits_t<key>>* best;
  u64* out_index;
  key* out_key;

  ZENITH_FN void operator()(u64 /*i*/) const {
    *out_index = best->index();
    *out_key = device::key_at(source, best->index());
  }
};

template <class Source>
using reduce_kernels_on =
    device::list<start_threshold<Source>, raise_threshold<Source>, collect_least<Source>, write_best<Source>>;
using reduce_kernels =
    device::concat<reduce_kernels_on<device::plain<float>>, reduce_kernels_on<device::plain<std::uint64_t>>>;

template <class Context>
void reduce::run(Context& on, const argmin_call& call) {
  with_key(call, [&]<class Key>(std::type_identity<Key>) {
    using image = ordered::bits_t<Key>;
    using entry = ordered::entry_t<image>;
    constexpr u64 few = 1024;

    const u64 n = call.count;
    const device::plain<Key> keys{on.input(static_cast<const Key*>(call.keys), n, call.space), n};
    u64* const out_index = on.output(call.out_index, 1, call.space);
    Key* const out_key = on.output(static_cast<Key*>(call.out_key), 1, call.space);

    const device::running_threshold<image> least{on.template buffer<image>(1)};
    on.fill_zero(least.at, 1);
    on.for_each(1, start_threshold<device::plain<Key>>{keys, least});
    on.for_tiles(raise_threshold<device::plain<Key>>{keys, least});

    auto survivors = on.template collect<entry>(n, 1, few);
    on.for_tiles(collect_least<device::plain<Key>>{keys, least, survivors});
    if (on.decide(lost_some{survivors.count, survivors.capacity})) {
      survivors = on.template collect<entry>(n, 1, n);
      on.for_tiles(collect_least<device::plain<Key>>{keys, least, survivors});
    }
    on.for_each(1, write_best<device::plain<Key>>{keys, on.select_best(survivors, 1), out_index, out_key});
    on.finish();
  });
}

}  // namespace zenith::toy_family
