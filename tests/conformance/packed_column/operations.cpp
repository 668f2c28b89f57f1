#include <operations.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include <check.hpp>
#include <guarded.hpp>
#include <zenith/array.hpp>
#include <zenith/backend.hpp>
#include <zenith/error.hpp>

namespace conformance::packed {

using zenith_test::guarded;

std::string describe(const manner& one) {
  std::string text{zenith::to_string(one.kind)};
  if (one.kind == zenith::encoding::vertical || one.kind == zenith::encoding::automatic) {
    text += " lanes=" + std::to_string(one.lanes);
  }
  return text + (one.patches ? "" : " without patches");
}

template <class T>
std::string sample<T>::describe() const {
  return std::string{zenith::to_string(zenith::key_type_of<T>)} + " " + plain_.name() +
         " n=" + std::to_string(values().size()) + " " + packed::describe(manner_) +
         " offset=" + std::to_string(offset_) + (is_scribbled_ ? " with scribbles" : "");
}

std::string_view strategy_of(const zenith_test::target& on, std::string_view operation) {
  const auto& kernels = zenith::find_backend(on.on.backend()).kernels;
  const auto found = std::ranges::find(kernels, operation, &zenith::kernel::operation);
  return found == kernels.end() ? std::string_view{} : found->strategy;
}

namespace {

constexpr std::string_view name_of(placement where) {
  constexpr std::string_view names[] = {"host column", "device column", "device column and outputs"};
  return names[static_cast<std::size_t>(where)];
}

template <class T>
struct bounds {
  T low;
  T high;
};

/// What became of one call.
struct outcome {
  zenith::packed_statistics statistics;
  bool ran = false;  // whether a kernel ran that reports itself
};

/// The checks of what packs: they know no column, and are compiled once.
template <class T>
class packing_checker {
 public:
  packing_checker(const zenith_test::target& on, sample<T>& data, placement where, outcome& seen)
      : on_(on), data_(data), values_(data.values()), where_(where), seen_(seen) {}

  std::string check_pack() {
    const auto& as = data_.packed_as();
    seen_.ran = true;
    if (where_ == placement::device) {
      const zenith::array<T> there(on_.on, values_);
      return same_bytes(zenith::pack(on_.on, there.device(), as.kind, as.options(&seen_.statistics)));
    }
    return same_bytes(zenith::pack(on_.on, values_, as.kind, as.options(&seen_.statistics)));
  }

  // Into memory whose every bit was set, and once more into what then holds this column.
  std::string check_pack_into() {
    const auto& as = data_.packed_as();
    const std::vector<T> ones(data_.view().bytes().size() / sizeof(T), static_cast<T>(-1));
    auto column = zenith::pack(zenith::reference(), ones, zenith::encoding::plain);
    const auto* const memory = column.bytes().data();
    const auto once = [&]() -> std::string {
      seen_.ran = true;
      if (where_ == placement::device) {
        const zenith::array<T> there(on_.on, values_);
        zenith::pack_into(on_.on, there.device(), column, as.kind, as.options(&seen_.statistics));
      } else {
        zenith::pack_into(on_.on, values_, column, as.kind, as.options(&seen_.statistics));
      }
      if (column.bytes().data() != memory) return "memory that suffices was not used again";
      return same_bytes(column);
    };
    if (auto fault = once(); !fault.empty()) return fault;
    return once();
  }

