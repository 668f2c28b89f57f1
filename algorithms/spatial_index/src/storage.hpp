#pragma once

/// \file
/// A spatial index in the host's memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <core/host_memory.hpp>
#include <zenith/spatial_index.hpp>

namespace zenith::detail {

/// What says what the bytes are, once they are all there.
void write_header(const spatial_index_layout& of, std::byte* bytes);

/// Where the parts of such an index stand. Pure.
[[nodiscard]] spatial_index_layout place_index(key_type type, unsigned dimensions, bool has_boxes,
                                               const spatial_index_options& options, std::uint64_t items);

/// Throws for arguments of a build that do not fit each other; the values are not looked at.
void check_index_shape(const index_input& input, const spatial_index_options& options);

/// How messages name an input's points or lowest coordinates.
[[nodiscard]] inline std::string name_of_low(const index_input& input) {
  return std::string{input.name} + (input.has_boxes ? ".low" : input.has_scores ? ".coordinates" : "");
}

/// A column of an index in the host's memory.
template <class T>
[[nodiscard]] const T* index_column(const index_storage& index, std::uint64_t offset) {
  return reinterpret_cast<const T*>(index.data + offset);
}

/// Entries, or rows, in an order. Whoever writes them first is the first to touch their pages.
class entry_order {
 public:
  explicit entry_order(std::uint64_t n) : memory_(host_memory(n * sizeof(std::uint32_t), "spatial_index")) {}

  [[nodiscard]] std::uint32_t* data() const { return reinterpret_cast<std::uint32_t*>(memory_.data.get()); }
  [[nodiscard]] std::uint32_t& operator[](std::uint64_t i) const { return data()[i]; }

 private:
  host_bytes memory_;
};

/// The order of the items in the tree, as rows, one for each item. `centres`: a column for each dimension.
template <class T>
[[nodiscard]] entry_order order_items(const std::vector<const T*>& centres, const spatial_index_layout& layout,
                                      bulk_order by, int workers);

}  // namespace zenith::detail
