#include <algorithms/spatial_index/src/sides.hpp>

#include <memory>
#include <optional>
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
  const auto root = index.layout.begins[index.layout.levels];
  to.least = static_cast<double>(index_column<T>(index, index.layout.node_least)[root]);
  to.most = static_cast<double>(index_column<T>(index, index.layout.node_most)[root]);
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

bool are_one_index(const std::optional<index_input>& left, const std::optional<index_input>& right) {
  return left && right && left->low == right->low && left->high == right->high;
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
  const auto items_of = [](const index_argument& index, const std::optional<index_input>& columns) -> std::uint64_t {
    if (columns) return columns->low.rows;
    return index.layout == nullptr ? 0 : index.layout->items;
  };
  return {items_of(given.left, given.columns[0]), items_of(given.right, given.columns[1])};
}

std::uint64_t items_to_build(const index_join_arguments& given) {
  const auto rows_of = [](const std::optional<index_input>& side) -> std::uint64_t {
    return side ? side->low.rows : 0;
  };
  const auto& [left, right] = given.columns;
  return rows_of(left) + (are_one_index(left, right) ? 0 : rows_of(right));
}

void check_columns(const index_join_arguments& given, const char* function) {
  const auto dimensions_of = [&](const std::optional<index_input>& side) {
    return std::to_string(side ? side->low.columns.size() : given.dimensions);
  };
  for (auto side : given.columns) {
    if (!side) continue;
    side->function = function;
    const std::size_t columns = side->low.columns.size();
    if (columns != 2 && columns != 3) {
      throw error(error_code::invalid_argument, std::string{function} + ": " + name_of_low(*side) + " has " +
                                                    std::to_string(columns) + " columns; " +
                                                    (side->has_boxes ? "boxes" : "points") + " have 2 or 3");
    }
    if (columns != given.dimensions) {
      throw error(error_code::invalid_argument, std::string{function} + ": left has " +
                                                    dimensions_of(given.columns[0]) + " dimensions and right " +
                                                    dimensions_of(given.columns[1]) + "; they must have as many");
    }
    check_index_shape(*side, {});
  }
}

join_of_indexes index_sides(const execution& on, const index_join_arguments& given, const char* function) {
  join_of_indexes made{given};
  made.given.columns = {};
  const auto build = [&](index_input side, index_argument& index, std::shared_ptr<const void>& owner) {
    side.function = function;
    std::tie(index, owner) = build_side(on, side, given.left.space);
  };
  const auto& [left, right] = given.columns;
  if (left) build(*left, made.given.left, made.owners[0]);
  if (are_one_index(left, right)) {
    made.given.right = made.given.left;
  } else if (right) {
    build(*right, made.given.right, made.owners[1]);
  }
  return made;
}

}  // namespace zenith::detail
