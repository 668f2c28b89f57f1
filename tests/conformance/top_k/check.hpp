#pragma once

/// \file
/// One call of top_k on one target, held against the reference: results bit by bit, and what must not be touched.

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <column.hpp>
#include <targets.hpp>

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

[[nodiscard]] std::string describe(const request& asked);

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

/// The first difference between what was written and the reference; empty when there is none.
template <class T, class Index>
[[nodiscard]] std::string difference(const column<T>& input, const request& asked, std::span<const T> keys,
                                     std::span<const Index> indices);

/// What is wrong with `asked` on `on`, with all that is needed to repeat it; empty when nothing is.
template <class T>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, column<T>& input, const request& asked);

}  // namespace conformance
