#pragma once

/// \file
/// An input together with what the reference makes of it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <zenith/top_k.hpp>

namespace conformance {

/// Keys at a chosen offset in their allocation, whose last byte is the allocation's last, so that the address sanitizer
/// sees a read past the end; and their full ranking by the reference, worked out once an order when first asked for.
template <class T>
class column {
 public:
  column(std::string name, const std::vector<T>& keys, std::size_t offset)
      : name_(std::move(name)), pristine_(keys), held_(offset + keys.size()), offset_(offset) {
    std::ranges::copy(keys, held_.begin() + static_cast<std::ptrdiff_t>(offset));
    for (const T key : keys) has_nan_ = has_nan_ || key != key;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] std::size_t count() const { return pristine_.size(); }
  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] bool has_nan() const { return has_nan_; }
  [[nodiscard]] std::span<const T> keys() const { return std::span<const T>(held_).subspan(offset_); }

  /// Whether no one has written to the keys.
  [[nodiscard]] bool is_untouched() const {
    return count() == 0 || std::memcmp(keys().data(), pristine_.data(), count() * sizeof(T)) == 0;
  }
  /// Undoes what was written, so that one fault is reported once.
  void restore() { std::ranges::copy(pristine_, held_.begin() + static_cast<std::ptrdiff_t>(offset_)); }

  /// All keys with their indices, best first.
  [[nodiscard]] const zenith::top_k_result<T>& ranking(zenith::selection select, bool nan_first) const;

 private:
  std::string name_;
  std::vector<T> pristine_;
  std::vector<T> held_;
  std::size_t offset_;
  bool has_nan_ = false;
  mutable std::array<std::optional<zenith::top_k_result<T>>, 4> rankings_;
};

}  // namespace conformance
