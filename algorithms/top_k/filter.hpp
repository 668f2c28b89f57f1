#pragma once

/// \file
/// Strategy "filter": one read of the data against a threshold, once for every device and source.
///
///   1. sample    a strided, jittered sample of the whole input; the bound is an order statistic of it that lets at
///   least
///                k items through but for bad luck, and few more (`filter_plan`);
///   2. scan      every tile: keep the items that reach the bound, with their indices. Where a worker selects its k
///   best
///                when its buffer is full, the bound rises;
///   3. finish    select k among the survivors, sort them, write them;
///   4. refine    only when the sample misled: fewer than k survived, or more than the collection holds. Histograms of
///   the
///                entries' digits find a bound that is good enough, one read a digit, and 2 runs once more.
///
/// Where the request has a least image, 2 tests for that too: if most items are as bad as can be, so is the sample's
/// bound, and all of them would reach it.
///
/// The bound is an entry, key and index, so of equal keys no more pass than of different ones: data that is all equal
/// costs one read too. Complexity: one read on all but adversarial input; at most 2 + d + i, where d and i are the
/// numbers of 11-bit digits of a key and of an index, and mostly 3.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <algorithms/top_k/filter_kernels.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::top_k_detail {

template <class Source>
struct filter {
  using key = typename Source::key;
  using entry = source_entry<Source>;
  template <bool Smallest, bool NanFirst>
  using order = scan_order<key, Smallest, NanFirst>;

  template <bool Smallest>
  using scans = std::conditional_t<
      std::is_floating_point_v<key>,
      device::list<scan_source<Source, order<Smallest, false>>, scan_source<Source, order<Smallest, true>>>,
      device::list<scan_source<Source, order<Smallest, false>>>>;
  using kernels =
      device::concat<scans<false>, std::conditional_t<image_source<Source>, device::list<>, scans<true>>,
                     device::list<draw_sample<Source>, count_image_digits<Source>, count_index_digits<Source>>,
                     result_kernels<Source>>;

  /// Returns how many were found: k, unless there is a least image. Then it waits.
  template <device::device_context Context>
  static u64 run(Context& on, const Source& source, const selection_request<key>& asked) {
    if constexpr (!image_source<Source>) {
      if (asked.smallest) return with_direction<true>(on, source, asked);
    }
    return with_direction<false>(on, source, asked);
  }

 private:
  template <bool Smallest, class Context>
  static u64 with_direction(Context& on, const Source& source, const selection_request<key>& asked) {
    if constexpr (std::is_floating_point_v<key>) {
      if (asked.nan_first) return phases<order<Smallest, true>>(on, source, asked);
    }
    return phases<order<Smallest, false>>(on, source, asked);
  }

  template <class Order, class Context>
  static u64 phases(Context& on, const Source& source, const selection_request<key>& asked) {
    const u64 n = source.size();
    const auto images = Order::images();
    const auto plan = Context::samples_broadly ? plan_broad_filter(n, asked.k, Context::most_samples)
                                               : plan_filter(n, asked.k, Context::most_samples);
    const u64 capacity = capacity_for(plan, n, asked.k);
    const auto survivors = on.template collect<entry>(n, asked.k, capacity);
    auto* const found = on.template buffer<narrowed_bound>(1);
    auto* const bins = on.template buffer<u32>(digit_bins);
    on.fill_zero(found, 1);

    if (plan.samples > 0) {  // 1. sample
      auto* const sample = on.template buffer<entry>(plan.samples);
      on.for_each(plan.samples, draw_sample<Source>{source, images, plan.samples, sample});
      on.kth_best(sample, plan.samples, plan.rank, survivors.bound);
    }
    const scan_source<Source, Order> scan{source, survivors, asked.least_image};
    on.for_tiles(scan);        // 2. scan
    const auto refine = [&] {  // 4. refine
      on.for_each(1, begin_narrowing{found, n, asked.k});
      const u64 most = std::min<u64>(survivors.capacity, std::max<u64>(capacity, 4 * asked.k));
      for (unsigned pass = 0; pass < digit_place<entry>::passes; ++pass) {
        on.when(is_too_wide{found, most}, [&] {
          const digit_place<entry> place{pass};
          on.for_each(digit_bins, clear_bins{bins});
          if (place.is_of_index()) {
            on.for_each(n, count_index_digits<Source>{source, images, found, bins, place});
          } else {
            on.for_tiles(count_image_digits<Source>{source, images, found, bins, place});
          }
          on.for_each(1, choose_digit<entry>{found, bins, place});
        });
      }
      on.for_each(1, set_bound<entry>{found, survivors});
      on.for_tiles(scan);
    };
    const misled<entry> test{survivors, asked.least_image};
    if (asked.may_wait) {
      if (on.decide(test)) refine();
    } else {
      on.when(test, refine);
    }
    const entry* const best = on.select_best(survivors, asked.k);  // 3. finish
    write_best(on, source, asked, best);
    if (asked.statistics != nullptr) report(on, asked, survivors, found);
    return asked.least_image == 0 ? asked.k : std::min<u64>(asked.k, on.read(survivors.count));
  }

  // The number of survivors is a sum of `rank` intervals between samples: its standard deviation is 1 / sqrt(rank) of
  // its mean. Eight of them above the mean are as good as never reached, and if they are, the call refines.
  static u64 capacity_for(const filter_plan& plan, u64 n, u64 k) {
    if (plan.samples == 0) return n;
    const double most = plan.expected_survivors * (1 + 8 / std::sqrt(static_cast<double>(plan.rank)));
    return static_cast<u64>(std::clamp(std::ceil(most), static_cast<double>(k), static_cast<double>(n)));
  }

  template <class Context>
  static void report(Context& on, const selection_request<key>& asked, const device::collection<entry>& survivors,
                     const narrowed_bound* found) {
    const auto narrowed = on.read(found);
    *asked.statistics = {std::string{on.variant()}, on.threads(), narrowed.inside == 0 ? 1 : u64{2} + narrowed.passes,
                         u64{on.read(survivors.count)}};
  }
};

/// Kernels that do not know the source, by width of the key.
template <class Entry>
using filter_width_kernels = device::list<choose_digit<Entry>, set_bound<Entry>>;
using filter_common_kernels =
    device::concat<device::list<begin_narrowing, clear_bins>, filter_width_kernels<ordered::entry32>,
                   filter_width_kernels<ordered::entry64>>;

}  // namespace zenith::top_k_detail
