#pragma once

/// \file
/// One call of top_k on one target, held against the reference: results bit by bit, and what must not be touched.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <column.hpp>
#include <targets.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>

namespace conformance {

enum class index_kind { int32, uint32, int64, uint64 };

struct request {
  std::size_t k = 0;
  zenith::selection select = zenith::selection::largest;
  zenith::ordering order = zenith::ordering::sorted;
  zenith::tie_break ties = zenith::tie_break::lowest_index;
  zenith::nan_policy nans = zenith::nan_policy::last;
  index_kind indices = index_kind::uint64;
  bool on_device = false;  // through device spans
};

[[nodiscard]] inline std::string describe(const request& asked) {
  constexpr const char* policies[] = {"last", "first", "reject"};
  constexpr const char* kinds[] = {"int32", "uint32", "int64", "uint64"};
  return "k=" + std::to_string(asked.k) + (asked.select == zenith::selection::largest ? " largest" : " smallest") +
         (asked.order == zenith::ordering::sorted ? " sorted" : " any order") +
         (asked.ties == zenith::tie_break::lowest_index ? "" : " any ties") +
         " nans=" + policies[static_cast<int>(asked.nans)] + " indices=" + kinds[static_cast<int>(asked.indices)] +
         (asked.on_device ? " device spans" : "");
}

template <class T>
[[nodiscard]] std::string bits_text(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  char text[32];
  std::snprintf(text, sizeof(text), "0x%0*" PRIx64, static_cast<int>(sizeof(T)) * 2, bits);
  return text;
}

/// Room for `count` elements between two guards.
template <class T>
class guarded {
 public:
  static constexpr std::size_t margin = 32;

  explicit guarded(std::size_t count) : held_(count + 2 * margin) {
    std::memset(held_.data(), pattern, held_.size() * sizeof(T));
  }
  [[nodiscard]] std::span<T> span() { return std::span<T>(held_).subspan(margin, held_.size() - 2 * margin); }
  [[nodiscard]] std::vector<T>& all() { return held_; }

  [[nodiscard]] bool guards_stand() const {
    return is_pattern(0, margin) && is_pattern(held_.size() - margin, held_.size());
  }
  [[nodiscard]] bool is_unwritten() const { return is_pattern(0, held_.size()); }

 private:
  static constexpr unsigned char pattern = 0xa5;

  [[nodiscard]] bool is_pattern(std::size_t from, std::size_t to) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(held_.data());
    return std::all_of(bytes + from * sizeof(T), bytes + to * sizeof(T), [](unsigned char b) { return b == pattern; });
  }

  std::vector<T> held_;
};

template <class T>
[[nodiscard]] bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// The first difference between what was written and the reference; empty when there is none.
template <class T, class Index>
[[nodiscard]] std::string difference(const column<T>& input, const request& asked, std::span<const T> keys,
                                     std::span<const Index> indices) {
  const auto& best = input.ranking(asked.select, asked.nans != zenith::nan_policy::last);
  struct item {
    T key;
    std::uint64_t index;
  };
  std::vector<item> seen(asked.k);
  std::vector<item> expected(asked.k);
  for (std::size_t i = 0; i < asked.k; ++i) {
    seen[i] = {keys[i], static_cast<std::uint64_t>(indices[i])};
    expected[i] = {best.keys[i], best.indices[i]};
    if (seen[i].index >= input.count()) return "indices[" + std::to_string(i) + "] is " + std::to_string(indices[i]);
    if (!same_bits(seen[i].key, input.keys()[seen[i].index])) {
      return "keys[" + std::to_string(i) + "] is " + bits_text(seen[i].key) + ", but the input holds " +
             bits_text(input.keys()[seen[i].index]) + " at indices[" + std::to_string(i) +
             "] = " + std::to_string(seen[i].index);
    }
  }
  const auto by_index = [](const item& a, const item& b) { return a.index < b.index; };
  if (asked.ties == zenith::tie_break::any) {
    auto sorted = seen;
    std::ranges::sort(sorted, by_index);
    if (std::ranges::adjacent_find(sorted, {}, &item::index) != sorted.end()) return "an index is given twice";
  }
  if (asked.order == zenith::ordering::any && asked.ties == zenith::tie_break::lowest_index) {
    std::ranges::sort(seen, by_index);
    std::ranges::sort(expected, by_index);
  }
  if (asked.order == zenith::ordering::any && asked.ties == zenith::tie_break::any) {
    // equal keys may be traded for one another: the two must agree as multisets of keys
    const auto by_key = [](const item& a, const item& b) {
      return a.key == a.key && (b.key != b.key || a.key < b.key);
    };
    std::ranges::sort(seen, by_key);
    std::ranges::sort(expected, by_key);
  }
  for (std::size_t i = 0; i < asked.k; ++i) {
    const bool same_key =
        seen[i].key == expected[i].key || (seen[i].key != seen[i].key && expected[i].key != expected[i].key);
    const bool same_index = asked.ties == zenith::tie_break::any || seen[i].index == expected[i].index;
    if (!same_key || !same_index) {
      return "place " + std::to_string(i) + " is " + bits_text(seen[i].key) + " at " + std::to_string(seen[i].index) +
             ", expected " + bits_text(expected[i].key) + " at " + std::to_string(expected[i].index);
    }
  }
  return {};
}