  // Fresh, and then over a longer and a shorter column into the same memory.
  std::string check_pack_on_device() {
    const auto& as = data_.packed_as();
    const zenith::array<T> there(on_.on, values_);
    zenith::packed_device_column<T> column;
    const auto fault_of = [&]() -> std::string {
      const auto& layout = column.layout();
      const auto& expected = data_.view().layout();
      if (layout.total_bytes != expected.total_bytes || layout.type != expected.type) return "the layout differs";
      if (layout.one_width != expected.one_width) return "the layout's width differs";
      if (zenith::sum(on_.on, column) != zenith::sum(zenith::reference(), data_.view())) return "the sum differs";
      return same_bytes(column.to_host());
    };
    seen_.ran = true;
    if (where_ == placement::host) {
      column = zenith::packed_device_column<T>::pack(on_.on, values_, as.kind, as.options(&seen_.statistics));
    } else {
      column = zenith::packed_device_column<T>::pack(on_.on, there.device(), as.kind, as.options(&seen_.statistics));
    }
    if (auto fault = fault_of(); !fault.empty()) return fault;
    const std::vector<T> ones(values_.size() + 40, static_cast<T>(-1));
    zenith::pack_into(on_.on, ones, column, zenith::encoding::plain);
    const auto* const memory = column.layout().bytes;
    zenith::pack_into(on_.on, there.device(), column, as.kind, as.options(&seen_.statistics));
    if (column.layout().bytes != memory && data_.view().bytes().size() <= ones.size() * sizeof(T)) {
      return "memory that suffices was not used again";
    }
    return fault_of();
  }

 private:
  std::string same_bytes(const zenith::packed_column<T>& made) {
    const auto expected = data_.view().bytes();
    const auto seen = made.bytes();
    if (reinterpret_cast<std::uintptr_t>(seen.data()) % 64 != 0) return "the bytes are not aligned";
    if (made.encoding() != data_.view().encoding() || made.size() != values_.size()) {
      return "made " + std::to_string(made.size()) + " values of " + std::string{zenith::to_string(made.encoding())} +
             ", expected " + std::string{zenith::to_string(data_.view().encoding())};
    }
    if (seen.size() != expected.size()) {
      return "made " + std::to_string(seen.size()) + " bytes, expected " + std::to_string(expected.size());
    }
    // the header's checksum differs wherever any byte does
    constexpr std::size_t header = sizeof(zenith::packed_header);
    const auto [at, other] =
        std::mismatch(seen.begin() + header, seen.end(), expected.begin() + static_cast<std::ptrdiff_t>(header));
    if (at != seen.end()) {
      return "byte " + std::to_string(at - seen.begin()) + " of " + std::to_string(seen.size()) + " is " +
             std::to_string(std::to_integer<int>(*at)) + ", expected " + std::to_string(std::to_integer<int>(*other));
    }
    return std::ranges::equal(seen, expected) ? "" : "the header differs";
  }

  const zenith_test::target& on_;
  sample<T>& data_;
  std::span<const T> values_;
  placement where_;
  outcome& seen_;
};

// Column is how the packed bytes reach the call.
template <class T, class Column>
class checker {
 public:
  checker(const zenith_test::target& on, sample<T>& data, const Column& column, placement where, random_source& random)
      : on_(on), data_(data), values_(data.values()), column_(column), where_(where), random_(random) {}

  std::string run() {
    const auto count = values_.size();
    packing_checker<T> packing(on_, data_, where_, seen_);
    if (offers(on_, "pack") && !data_.is_scribbled()) {
      attempt("pack", [&] { return packing.check_pack(); });
      attempt("pack_into", [&] { return packing.check_pack_into(); });
    }
    if (offers(on_, "pack_on_device") && !data_.is_scribbled()) {
      attempt("pack on the device", [&] { return packing.check_pack_on_device(); });
    }
    if (offers(on_, "unpack")) {
      attempt("unpack", [&] { return check_unpack(0, count); });
      for (int repeat = 0; repeat < 2; ++repeat) {
        const auto first = random_() % (count + 1);
        const auto some = random_() % (count - first + 1);
        attempt("unpack from " + std::to_string(first) + " on " + std::to_string(some),
                [&] { return check_unpack(first, some); });
      }
    }
    if (offers(on_, "packed_sum")) attempt("sum", [&] { return check_sum(); });
    if (offers(on_, "packed_extremes")) attempt("extremes", [&] { return check_extremes(); });
    if (offers(on_, "packed_select")) {
      for (int repeat = 0; repeat < 2; ++repeat) {
        const auto within = some_bounds();
        const auto text = " of " + std::to_string(within.low) + " to " + std::to_string(within.high);
        attempt("select_bitmap" + text, [&] { return check_bitmap(within); });
        attempt("select_indices" + text, [&] { return check_some_indices(within); });
      }
    }
    if (offers(on_, "packed_top_k")) {
      for (const auto select : {zenith::selection::largest, zenith::selection::smallest}) {
        const auto asked = some_request(select);
        attempt("top_k " + conformance::describe(asked), [&] {
          return asked.indices == index_kind::uint32 ? check_top_k<std::uint32_t>(asked)
                                                     : check_top_k<std::uint64_t>(asked);
        });
      }
    }
    return std::move(faults_);
  }

