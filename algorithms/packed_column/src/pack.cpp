#include <cstring>
#include <string>

#include <algorithms/packed_column/layout.hpp>
#include <algorithms/packed_column/resolve.hpp>
#include <algorithms/packed_column/zeroed_bytes.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>

namespace zenith::detail {
namespace {

std::byte* allocate(void* context, std::uint64_t bytes) {
  auto& to = *static_cast<packed_bytes*>(context);
  to = zeroed_bytes(bytes);
  return to.data.get();
}

}  // namespace

packed_result pack(const executor& on, key_type type, memory_space space, const void* values, std::size_t count,
                   encoding kind, const pack_options& options) {
  if (kind > encoding::automatic)
    throw error(error_code::invalid_argument, "pack: encoding is not one of the known ones");
  if (options.lanes != 4 && options.lanes != 8 && options.lanes != 16) {
    throw error(error_code::invalid_argument,
                "pack: options.lanes is " + std::to_string(options.lanes) + "; it must be 4, 8 or 16");
  }
  packed_result made;
  pack_call call;
  call.type = type;
  call.space = space;
  call.values = values;
  call.count = count;
  call.kind = kind;
  call.lanes = static_cast<std::uint32_t>(options.lanes);
  call.patches = options.patches;
  call.allocate = allocate;
  call.context = &made.bytes;
  call.result = &made.layout;
  call.statistics = options.statistics;
  const packed_problem problem{
      pack_call::operation, count, static_cast<double>(8 * size_of(type)), type, kind, 0, 0, space};
  packed::run(packed::resolve(on, problem), call);

  auto header = packed::header_of(made.layout);
  std::memcpy(made.bytes.data.get(), &header, sizeof header);
  header.checksum = packed::checksum({made.bytes.data.get(), made.bytes.size});
  std::memcpy(made.bytes.data.get(), &header, sizeof header);
  return made;
}

}  // namespace zenith::detail
