#include <check.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <vector>

#include <zenith/array.hpp>
#include <zenith/error.hpp>

namespace conformance {

std::string describe(const request& asked) {
  constexpr const char* policies[] = {"last", "first", "reject"};
  constexpr const char* kinds[] = {"int32", "uint32", "int64", "uint64"};
  return "k=" + std::to_string(asked.k) + (asked.select == zenith::selection::largest ? " largest" : " smallest") +
         (asked.order == zenith::ordering::sorted ? " sorted" : " any order") +
         (asked.ties == zenith::tie_break::lowest_index ? "" : " any ties") +
         " nans=" + policies[static_cast<int>(asked.nans)] + " indices=" + kinds[static_cast<int>(asked.indices)];
}

namespace {

template <class T>
std::string bits_text(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  char text[32];
  std::snprintf(text, sizeof(text), "0x%0*" PRIx64, static_cast<int>(sizeof(T)) * 2, bits);
  return text;
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace

template <class T, class Index>
std::string difference(const column<T>& input, const request& asked, std::span<const T> keys,
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

namespace {

zenith::top_k_options options_of(const zenith_test::target& on, const request& asked) {
  return {
      .select = asked.select, .order = asked.order, .ties = asked.ties, .nans = asked.nans, .strategy = on.strategy};
}

// The call through device spans: the keys stand at the same offset on the device, the outputs between the same guards.
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
std::string fault_with(const zenith_test::target& on, column<T>& input, const request& asked) {
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

}  // namespace

template <class T>
std::string fault_of(const zenith_test::target& on, column<T>& input, const request& asked) {
  switch (asked.indices) {
    case index_kind::int32: return fault_with<T, std::int32_t>(on, input, asked);
    case index_kind::uint32: return fault_with<T, std::uint32_t>(on, input, asked);
    case index_kind::int64: return fault_with<T, std::int64_t>(on, input, asked);
    default: return fault_with<T, std::uint64_t>(on, input, asked);
  }
}

template <class T>
std::string column<T>::describe() const {
  return std::string{zenith::to_string(zenith::key_type_of<T>)} + " " + name_ + " n=" + std::to_string(count()) +
         " offset=" + std::to_string(offset_);
}

template <class T>
const zenith::top_k_result<T>& column<T>::ranking(zenith::selection select, bool nan_first) const {
  auto& known = rankings_[(select == zenith::selection::smallest ? 1U : 0U) + (nan_first ? 2U : 0U)];
  if (!known) {
    known = zenith::top_k(zenith::reference(), pristine_, count(),
                          {.select = select, .nans = nan_first ? zenith::nan_policy::first : zenith::nan_policy::last});
  }
  return *known;
}

#define ZENITH_DIFFERENCE_OF(T, Index)                                                            \
  template std::string difference<T, Index>(const column<T>&, const request&, std::span<const T>, \
                                            std::span<const Index>);
#define ZENITH_CHECK_OF(T)                                                                  \
  template class column<T>;                                                                 \
  template std::string fault_of<T>(const zenith_test::target&, column<T>&, const request&); \
  ZENITH_DIFFERENCE_OF(T, std::uint32_t)                                                    \
  ZENITH_DIFFERENCE_OF(T, std::uint64_t)
ZENITH_CHECK_OF(float)
ZENITH_CHECK_OF(double)
ZENITH_CHECK_OF(std::int32_t)
ZENITH_CHECK_OF(std::uint32_t)
ZENITH_CHECK_OF(std::int64_t)
ZENITH_CHECK_OF(std::uint64_t)
#undef ZENITH_CHECK_OF
#undef ZENITH_DIFFERENCE_OF

}  // namespace conformance
