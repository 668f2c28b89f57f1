#pragma once

/// \file
/// One worker of the filter: scans its share of the keys against a rising threshold and holds what survives.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <type_traits>

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <backends/cpu/isa/table.hpp>
#include <backends/cpu/keys.hpp>
#include <backends/cpu/scratch.hpp>
#include <backends/cpu/select.hpp>

namespace zenith::cpu_backend {

/// A call's order in the terms of the scan, which compares keys, not images.
template <class T>
class scan_order {
 public:
  using image_t = top_k_detail::bits_t<T>;

  explicit scan_order(const top_k_detail::key_order<T>& order) : order_(order) {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T infinity = std::numeric_limits<T>::infinity();
      worst_number_ = order.smallest ? infinity : -infinity;
      best_number_ = -worst_number_;
      best_image_ = order.nan_first ? static_cast<image_t>(~image_t{0}) : order.image(best_number_);
    } else {
      worst_number_ = order.key(0);
      best_number_ = order.key(static_cast<image_t>(~image_t{0}));
      best_image_ = static_cast<image_t>(~image_t{0});
    }
    worst_image_ = order.image(worst_number_);
  }

  [[nodiscard]] image_t image(T key) const { return order_.image(key); }

  /// Whether every key there is reaches this image.
  [[nodiscard]] bool takes_all(image_t threshold) const {
    return threshold == 0 || (order_.nan_first && threshold <= worst_image_);
  }
  /// Whether no key is better than this image.
  [[nodiscard]] bool is_best(image_t image) const { return image == best_image_; }

  /// A key that the scan can compare with: all keys of at least this image reach it. Between the numbers and NaN there
  /// are images that no key has, and they stand for the nearest number; what passes too many is dropped by image.
  [[nodiscard]] T threshold_key(image_t threshold) const {
    if (threshold <= worst_image_) return worst_number_;
    return threshold >= order_.image(best_number_) ? best_number_ : order_.key(threshold);
  }

  /// A key that never reaches a threshold above `takes_all`.
  [[nodiscard]] T worst_key() const {
    if constexpr (std::is_floating_point_v<T>) {
      if (!order_.nan_first) return std::numeric_limits<T>::quiet_NaN();
    }
    return worst_number_;
  }

  [[nodiscard]] scan_function variant(const scan_variants& of) const {
    if (order_.smallest) return order_.nan_first ? of.smallest_nan_first : of.smallest;
    return order_.nan_first ? of.largest_nan_first : of.largest;
  }

 private:
  top_k_detail::key_order<T> order_;
  T worst_number_;
  T best_number_;
  image_t worst_image_;
  image_t best_image_;
};

template <class T, class Keys>
class collector {
 public:
  using image_t = top_k_detail::bits_t<T>;
  using entry = top_k_detail::entry_t<image_t>;

  /// Holds at most k + spare entries between selections.
  collector(std::pmr::memory_resource& memory, const isa_table& isa, const Keys& keys, const scan_order<T>& order,
            std::size_t k, std::size_t spare)
      : keys_(keys),
        order_(order),
        k_(k),
        full_(k + spare),
        staged_keys_(memory, staging + most_tile_items),
        staged_indices_(memory, staging + most_tile_items),
        entries_(memory, k + spare + staging),
        spare_(memory, k + spare + staging + spare_slack),
        selector_(isa, spare_.data()) {}

  /// Considers keys [begin, end). Ranges must come by rising index: that is what breaks ties.
  void scan(std::uint64_t begin, std::uint64_t end) {
    while (begin < end && !exhausted_) {
      if (order_.takes_all(threshold_)) {
        begin = take(begin, end);
      } else {
        const T threshold = order_.threshold_key(threshold_);
        const T worst = order_.worst_key();
        const auto seen = keys_.scan({.threshold = &threshold,
                                      .worst = &worst,
                                      .out_keys = staged_keys_.data(),
                                      .out_indices = staged_indices_.data(),
                                      .capacity = staging},
                                     begin, end);
        append_staged(seen.appended);
        begin += seen.consumed;
      }
      if (count_ >= full_) select();
    }
  }

  /// Drops what k others are better than, where that is more than half of the entries: one selects them at the end.
  void keep_best() {
    if (count_ > 2 * k_) select();
  }

  /// Others hold k entries at least as good as this image: what is worse need not be looked at.
  void raise(image_t image) { threshold_ = std::max(threshold_, image); }

  /// An image that k of the entries reach; 0 until the first selection.
  [[nodiscard]] image_t floor() const { return floor_; }
  [[nodiscard]] std::span<entry> entries() const { return {entries_.data(), count_}; }
  [[nodiscard]] std::uint64_t survivors() const { return survivors_; }

  /// The `rank`-th best of the entries (from 1), with the better ones before it; worse than all when there are fewer.
  [[nodiscard]] entry nth_best(std::size_t rank) {
    if (count_ < rank) return entry::worst();
    selector_.select(entries(), rank);
    return entries_[rank - 1];
  }

  /// Drops what is worse than `least`, which is no better than the last of the `rank` entries that were brought to the
  /// front.
  void keep(std::size_t rank, const entry& least) {
    if (count_ > rank) count_ = rank + selector_.partition(entries().subspan(rank), least);
  }

 private:
  static constexpr std::size_t staging = Keys::staging;

  std::uint64_t take(std::uint64_t begin, std::uint64_t end) {
    end = std::min(end, begin + (full_ - count_));
    keys_.for_each(begin, end, [&](std::uint64_t i, T key) {
      entries_[count_++] = entry::make(order_.image(key), static_cast<std::uint32_t>(i));
    });
    survivors_ += end - begin;
    return end;
  }

  // A scan compares keys, so some of what it lets through may be worse than the threshold's image.
  void append_staged(std::uint64_t staged) {
    for (std::uint64_t i = 0; i < staged; ++i) {
      const auto image = order_.image(staged_keys_[i]);
      entries_[count_] = entry::make(image, staged_indices_[i]);
      count_ += static_cast<std::size_t>(image >= threshold_);
    }
    survivors_ += staged;
  }

  void select() {
    selector_.select(entries(), k_);
    count_ = k_;
    floor_ = entries_[k_ - 1].image();
    // a later item that equals the worst of the k has a higher index, and loses
    exhausted_ = order_.is_best(floor_);
    if (!exhausted_) threshold_ = std::max(threshold_, static_cast<image_t>(floor_ + 1));
  }

  const Keys& keys_;
  const scan_order<T>& order_;
  std::size_t k_;
  std::size_t full_;
  scratch<T> staged_keys_;
  scratch<std::uint32_t> staged_indices_;
  scratch<entry> entries_;
  scratch<entry> spare_;
  selector<entry> selector_;
  std::size_t count_ = 0;
  std::uint64_t survivors_ = 0;
  image_t threshold_ = 0;
  image_t floor_ = 0;
  bool exhausted_ = false;
};

}  // namespace zenith::cpu_backend
