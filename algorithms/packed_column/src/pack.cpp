#include <algorithm>
#include <cstring>
#include <string>

#include <algorithms/packed_column/layout.hpp>
#include <algorithms/packed_column/resolve.hpp>
#include <core/host_memory.hpp>
#include <core/message.hpp>
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

void check(encoding kind, const pack_options& options) {
  require_known("pack", "encoding", kind, encoding::automatic);
  if (options.lanes != 4 && options.lanes != 8 && options.lanes != 16) {
    throw error(error_code::invalid_argument,
                "pack: options.lanes is " + std::to_string(options.lanes) + "; it must be 4, 8 or 16");
  }
}

// What both kinds of calls ask.
template <class Call>
Call call_of(key_type type, memory_space space, const void* values, std::size_t count, encoding kind,
             const pack_options& options) {
  Call call;
  call.type = type;
  call.space = space;
  call.values = values;
  call.count = count;
  call.kind = kind;
  call.lanes = static_cast<std::uint32_t>(options.lanes);
  call.patches = options.patches;
  call.statistics = options.statistics;
  return call;
}

template <class Call>
packed_problem problem_of(const Call& call) {
  return {Call::operation, call.count, static_cast<double>(8 * size_of(call.type)), call.type, call.kind, 0, 0,
          call.space};
}

struct device_destination {
  const execution& on;
  raw_array& bytes;
  packed_layout& layout;
};

std::byte* allocate_there(void* context, std::uint64_t bytes) {
  auto& to = *static_cast<device_destination*>(context);
  if (to.bytes.bytes() < bytes || !to.bytes.is_of(to.on)) to.bytes = raw_array(executor(to.on), bytes);
  // what can fail comes before the old column is gone
  to.layout = {.type = to.layout.type};
  return static_cast<std::byte*>(to.bytes.data());
}

}  // namespace

void pack(const executor& on, key_type type, memory_space space, const void* values, std::size_t count, encoding kind,
          const pack_options& options, host_bytes& bytes, packed_layout& made) {
  check(kind, options);
  destination to{bytes, made};
  packed_layout written;
  packed_digest digest;
  auto call = call_of<pack_call>(type, space, values, count, kind, options);
  call.reserve = reserve;
  call.allocate = allocate;
  call.context = &to;
  call.result = &written;
  call.digest = &digest;
  const auto where = packed::resolve(on, problem_of(call));
  where.by->run(where.on, &call);

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

void pack_on_device(const executor& on, key_type type, memory_space space, const void* values, std::size_t count,
                    encoding kind, const pack_options& options, raw_array& bytes, packed_layout& made) {
  check(kind, options);
  if (!on.is_automatic() && on.settings().target->memory != memory_space::device) {
    throw error(error_code::invalid_argument,
                "pack: the column is to lie on a device, but this executor's memory is the host's; use packed_column",
                on.settings().target->name);
  }
  auto call = call_of<device_pack_call>(type, space, values, count, kind, options);
  const auto where = packed::resolve(on, problem_of(call));
  packed_layout written;
  device_destination to{where.on, bytes, made};
  call.allocate = allocate_there;
  call.context = &to;
  call.result = &written;
  where.by->run(where.on, &call);
  made = written;
}

void copy_to_host(const raw_array& from, const packed_layout& layout, host_bytes& bytes, packed_layout& made) {
  if (layout.bytes == nullptr) return;
  bytes = host_memory(layout.total_bytes, "to_host");
  from.read(bytes.data.get(), layout.total_bytes);
  made = layout;
  made.bytes = bytes.data.get();
}

}  // namespace zenith::detail