 private:
  void attempt(const std::string& what, const std::function<std::string()>& check) {
    std::string fault;
    seen_ = {};
    try {
      fault = check();
      if (fault.empty() && !values_.empty() && seen_.ran && seen_.statistics.variant.empty()) {
        fault = "does not say in its statistics what ran";
      }
    } catch (const zenith::error& thrown) {
      fault = std::string{"threw: "} + thrown.what();
    } catch (const std::exception& thrown) {
      fault = std::string{"threw something else than zenith::error: "} + thrown.what();
    }
    if (!data_.is_untouched()) {
      if (fault.empty()) fault = "the values or the packed bytes were written";
      data_.restore();
    }
    if (fault.empty()) return;
    faults_ += (faults_.empty() ? "" : "\n    ") + std::string{name_of(where_)} + ", " + what + ": " + fault;
  }

  [[nodiscard]] zenith::packed_options options() { return {.statistics = &seen_.statistics}; }

  // Calls with the memory between the guards, or with as much on the device that is copied back.
  template <class U, class Call>
  void into(guarded<U>& out, Call&& call) {
    if (where_ != placement::device) return call(out.span());
    zenith::array<U> all(on_.on, std::span<const U>(out.all()));
    std::exception_ptr thrown;
    try {
      call(all.device().subspan(guarded<U>::margin, out.span().size()));
    } catch (...) {
      thrown = std::current_exception();
    }
    on_.on.synchronize();
    all.copy_to(out.all());
    if (thrown) std::rethrow_exception(thrown);
  }

  std::string check_unpack(std::uint64_t first, std::size_t count) {
    guarded<T> out(count);
    seen_.ran = count > 0;
    into(out, [&](auto to) {
      if (first == 0 && count == values_.size()) {
        zenith::unpack(on_.on, column_, to, options());
      } else {
        zenith::unpack(on_.on, column_, first, to, options());
      }
    });
    if (!out.guards_stand()) return "wrote outside the output";
    const auto expected = values_.subspan(first, count);
    const auto [at, other] = std::ranges::mismatch(out.span(), expected);
    if (other == expected.end()) return {};
    return "value " + std::to_string(other - expected.begin()) + " is " + std::to_string(*at) + ", expected " +
           std::to_string(*other);
  }

  std::string check_sum() {
    using sum_type = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    std::uint64_t expected = 0;
    for (const T value : values_) expected += static_cast<std::uint64_t>(static_cast<sum_type>(value));
    seen_.ran = true;
    const auto seen = zenith::sum(on_.on, column_, options());
    static_assert(std::is_same_v<decltype(seen), const sum_type>);
    if (static_cast<std::uint64_t>(seen) == expected) return {};
    return "is " + std::to_string(seen) + ", expected " + std::to_string(static_cast<sum_type>(expected));
  }

