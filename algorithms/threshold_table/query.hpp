#pragma once

/// \file
/// A query on a device: the table's parts where kernels can read them, and the rows kept so far.

#include <algorithm>
#include <array>
#include <span>

#include <algorithms/threshold_table/finish.hpp>
#include <algorithms/threshold_table/lists.hpp>
#include <core/device/context.hpp>

namespace zenith::threshold_table_family {

/// What all strategies need of a query. For `selection::smallest` all weights change their sign: so does every product
/// and every sum, exactly, and the smallest score becomes the largest.
template <class T, class Context>
class query {
 public:
  using value = value_of<T>;
  using score = score_of<T>;
  using entry = entry_of<T>;

  query(Context& on, const threshold_table_call& call) : query(on, call, weights_of(call)) {}
  /// By what `scored` says of the columns, which are still to be said.
  query(Context& on, const threshold_table_call& call, const columns_of<T>& scored)
      : on_(on),
        call_(call),
        layout_(*call.layout),
        scored_(scored),
        events_(on.template zeroed<u64>(event_count)),
        least_(on.template zeroed<entry>(1)),  // the worst entry
        kept_count_(on.template zeroed<u32>(1)),
        rows_{scored, nullptr, nullptr, call.result.nan_first} {
    rows_.begins = part<u32>(layout_.begins, layout_.of_blocks.count + 1);
    rows_.scored.count = layout_.rows;
    rows_.scored.columns = call_.column_count;
  }
  /// Has all rows where kernels can read them, or leaves those of a table on the host to `fetch`.
  void see_rows() {
    rows_.ids = part<u32>(layout_.ids, layout_.rows);
    for (unsigned j = 0; j < call_.column_count; ++j) rows_.scored.column[j] = part<value>(values_at(j), layout_.rows);
  }
  [[nodiscard]] bool fetches_rows() const { return call_.rows != nullptr && !call_.maps_rows; }
  /// Pieces of so many rows of the table on the host, from these positions on, one piece behind the other.
  [[nodiscard]] rows_of<T> fetch(const u32* positions, u64 pieces, u64 length) {
    auto* const ids = on_.template buffer<u32>(pieces * length);
    const auto of_ids = device::fetched_array::of(ids, host_part<u32>(layout_.ids), layout_.rows);
    return {fetch_values(positions, pieces, length, &of_ids), ids, rows_.begins, rows_.nan_first};
  }

  [[nodiscard]] const threshold_layout& layout() const { return layout_; }
  [[nodiscard]] u64 k() const { return call_.result.k; }
  [[nodiscard]] const rows_of<T>& rows() const { return rows_; }
  /// k rows are not worse than this. The worst entry before that is known.
  [[nodiscard]] entry* least() const { return least_; }
  [[nodiscard]] open_counters counters() const { return {event(0), event(1)}; }
  [[nodiscard]] device::event_counter tuples() const { return event(2); }
  void count_bounds(u64 more) { bounds_evaluated_ += more; }
  void count_round() { ++rounds_; }
  /// One launch that evaluated all rows.
  void count_scan() {
    ++rounds_;
    scanned_ += layout_.rows;
  }

  template <class X>
  [[nodiscard]] const X* part(u64 offset, u64 count) {
    if (call_.rows != nullptr && offset < layout_.begins) {
      if (call_.maps_rows) return host_part<X>(offset);
      return on_.input(host_part<X>(offset), count, memory_space::host);
    }
    return on_.input(reinterpret_cast<const X*>(call_.table + offset), count, call_.space);
  }

  [[nodiscard]] bounds_of<T> bounds(const extremes_layout& of) {
    bounds_of<T> all{weighted(of.count), weighted(of.count), nullptr, nullptr, 0, rows_.nan_first};
    for (unsigned j = 0; j < call_.column_count; ++j) {
      bool rises = true;
      if constexpr (scoring<T>::is_weighted_sum) rises = scored_.weight[j] > 0;
      const u64 column = call_.columns[j] * of.stride * sizeof(value);
      all.upper.column[j] = part<value>((rises ? of.maxima : of.minima) + column, of.count);
      if (all.nan_first) all.lower.column[j] = part<value>((rises ? of.minima : of.maxima) + column, of.count);
      all.used |= u64{1} << call_.columns[j];
    }
    if (all.nan_first || !scoring<T>::is_weighted_sum) all.nans = part<u64>(of.nans, of.count);
    all.first_ids = part<u32>(of.first_ids, of.count);
    return all;
  }

