// Indexes in the memory of an executor's device: copied there, or built there.

#include <string>

#include <algorithms/spatial_index/src/storage.hpp>
#include <core/choose.hpp>
#include <core/host_memory.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

[[noreturn]] void reject(const index_input& input, const std::string& message) {
  throw error(error_code::invalid_argument, std::string{input.function} + ": " + message);
}

[[noreturn]] void report(const spatial_outcome& found, const index_input& input) {
  const std::string name = input.name;
  const std::string at = " in column " + std::to_string(found.axis) + ", row " + std::to_string(found.row);
  if (found.fault == spatial_fault::turned_box) reject(input, name + ".low is above " + name + ".high" + at);
  if (found.fault == spatial_fault::score) {
    reject(input, name + ".scores[" + std::to_string(found.row) + "] is NaN or infinite");
  }
  const bool is_high = input.has_boxes && found.is_right;
  reject(input, (is_high ? name + ".high" : name_of_low(input)) + " has a NaN or an infinity" + at);
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
  const auto argument = argument_of(index.get());
  made->least = argument.least;
  made->most = argument.most;
  return made;
}

std::shared_ptr<const device_index> build_index_there(const executor& on, const index_input& input, memory_space space,
                                                      const spatial_index_options& options) {
  check_index_shape(input, options);
  if (on.settings().target == nullptr) {
    reject(input, "an executor of one device is needed, not \"auto\"");
  }
  const std::string_view strategy = options.order == bulk_order::hilbert ? "hilbert" : "sort_tile_recursive";
  const auto& by =
      check_backend(on.settings(), index_build_call::operation, input.function, input.name, space, strategy);
  auto made = std::make_shared<device_index>();
  made->layout = place_index(input.type, input.dimensions, input.has_boxes, options, input.low.rows);
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
  if (outcome.fault != spatial_fault::none) report(outcome, input);
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