[[nodiscard]] inline zenith::top_k_options options_of(const zenith_test::target& on, const request& asked) {
  return {
      .select = asked.select, .order = asked.order, .ties = asked.ties, .nans = asked.nans, .strategy = on.strategy};
}

/// The call through device spans: the keys stand at the same offset on the device, the outputs between the same guards.
template <class T, class Index>
zenith::top_k_run call_on_device(const zenith_test::target& on, const column<T>& input, const request& asked,
                                 guarded<T>& keys, guarded<Index>& indices) {
  std::vector<T> shifted(input.offset() + input.count());
  std::ranges::copy(input.keys(), shifted.begin() + static_cast<std::ptrdiff_t>(input.offset()));
  zenith::array<T> in(on.on, std::span<const T>(shifted));
  zenith::array<T> all_keys(on.on, std::span<const T>(keys.all()));
  zenith::array<Index> all_indices(on.on, std::span<const Index>(indices.all()));

  zenith::top_k_run run;
  std::exception_ptr thrown;
  try {
    run = zenith::top_k(on.on, in.device().subspan(input.offset(), input.count()),
                        all_keys.device().subspan(keys.margin, asked.k),
                        all_indices.device().subspan(indices.margin, asked.k), options_of(on, asked));
  } catch (const zenith::error&) {
    thrown = std::current_exception();
  }
  on.on.synchronize();
  all_keys.copy_to(keys.all());
  all_indices.copy_to(indices.all());
  std::vector<T> after(shifted.size());
  in.copy_to(after);
  if (thrown) std::rethrow_exception(thrown);
  if (!after.empty() && std::memcmp(after.data(), shifted.data(), after.size() * sizeof(T)) != 0) {
    throw std::runtime_error("the input on the device was written");
  }
  return run;
}

template <class T, class Index>
zenith::top_k_run call(const zenith_test::target& on, const column<T>& input, const request& asked, guarded<T>& keys,
                       guarded<Index>& indices) {
  if (asked.on_device) return call_on_device(on, input, asked, keys, indices);
  return zenith::top_k(on.on, input.keys(), keys.span(), indices.span(), options_of(on, asked));
}

template <class T, class Index>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, column<T>& input, const request& asked) {
  guarded<T> keys(asked.k);
  guarded<Index> indices(asked.k);
  const bool must_reject = asked.nans == zenith::nan_policy::reject && input.has_nan() && asked.k > 0;
  std::string fault;
  try {
    const auto run = call(on, input, asked, keys, indices);
    if (must_reject) {
      fault = "NaN was not rejected";
    } else if (run.backend != on.on.backend() || run.strategy != on.strategy) {
      fault = "says that it ran " + run.backend + " " + run.strategy;
    } else {
      fault = difference<T, Index>(input, asked, keys.span(), indices.span());
    }
  } catch (const zenith::error& thrown) {
    if (!must_reject) {
      fault = std::string{"threw: "} + thrown.what();
    } else if (thrown.code() != zenith::error_code::invalid_argument ||
               std::string_view{thrown.what()}.find("keys") == std::string_view::npos) {
      fault = std::string{"rejected NaN with the wrong error: "} + thrown.what();
    } else if (!keys.is_unwritten() || !indices.is_unwritten()) {
      fault = "an output was written by a call that threw";
    }
  } catch (const std::exception& thrown) {
    fault = std::string{"threw something else than zenith::error: "} + thrown.what();
  }
  if (fault.empty() && !keys.guards_stand()) fault = "out_keys was written outside its span";
  if (fault.empty() && !indices.guards_stand()) fault = "out_indices was written outside its span";
  if (!input.is_untouched()) {
    if (fault.empty()) fault = "the input was written";
    input.restore();
  }
  return fault;
}

/// What is wrong with `asked` on `on`, with all that is needed to repeat it; empty when nothing is.
template <class T>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, column<T>& input, const request& asked) {
  std::string fault;
  switch (asked.indices) {
    case index_kind::int32: fault = fault_of<T, std::int32_t>(on, input, asked); break;
    case index_kind::uint32: fault = fault_of<T, std::uint32_t>(on, input, asked); break;
    case index_kind::int64: fault = fault_of<T, std::int64_t>(on, input, asked); break;
    case index_kind::uint64: fault = fault_of<T, std::uint64_t>(on, input, asked); break;
  }
  if (fault.empty()) return {};
  return on.name() + ": " + std::string{zenith::to_string(zenith::key_type_of<T>)} + " " + input.name() +
         " n=" + std::to_string(input.count()) + " offset=" + std::to_string(input.offset()) + " " + describe(asked) +
         ": " + fault;
}

}  // namespace conformance