  /// Capacity for so many more rows.
  [[nodiscard]] kept_rows<T> keep(u64 more) {
    ++rounds_;
    if (held_ + more > capacity_) {
      entry* const wider = on_.template buffer<entry>(held_ + more);
      on_.copy(wider, static_cast<const entry*>(kept_), held_);
      kept_ = wider;
      capacity_ = held_ + more;
    }
    return {kept_, kept_count_, static_cast<u32>(std::min<u64>(capacity_, ~u32{0}))};
  }
  /// Reads how many rows are kept, and raises `least`.
  void look() {
    held_ = on_.read(static_cast<const u32*>(kept_count_));
    if (held_ < k()) return;
    rank();
    // entries differ: k of them are not worse than the k-th best
    if (held_ > 2 * k() + most_held) thin();
  }
  /// Memory for an entry of every row, all of which are kept.
  [[nodiscard]] entry* keep_all() {
    ++rounds_;
    held_ = layout_.rows;
    capacity_ = held_;
    kept_ = on_.template buffer<entry>(held_);
    return kept_;
  }
  /// Raises `least` to the k-th best of the kept rows.
  void rank() { on_.kth_best(kept_, held_, k(), least_); }

  /// Writes the k best of the kept rows, and ends the call.
  void finish() {
    constexpr u64 few = 1 << 16;
    if (held_ <= few) return finish(on_.select_best(kept_, held_, k()));
    auto survivors = on_.template collect<entry>(held_, k(), held_);
    auto* const images = on_.template buffer<typename entry::image_t>(held_);
    on_.for_each(held_, split_images<entry>{kept_, images});
    on_.copy(survivors.bound, static_cast<const entry*>(least_), 1);
    on_.for_tiles(collect_entries<entry>{{images, held_}, kept_, survivors});
    finish(on_.select_best(survivors, k()));
  }
  /// The same of the k best rows, best first.
  void finish(const entry* best) {
    if (rows_.ids == nullptr) {
      // the rows were fetched, and are fetched again
      auto* const list = on_.template buffer<u32>(k());
      auto* const found = on_.template buffer<u32>(k());
      on_.for_each(k(), list_ids<entry>{best, list});
      const std::array positions{device::fetched_array::of(found, host_part<u32>(layout_.positions), layout_.id_limit)};
      on_.fetch(positions, list, k(), 1);
      write(fetch_values(found, k(), 1), nullptr, best);
    } else {
      write(rows_.scored, part<u32>(layout_.positions, layout_.id_limit), best);
    }
    end();
  }
  /// The same where a kernel finds them: use(writer), and writer.write(i, entry) is for the i-th best row.
  template <class Use>
  void finish_by(const Use& use) {
    with_writer(rows_.scored, part<u32>(layout_.positions, layout_.id_limit), nullptr, use);
    end();
  }

  /// The score of so many items, whose columns are still to be said.
  [[nodiscard]] columns_of<T> weighted(u64 count) const {
    auto of = scored_;
    of.count = count;
    of.columns = call_.column_count;
    return of;
  }
  /// The sorted lists of the table, or new ones when it has none.
  [[nodiscard]] sorted_lists<T> lists() {
    sorted_lists<T> all{};
    all.scored = rows_.scored;
    const u64 n = layout_.rows;
    auto* const images = call_.lists == nullptr ? on_.template buffer<ordered::bits_t<T>>(n) : nullptr;
    for (unsigned j = 0; j < call_.column_count; ++j) {
      if (call_.lists != nullptr) {
        all.order[j] = on_.input(call_.lists + call_.columns[j] * n, n, call_.space);
        continue;
      }
      auto* const order = on_.template buffer<u32>(n);
      on_.for_each(n, list_values<T>{all.scored.column[j], images, order});
      on_.sort_pairs(images, order, n);
      all.order[j] = order;
    }
    return all;
  }

