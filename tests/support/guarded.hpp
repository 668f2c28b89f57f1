#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace zenith_test {

/// Memory for `count` elements between two guards.
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
  /// Whether the elements from the `first` on were never written.
  [[nodiscard]] bool is_unwritten_from(std::size_t first) const { return is_pattern(margin + first, held_.size()); }

 private:
  static constexpr unsigned char pattern = 0xa5;

  [[nodiscard]] bool is_pattern(std::size_t from, std::size_t to) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(held_.data());
    return std::all_of(bytes + from * sizeof(T), bytes + to * sizeof(T), [](unsigned char b) { return b == pattern; });
  }

  std::vector<T> held_;
};

}  // namespace zenith_test