  std::string check_extremes() {
    seen_.ran = true;
    for (const bool least : {true, false}) {
      const auto call = [&] {
        return least ? zenith::minimum(on_.on, column_, options()) : zenith::maximum(on_.on, column_, options());
      };
      const std::string name = least ? "minimum" : "maximum";
      if (values_.empty()) {
        try {
          const T seen = call();
          return name + " of no values is " + std::to_string(seen);
        } catch (const zenith::error& thrown) {
          if (thrown.code() != zenith::error_code::invalid_argument) throw;
        }
        continue;
      }
      const T expected = least ? *std::ranges::min_element(values_) : *std::ranges::max_element(values_);
      const T seen = call();
      if (seen != expected) return name + " is " + std::to_string(seen) + ", expected " + std::to_string(expected);
    }
    return {};
  }

  [[nodiscard]] T some_value() {
    if (values_.empty() || random_() % 8 == 0) return static_cast<T>(random_());
    return values_[random_() % values_.size()];
  }

  // One of the ends of some block, or next to it, as modulo 2^bits.
  [[nodiscard]] T some_end() {
    if (values_.empty()) return some_value();
    constexpr std::size_t items = zenith::packed_block_items;
    const auto first = random_() % values_.size() / items * items;
    const auto block = values_.subspan(first, std::min(items, values_.size() - first));
    const auto [least, greatest] = std::ranges::minmax_element(block);
    using word = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<word>(random_() % 2 == 0 ? *least : *greatest) +
                          static_cast<word>(random_() % 3) - 1);
  }

  bounds<T> some_bounds() {
    using limits = std::numeric_limits<T>;
    const bool at_ends = random_() % 2 == 0;
    const T one = at_ends ? some_end() : some_value();
    const T other = at_ends && random_() % 2 == 0 ? some_end() : some_value();
    switch (random_() % 8) {
      case 0: return {limits::min(), limits::max()};
      case 1: return {one, one};
      case 2: return {limits::min(), one};
      case 3: return {one, limits::max()};
      case 4: return {std::max(one, other), std::min(one, other)};  // none, unless they are one
      case 5: return {limits::max(), limits::min()};
      default: return {std::min(one, other), std::max(one, other)};
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> matching(const bounds<T>& within) const {
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] >= within.low && values_[i] <= within.high) found.push_back(i);
    }
    return found;
  }

  std::string check_bitmap(const bounds<T>& within) {
    const auto expected = matching(within);
    guarded<std::uint64_t> words((values_.size() + 63) / 64);
    std::uint64_t matches = 0;
    seen_.ran = within.low <= within.high;
    into(words,
         [&](auto to) { matches = zenith::select_bitmap(on_.on, column_, within.low, within.high, to, options()); });
    if (!words.guards_stand()) return "wrote outside the output";
    std::vector<std::uint64_t> bits(words.span().size());
    for (const auto i : expected) bits[i / 64] |= std::uint64_t{1} << (i % 64);
    const auto [at, other] = std::ranges::mismatch(words.span(), bits);
    if (other != bits.end()) return "word " + std::to_string(other - bits.begin()) + " is wrong";
    return count_fault(matches, expected.size());
  }

  static std::string count_fault(std::uint64_t seen, std::size_t expected) {
    if (seen == expected) return {};
    return "says that " + std::to_string(seen) + " match, expected " + std::to_string(expected);
  }

  std::string check_some_indices(const bounds<T>& within) {
    switch (random_() % 4) {
      case 0: return check_indices<std::int32_t>(within);
      case 1: return check_indices<std::uint32_t>(within);
      case 2: return check_indices<std::int64_t>(within);
      default: return check_indices<std::uint64_t>(within);
    }
  }

