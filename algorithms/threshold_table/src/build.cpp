#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include <algorithms/threshold_table/src/storage.hpp>
#include <core/message.hpp>
#include <core/workers.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

[[noreturn]] void reject(const std::string& message, error_code code = error_code::invalid_argument) {
  throw error(code, "threshold_table: " + message);
}

template <class T>
std::shared_ptr<const table_storage> build(const table_input& input, const table_options& options, int workers) {
  const input_columns<T> columns(input);
  auto made = options.layout == table_layout::clusters
                  ? build_clusters(columns, options.block_rows, workers)
                  : arrange(columns, partition(columns, options), options.block_rows, workers);
  if (options.sorted_lists) sort_lists<T>(*made, workers);
  return made;
}

}  // namespace

void check_table(const table_input& input, const table_options& options) {
  const auto columns = input.columns.size();
  if (columns == 0) reject("columns has no column");
  if (columns > most_table_columns) {
    reject("columns has " + std::to_string(columns) + " columns; the most is " + std::to_string(most_table_columns));
  }
  if (input.rows >= std::numeric_limits<std::uint32_t>::max()) {
    reject("columns has " + std::to_string(input.rows) + " rows; the most is 2^32 - 2", error_code::unsupported);
  }
  if (options.block_rows == 0 || options.block_rows > most_block_rows) {
    reject("options.block_rows is " + std::to_string(options.block_rows) + "; it must be from 1 to " +
           std::to_string(most_block_rows));
  }
  constexpr std::string_view name = "threshold_table";
  require_known(name, "options.layout", options.layout, table_layout::partitions);
  if (options.layout != table_layout::partitions) return;
  require_known(name, "options.partitioning", options.partitioning, table_partitioning::angle);
  require_known(name, "options.splits", options.splits, angle_splits::regular);
  require_known(name, "options.order", options.order, table_order::weighted_sum);
  if (options.partitions == 0) reject("options.partitions is 0; there must be at least one");
  if (options.order != table_order::weighted_sum) return;
  if (options.order_weights.size() != columns) {
    reject("options.order_weights has " + std::to_string(options.order_weights.size()) + " elements and columns " +
           std::to_string(columns) + " columns; they must be as many");
  }
  for (std::size_t j = 0; j < columns; ++j) {
    if (!std::isfinite(options.order_weights[j])) {
      reject("options.order_weights[" + std::to_string(j) + "] is not finite");
    }
  }
}

double column_scale::operator()(double value) const {
  if (!(value >= least)) return 0;  // NaN too
  if (!(most > least)) return 0;
  // halves, so that no difference overflows
  return (std::min(value, most) / 2 - least / 2) / (most / 2 - least / 2);
}

template <class T>
column_scale scale_of(const T* values, std::size_t count, std::size_t stride) {
  T least = std::numeric_limits<T>::max();
  T most = std::numeric_limits<T>::lowest();
  for (std::size_t i = 0; i < count; ++i) {
    const T value = values[i * stride];
    least = value < least ? value : least;
    most = most < value ? value : most;
  }
  // infinities count as the largest numbers
  return {std::max(static_cast<double>(least), static_cast<double>(std::numeric_limits<T>::lowest())),
          std::min(static_cast<double>(most), static_cast<double>(std::numeric_limits<T>::max()))};
}
template column_scale scale_of(const float* values, std::size_t count, std::size_t stride);
template column_scale scale_of(const double* values, std::size_t count, std::size_t stride);
template column_scale scale_of(const std::int32_t* values, std::size_t count, std::size_t stride);
template column_scale scale_of(const std::uint32_t* values, std::size_t count, std::size_t stride);

std::shared_ptr<const table_storage> build_table(const table_input& input, const table_options& options,
                                                 const execution* on) {
  check_table(input, options);
  // some thousand rows are built before others wake up
  const int workers = on == nullptr || input.rows < std::size_t{1} << 15 ? 1 : host_threads(*on);
  const auto no_memory = [&] {
    reject("there is no memory for " + std::to_string(input.rows) + " rows", error_code::out_of_memory);
  };
  try {
    switch (input.type) {
      case key_type::float32: return build<float>(input, options, workers);
      case key_type::float64: return build<double>(input, options, workers);
      case key_type::int32: return build<std::int32_t>(input, options, workers);
      default: return build<std::uint32_t>(input, options, workers);
    }
  } catch (const std::bad_alloc&) {
    no_memory();
  } catch (const error& fault) {
    if (fault.code() != error_code::out_of_memory) throw;
    no_memory();
  }
  return {};
}

bool has_lists(const table_storage& table) { return !table.lists.empty(); }
const threshold_layout& layout_of(const table_storage& table) { return table.layout; }
std::span<const std::byte> bytes_of(const table_storage& table) { return on_host(table).bytes(); }

std::span<const std::byte> directory_of(const table_storage& table) {
  return bytes_of(table).subspan(static_cast<std::size_t>(table.layout.begins));
}

}  // namespace zenith::detail
