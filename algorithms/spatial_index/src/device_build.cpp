// Indexes in the memory of an executor's device: copied there, or built there.

#include <string>

#include <algorithms/spatial_index/src/storage.hpp>
#include <core/choose.hpp>
#include <core/host_memory.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

template <class T>
void read_extremes(const index_storage& index, device_index& to) {
  to.least = static_cast<double>(*index_column<T>(index, index.layout.node_least));
  to.most = static_cast<double>(*index_column<T>(index, index.layout.node_most));
}

[[noreturn]] void reject(const std::string& message) {
  throw error(error_code::invalid_argument, "spatial_index: " + message);
}

[[noreturn]] void report(const spatial_outcome& found, bool has_boxes) {
  const std::string items = has_boxes ? "boxes" : "points";
  const std::string at = " in column " + std::to_string(found.axis) + ", row " + std::to_string(found.row);
  if (found.fault == spatial_fault::turned_box) reject("boxes.low is above boxes.high" + at);
  if (found.fault == spatial_fault::score) {
    reject(items + ".scores[" + std::to_string(found.row) + "] is NaN or infinite");
  }
  const char* const part = !has_boxes ? ".coordinates" : found.is_right ? ".high" : ".low";
  reject(items + part + " has a NaN or an infinity" + at);
}

spatial_side side_of(const spatial_points& points) {
  spatial_side side;
  for (std::size_t a = 0; a < points.columns.size(); ++a) side.coordinates[a] = points.columns[a];
  side.scores = points.scores;
  side.rows = points.rows;
  return side;
}

}  // namespace

std::shared_ptr<const device_index> copy_index(const executor& on, const std::shared_ptr<const index_storage>& index) {
  if (index == nullptr) return nullptr;
  auto made = std::make_shared<device_index>();
  made->layout = index->layout;
  made->bytes = raw_array(on, static_cast<std::size_t>(index->layout.bytes));
  made->bytes.require(memory_space::device);
  made->bytes.write(index->data);
  made->host = index;
  if (index->layout.items > 0) {
    index->layout.type == key_type::float32 ? read_extremes<float>(*index, *made)
                                            : read_extremes<double>(*index, *made);
  }
  return made;
}

std::shared_ptr<const device_index> build_index_there(const executor& on, const index_input& input, memory_space space,
                                                      const spatial_index_options& options) {
  check_index_shape(input, options);
  if (options.order != bulk_order::sort_tile_recursive) {
    throw error(error_code::unsupported,
                "spatial_index: options.order is hilbert; a device builds by sort_tile_recursive alone");
  }
  if (on.settings().target == nullptr) {
    reject("an executor of one device is needed, not \"auto\"");
  }
  constexpr std::string_view strategy = "sort_tile_recursive";
  const auto& by = check_backend(on.settings(), index_build_call::operation, "spatial_index",
                                 input.has_boxes ? "boxes" : "points", space, strategy);
  auto made = std::make_shared<device_index>();
  made->layout = place_index(input.type, input.dimensions, input.has_boxes, options.fanout, input.low.rows);
  made->bytes = raw_array(on, static_cast<std::size_t>(made->layout.bytes));
  if (input.low.rows == 0) return made;
  spatial_outcome outcome;
  index_build_call call;
  call.layout = &made->layout;
  call.space = space;
  call.low = side_of(input.low);
  call.high = side_of(input.high);
  call.bytes = static_cast<std::byte*>(made->bytes.data());
  call.out_space = made->bytes.space();
  call.outcome = &outcome;
  call.least = &made->least;
  call.most = &made->most;
  by.run(on.settings(), &call);
  if (outcome.fault != spatial_fault::none) report(outcome, input.has_boxes);
  return made;
}

const std::shared_ptr<const index_storage>& host_copy(const device_index& of) {
  const std::scoped_lock alone(of.copying);
  if (of.host == nullptr) {
    auto made = std::make_shared<index_storage>();
    made->layout = of.layout;
    std::byte* const bytes = allocate(*made, "spatial_index");
    if (of.layout.items > 0) of.bytes.read(bytes);
    made->without_header = bytes;
    of.host = std::move(made);
  }
  return of.host;
}

}  // namespace zenith::detail
