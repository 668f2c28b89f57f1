#include <algorithm>
#include <cstring>
#include <string>

#include <algorithms/packed_column/layout.hpp>
#include <algorithms/packed_column/resolve.hpp>
#include <core/host_memory.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>

namespace zenith::detail {
namespace {

struct destination {
  host_bytes& bytes;
  packed_layout& layout;

  // What can fail comes before the old column is gone.
  void hold(std::uint64_t size) {
    if (bytes.size < size) {
      // as vectors do: a loop whose columns grow allocates rarely
      bytes = host_memory(bytes.size == 0 ? size : std::max<std::uint64_t>(size, bytes.size + bytes.size / 2), "pack");
    }
    layout = {.type = layout.type};
  }
};

std::byte* allocate(void* context, std::uint64_t bytes) {
  auto& to = *static_cast<destination*>(context);
  to.hold(bytes);
  return to.bytes.data.get();
}

packed_buffer reserve(void* context, std::uint64_t most) {
  auto& to = *static_cast<destination*>(context);
  const bool is_fresh = to.bytes.size == 0;
  if (is_fresh) to.bytes = address_space(most);
  if (to.bytes.size == 0) return {};
  to.hold(0);
  return {to.bytes.data.get(), to.bytes.size, is_fresh};
}

}  // namespace

void pack(const executor& on, key_type type, memory_space space, const void* values, std::size_t count, encoding kind,
          const pack_options& options, host_bytes& bytes, packed_layout& made) {
  if (kind > encoding::automatic)
    throw error(error_code::invalid_argument, "pack: encoding is not one of the known ones");
  if (options.lanes != 4 && options.lanes != 8 && options.lanes != 16) {
    throw error(error_code::invalid_argument,
                "pack: options.lanes is " + std::to_string(options.lanes) + "; it must be 4, 8 or 16");
  }
  destination to{bytes, made};
  packed_layout written;
  packed_digest digest;
  pack_call call;
  call.type = type;
  call.space = space;
  call.values = values;
  call.count = count;
  call.kind = kind;
  call.lanes = static_cast<std::uint32_t>(options.lanes);
  call.patches = options.patches;
  call.reserve = reserve;
  call.allocate = allocate;
  call.context = &to;
  call.result = &written;
  call.digest = &digest;
  call.statistics = options.statistics;
  const packed_problem problem{
      pack_call::operation, count, static_cast<double>(8 * size_of(type)), type, kind, 0, 0, space};
  packed::run(packed::resolve(on, problem), call);

  std::byte* const column = bytes.data.get();
  packed::clear_padding(written, column);
  auto header = packed::header_of(written);
  std::memcpy(column, &header, sizeof header);
  const std::uint64_t rows = written.total_bytes / packed_alignment;
  packed::add_bytes(digest, column, 0, std::min(rows, digest.first_row) * packed_alignment);
  header.checksum = packed::finish(digest, rows);
  std::memcpy(column, &header, sizeof header);
  written.one_width = packed::find_one_width(written);
  made = written;
}

}  // namespace zenith::detail