  template <class Index>
  std::string check_indices(const bounds<T>& within) {
    const auto expected = matching(within);
    seen_.ran = within.low <= within.high;
    const auto kind = random_() % 4;
    if (kind == 0 && !expected.empty()) {
      const auto fault = check_too_few_elements<Index>(within, random_() % expected.size());
      if (!fault.empty()) return fault;
    }
    guarded<Index> indices(kind == 1 ? values_.size() + 3 : expected.size());
    std::uint64_t matches = 0;
    into(indices,
         [&](auto to) { matches = zenith::select_indices(on_.on, column_, within.low, within.high, to, options()); });
    if (!indices.guards_stand()) return "wrote outside the output";
    if (auto fault = count_fault(matches, expected.size()); !fault.empty()) return fault;
    for (std::size_t m = 0; m < expected.size(); ++m) {
      if (static_cast<std::uint64_t>(indices.span()[m]) != expected[m]) {
        return "index " + std::to_string(m) + " is " + std::to_string(indices.span()[m]) + ", expected " +
               std::to_string(expected[m]);
      }
    }
    return indices.is_unwritten_from(expected.size()) ? "" : "wrote behind the indices";
  }

  template <class Index>
  std::string check_too_few_elements(const bounds<T>& within, std::size_t capacity) {
    guarded<Index> indices(capacity);
    try {
      into(indices,
           [&](auto to) { (void)zenith::select_indices(on_.on, column_, within.low, within.high, to, options()); });
    } catch (const zenith::error& thrown) {
      if (thrown.code() != zenith::error_code::invalid_argument) throw;
      return indices.is_unwritten() ? "" : "an output was written by a call that threw";
    }
    return "did not throw with a capacity of " + std::to_string(capacity);
  }

  request some_request(zenith::selection select) {
    const auto count = values_.size();
    const std::size_t some_k[] = {0, 1, std::min<std::size_t>(17, count), random_() % (count + 1), count / 3};
    request asked;
    asked.k = std::min(some_k[random_() % std::size(some_k)], count);
    asked.select = select;
    asked.order = random_() % 4 != 0 ? zenith::ordering::sorted : zenith::ordering::any;
    asked.ties = random_() % 4 != 0 ? zenith::tie_break::lowest_index : zenith::tie_break::any;
    asked.indices = random_() % 2 == 0 ? index_kind::uint32 : index_kind::uint64;
    return asked;
  }

  template <class Index>
  std::string check_top_k(const request& asked) {
    guarded<T> keys(asked.k);
    guarded<Index> indices(asked.k);
    zenith::top_k_run run;
    into(keys, [&]<class Keys>(Keys to_keys) {
      into(indices, [&]<class Indices>(Indices to_indices) {
        // both lie in one memory, or the call is none
        if constexpr (std::is_same_v<Keys, std::span<T>> == std::is_same_v<Indices, std::span<Index>>) {
          run = zenith::top_k(on_.on, column_, to_keys, to_indices,
                              {.select = asked.select, .order = asked.order, .ties = asked.ties});
        }
      });
    });
    if (!keys.guards_stand()) return "out_keys was written outside its span";
    if (!indices.guards_stand()) return "out_indices was written outside its span";
    if (run.backend != on_.on.backend() || run.strategy != strategy_of(on_, "packed_top_k")) {
      return "says that it ran " + run.backend + " " + run.strategy;
    }
    return difference<T, Index>(data_.plain(), asked, keys.span(), indices.span());
  }

  const zenith_test::target& on_;
  sample<T>& data_;
  std::span<const T> values_;
  const Column& column_;
  placement where_;
  random_source& random_;
  outcome seen_;
  std::string faults_;
};

}  // namespace

template <class T>
std::string fault_of(const zenith_test::target& on, sample<T>& data, placement where, random_source& random) {
  if (where == placement::host) return checker(on, data, data.view(), where, random).run();
  const zenith::packed_device_column<T> there(on.on, data.view());
  return checker(on, data, there, where, random).run();
}

#define ZENITH_FAULT_OF(T)  \
  template class sample<T>; \
  template std::string fault_of<T>(const zenith_test::target&, sample<T>&, placement, random_source&);
ZENITH_FAULT_OF(std::int32_t)
ZENITH_FAULT_OF(std::uint32_t)
ZENITH_FAULT_OF(std::int64_t)
ZENITH_FAULT_OF(std::uint64_t)
#undef ZENITH_FAULT_OF

}  // namespace conformance::packed
