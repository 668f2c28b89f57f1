#include <algorithms/spatial_index/src/sides.hpp>

#include <string>
#include <tuple>
#include <utility>

#include <algorithms/spatial_index/src/storage.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

/// The smallest and the largest score are the root's.
template <class T>
void read_extremes(const index_storage& index, index_argument& to) {
  to.least = static_cast<double>(*index_column<T>(index, index.layout.node_least));
  to.most = static_cast<double>(*index_column<T>(index, index.layout.node_most));
}

std::pair<index_argument, std::shared_ptr<const void>> build_side(const execution& on, const index_input& side,
                                                                  memory_space space) {
  if (on.target->memory == memory_space::device) {
    auto made = build_index_there(executor(on), side, space, {});
    return {argument_of(made.get()), std::move(made)};
  }
  auto made = build_index(side, {}, &on);
  return {argument_of(made.get()), std::move(made)};
}

}  // namespace

index_argument argument_of(const index_storage* index) {
  if (index == nullptr) return {};
  index_argument given{&index->layout, index->data, memory_space::host, 0, 0, index, nullptr};
  given.host = [](const void* of) { return static_cast<const index_storage*>(of); };
  if (index->layout.items > 0) {
    index->layout.type == key_type::float32 ? read_extremes<float>(*index, given)
                                            : read_extremes<double>(*index, given);
  }
  return given;
}

index_argument argument_of(const device_index* index) {
  if (index == nullptr) return {nullptr, nullptr, memory_space::device, 0, 0, nullptr, nullptr};
  return {
      &index->layout,
      static_cast<const std::byte*>(index->bytes.data()),
      memory_space::device,
      index->least,
      index->most,
      index,
      [](const void* of) -> const index_storage* { return host_copy(*static_cast<const device_index*>(of)).get(); }};
}

side_sizes sizes_of(const index_join_arguments& given) {
  if (!given.columns.empty()) return {given.columns[0].low.rows, given.columns[1].low.rows};
  const auto items_of = [](const index_argument& index) { return index.layout == nullptr ? 0 : index.layout->items; };
  return {items_of(given.left), items_of(given.right)};
}

void check_columns(const index_join_arguments& given, const char* function) {
  for (auto side : given.columns) {
    side.function = function;
    const std::size_t columns = side.low.columns.size();
    if (columns != 2 && columns != 3) {
      throw error(error_code::invalid_argument, std::string{function} + ": " + name_of_low(side) + " has " +
                                                    std::to_string(columns) + " columns; " +
                                                    (side.has_boxes ? "boxes" : "points") + " have 2 or 3");
    }
    if (columns != given.dimensions) {
      throw error(error_code::invalid_argument, std::string{function} + ": left has " +
                                                    std::to_string(given.dimensions) + " dimensions and right " +
                                                    std::to_string(columns) + "; they must have as many");
    }
    check_index_shape(side, {});
  }
}

join_of_indexes index_sides(const execution& on, const index_join_arguments& given, const char* function) {
  join_of_indexes made{given};
  if (given.columns.empty()) return made;
  made.given.columns.clear();
  auto left = given.columns[0];
  auto right = given.columns[1];
  left.function = right.function = function;
  std::tie(made.given.left, made.owners[0]) = build_side(on, left, given.left.space);
  if (left.low == right.low && left.high == right.high) {
    made.given.right = made.given.left;
  } else {
    std::tie(made.given.right, made.owners[1]) = build_side(on, right, given.left.space);
  }
  return made;
}

}  // namespace zenith::detail
