// Tables that are built where their columns lie, in the memory of an executor's device.

#include <algorithm>
#include <string>

#include <algorithms/threshold_table/src/storage.hpp>
#include <core/choose.hpp>
#include <core/host_memory.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

constexpr std::string_view strategy = "clusters";

/// What `threshold_build_call` asks for memory.
struct build_in_progress {
  const executor* on;
  table_counts counts;
  key_type type;
  std::shared_ptr<table_storage> made;
};

template <class T>
threshold_build_memory sample_memory(table_storage& of) {
  constexpr std::uint64_t most_rows = 1024;
  constexpr std::uint64_t most_blocks = 256;
  constexpr std::uint64_t most_block_rows_drawn = 64;
  const auto& layout = of.layout;
  auto& to = sample_of<T>(of);
  const std::uint64_t blocks = std::min(layout.of_blocks.count, most_blocks);
  to.rows = std::min(layout.rows, most_rows);
  to.block_rows = std::min<std::uint64_t>(layout.block_rows, most_block_rows_drawn);
  for (std::uint64_t s = 0; s < blocks; ++s) {
    to.blocks.push_back(static_cast<std::uint32_t>(s * layout.of_blocks.count / blocks));
  }
  to.values.resize(to.rows * layout.columns);
  to.maxima.resize(blocks * layout.columns);
  to.minima.resize(blocks * layout.columns);
  to.block_values.resize(blocks * layout.columns * to.block_rows);
  to.block_counts.resize(blocks);
  threshold_build_memory given;
  given.sample_rows = to.rows;
  given.sample_blocks = blocks;
  given.sample_values = to.values.data();
  given.sample_maxima = to.maxima.data();
  given.sample_minima = to.minima.data();
  given.sample_block_rows = to.block_rows;
  given.sample_block_values = to.block_values.data();
  given.sample_block_counts = to.block_counts.data();
  return given;
}

threshold_build_memory provide(void* state, std::uint64_t blocks) {
  auto& build = *static_cast<build_in_progress*>(state);
  auto& made = *build.made;
  build.counts.blocks = blocks;
  build.counts.partitions = (blocks + group_blocks - 1) / group_blocks;
  made.layout = place_table(build.type, build.counts);
  auto there = std::make_shared<array<std::byte>>(*build.on, static_cast<std::size_t>(made.layout.bytes));
  threshold_build_memory given;
  switch (build.type) {
    case key_type::float32: given = sample_memory<float>(made); break;
    case key_type::float64: given = sample_memory<double>(made); break;
    case key_type::int32: given = sample_memory<std::int32_t>(made); break;
    default: given = sample_memory<std::uint32_t>(made); break;
  }
  given.layout = &made.layout;
  given.table = there->space() == memory_space::host ? there->host().data() : there->device().data();
  made.there = std::move(there);
  return given;
}

/// Whether the device of an executor makes a table for the host.
bool is_made_there(const executor& on, const table_input& input, const table_options& options) {
  const backend* const target = on.settings().target;
  return target != nullptr && target->memory == memory_space::device && input.rows >= least_rows_made_there &&
         input.row_stride == 1 && options.layout == table_layout::clusters && !options.sorted_lists &&
         find_kernel(*target, threshold_build_call::operation, strategy) != nullptr;
}

/// The bytes of a table that a device has, and the sample that the host draws of them.
std::shared_ptr<const table_storage> brought_back(const table_storage& from) {
  auto made = std::make_shared<table_storage>();
  made->layout = from.layout;
  std::byte* const bytes = allocate(*made, "threshold table");
  from.there->copy_to({bytes, static_cast<std::size_t>(from.layout.bytes)});
  switch (made->layout.type) {
    case key_type::float32: draw_sample<float>(*made); break;
    case key_type::float64: draw_sample<double>(*made); break;
    case key_type::int32: draw_sample<std::int32_t>(*made); break;
    default: draw_sample<std::uint32_t>(*made); break;
  }
  return made;
}

}  // namespace

std::shared_ptr<const table_storage> build_table_with(const executor& on, const table_input& input,
                                                      const table_options& options) {
  if (is_made_there(on, input, options)) {
    try {
      return brought_back(*build_table_there(on, input, memory_space::host, options));
    } catch (const error& fault) {
      // the host may have what the device has not
      if (fault.code() != error_code::out_of_memory) throw;
    }
  }
  return build_table(input, options, &on.settings());
}

void require_device(const executor& on) {
  const backend* const target = on.settings().target;
  if (target != nullptr && target->memory == memory_space::device) return;
  throw error(
      error_code::invalid_argument,
      std::string{"device_threshold_table: this executor "} +
          (target == nullptr ? "is \"auto\"" : "works on host memory") +
          "; use an executor of one device, such as make_executor(\"cuda\"), or threshold_table, which takes any",
      target == nullptr ? std::string_view{} : target->name);
}

const table_storage& on_host(const table_storage& table) {
  if (table.data != nullptr || table.there == nullptr) return table;
  const std::scoped_lock alone(table.copying);
  if (table.copy == nullptr) {
    auto made = std::make_shared<table_storage>();
    made->layout = table.layout;
    std::byte* const bytes = allocate(*made, "threshold table");
    table.there->copy_to({bytes, static_cast<std::size_t>(table.layout.bytes)});
    table.copy = std::move(made);
  }
  return *table.copy;
}

const std::shared_ptr<const array<std::byte>>& bytes_there(const table_storage& table) { return table.there; }

std::shared_ptr<const table_storage> build_table_there(const executor& on, const table_input& input, memory_space space,
                                                       const table_options& options) {
  check_table(input, options);
  const auto refuse = [](const char* what) {
    throw error(error_code::unsupported, std::string{"threshold_table: "} + what);
  };
  if (options.layout != table_layout::clusters) refuse("options.layout is partitions; a device builds clusters alone");
  if (options.sorted_lists) refuse("options.sorted_lists is set; a device builds no lists");
  if (on.is_automatic()) require_device(on);
  const auto& by =
      check_backend(on.settings(), threshold_build_call::operation, "threshold_table", "columns", space, strategy);
  build_in_progress build{&on,
                          {input.columns.size(), input.rows, input.rows, 0, 0, options.block_rows},
                          input.type,
                          std::make_shared<table_storage>()};
  if (input.rows == 0) {
    // no more than zeros
    const auto empty = build_table(input, options, nullptr);
    build.made->layout = empty->layout;
    build.made->there = std::make_shared<array<std::byte>>(on, bytes_of(*empty));
    return build.made;
  }
  threshold_build_call call;
  call.type = input.type;
  call.columns = input.columns.data();
  call.space = space;
  call.column_count = static_cast<unsigned>(input.columns.size());
  call.rows = input.rows;
  call.block_rows = options.block_rows;
  call.out_space = on.settings().target->memory;
  call.provide = provide;
  call.state = &build;
  by.run(on.settings(), &call);
  return build.made;
}

}  // namespace zenith::detail