 private:
  static constexpr u64 event_count = 3;
  static constexpr u64 most_held = 4096;

  [[nodiscard]] u64 values_at(unsigned j) const {
    return layout_.values + call_.columns[j] * layout_.row_stride * sizeof(value);
  }
  template <class X>
  [[nodiscard]] const X* host_part(u64 offset) const {
    return reinterpret_cast<const X*>(call_.rows + offset);
  }
  /// Keeps the k best of the kept rows alone, so that later rounds rank few.
  void thin() {
    entry* const all = kept_;
    kept_ = on_.template buffer<entry>(capacity_);
    on_.fill_zero(kept_count_, 1);
    on_.for_each(held_, keep_best<entry>{all, least_, {kept_, kept_count_, static_cast<u32>(k())}});
    held_ = k();
  }
  /// The best rows as the caller wants them.
  void write(const columns_of<T>& scored, const u32* positions, const entry* best) {
    with_writer(scored, positions, best, [&](const auto& writer) { on_.for_each(call_.result.k, writer); });
  }
  template <class Use>
  void with_writer(columns_of<T> scored, const u32* positions, const entry* best, const Use& use) {
    const auto& asked = call_.result;
    if constexpr (scoring<T>::is_weighted_sum) {
      if (asked.select == selection::smallest) negate(scored);
    }
    auto* const scores = on_.output(static_cast<score*>(asked.out_keys), asked.k, asked.space);
    if (asked.index_bytes == 4) {
      auto* const to = on_.output(static_cast<std::uint32_t*>(asked.out_indices), asked.k, asked.space);
      use(write_rows<T, std::uint32_t>{scored, positions, best, scores, to});
    } else {
      auto* const to = on_.output(static_cast<std::uint64_t*>(asked.out_indices), asked.k, asked.space);
      use(write_rows<T, std::uint64_t>{scored, positions, best, scores, to});
    }
  }
  void end() {
    if (call_.statistics != nullptr) {
      *call_.statistics = {scanned_ + on_.read(static_cast<const u64*>(events_)),
                           on_.read(static_cast<const u64*>(events_ + 1)),
                           bounds_evaluated_ + on_.read(static_cast<const u64*>(events_ + 2)), rounds_};
    }
    on_.finish();
  }
  /// The weighted columns of the pieces, and pieces of another array in the same fetch.
  [[nodiscard]] columns_of<T> fetch_values(const u32* positions, u64 pieces, u64 length,
                                           const device::fetched_array* other = nullptr) {
    auto fetched = weighted(pieces * length);
    std::array<device::fetched_array, most_table_columns + 1> arrays;
    std::size_t count = 0;
    if (other != nullptr) arrays[count++] = *other;
    for (unsigned j = 0; j < call_.column_count; ++j) {
      auto* const column = on_.template buffer<value>(pieces * length);
      arrays[count++] = device::fetched_array::of(column, host_part<value>(values_at(j)), layout_.rows);
      fetched.column[j] = column;
    }
    on_.fetch(std::span(arrays.data(), count), positions, pieces, length);
    return fetched;
  }
  [[nodiscard]] static columns_of<T> weights_of(const threshold_table_call& call) {
    columns_of<T> of{};
    of.columns = call.column_count;
    for (unsigned j = 0; j < of.columns; ++j) of.weight[j] = static_cast<const score*>(call.weights)[j];
    if (call.result.select == selection::smallest) negate(of);
    return of;
  }
  static void negate(columns_of<T>& of) {
    for (unsigned j = 0; j < of.columns; ++j) of.weight[j] = -of.weight[j];
  }
  [[nodiscard]] device::event_counter event(u64 which) const {
    return {call_.statistics == nullptr ? nullptr : events_ + which};
  }

  Context& on_;
  const threshold_table_call& call_;
  const threshold_layout& layout_;
  columns_of<T> scored_;
  u64* events_;
  entry* least_;
  u32* kept_count_;
  entry* kept_ = nullptr;
  u64 held_ = 0;
  u64 capacity_ = 0;
  u64 rounds_ = 0;
  u64 bounds_evaluated_ = 0;
  u64 scanned_ = 0;  ///< rows
  rows_of<T> rows_;
};

}  // namespace zenith::threshold_table_family
