// An index as bytes: a header of 64 bytes, and behind it the parts where `place_index` puts them.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include <algorithms/spatial_index/src/storage.hpp>
#include <core/host_memory.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct index_header {
  char magic[8];
  u32 byte_order;
  u32 value_bytes;  ///< 4: float, 8: double
  u32 dimensions;
  u32 fanout;
  u32 has_boxes;
  u32 leaves_first;
  u64 items;
  u64 bytes;
  u64 checksum;
  u64 reserved;
};
static_assert(sizeof(index_header) == 64);

constexpr char magic[8] = {'Z', 'N', 'S', 'P', 'I', 'D', 'X', '1'};  // the last one is the format's version
constexpr char leaves_first_version = '2';
constexpr std::size_t version_at = sizeof magic - 1;
constexpr u32 byte_order = 0x01020304;
constexpr std::size_t checksum_word = offsetof(index_header, checksum) / 8;

[[noreturn]] void reject(const std::string& message, error_code code = error_code::corrupt_data) {
  throw error(code, "spatial_index: bytes " + message);
}
/// An index may be whole, but is not one that was asked for.
[[noreturn]] void reject_other(const std::string& message) { reject(message, error_code::invalid_argument); }

/// Of all 64-bit words but the checksum's own; there are so many that four divide them. It finds damage, not malice.
u64 checksum_of(const std::byte* bytes, u64 count) {
  u64 lanes[4] = {1, 2, 3, 4};
  for (u64 i = 0; i < count / 8; i += 4) {
    // all four at once, or the lanes do not stay in registers
    u64 words[4];
    std::memcpy(words, bytes + i * 8, sizeof words);
    if (i == checksum_word / 4 * 4) words[checksum_word % 4] = 0;
    for (unsigned l = 0; l < 4; ++l) {
      lanes[l] = (lanes[l] ^ words[l]) * 0x9e3779b97f4a7c15ULL;
      lanes[l] ^= lanes[l] >> 29;
    }
  }
  u64 all = 0;
  for (const u64 lane : lanes) all = (all ^ lane) * 0xbf58476d1ce4e5b9ULL + 1;
  return all ^ all >> 31;
}

index_header read_header(std::span<const std::byte> bytes) {
  index_header header;
  if (bytes.size() < sizeof header) reject("are " + std::to_string(bytes.size()) + ", fewer than a header's 64");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, magic, version_at) != 0) reject("do not begin as an index does");
  if (header.magic[version_at] != magic[version_at] && header.magic[version_at] != leaves_first_version) {
    reject(std::string("are of version ") + header.magic[version_at] + " of the format; this library reads versions " +
           magic[version_at] + " and " + leaves_first_version);
  }
  if (header.byte_order != byte_order) reject("are in another machine's byte order");
  return header;
}

void check_header(const index_header& header, key_type type, unsigned dimensions) {
  if (header.value_bytes != size_of(type)) {
    reject_other("have values of " + std::to_string(header.value_bytes) + " bytes; this type of index has " +
                 std::to_string(size_of(type)));
  }
  if (header.dimensions != dimensions) {
    reject_other("have " + std::to_string(header.dimensions) + " dimensions; this type of index has " +
                 std::to_string(dimensions));
  }
  if (header.fanout < least_index_fanout || header.fanout > most_index_fanout) {
    reject("have a fanout of " + std::to_string(header.fanout) + "; it must be from 2 to 64");
  }
  const u32 leaves_first = header.magic[version_at] == leaves_first_version ? 1 : 0;
  if (header.has_boxes > 1 || header.leaves_first != leaves_first || header.reserved != 0) {
    reject("have a header with unknown flags");
  }
  if (header.items >= 0xffffffffU) reject("have " + std::to_string(header.items) + " items; the most is 2^32 - 2");
}

/// What queries rely on.
template <class T>
class checker {
 public:
  explicit checker(const index_storage& index) : index_(index), of_(index.layout) {}

  void check() const {
    check_items();
    for (u32 level = 1; level <= of_.levels; ++level) check_nodes(level);
  }

 private:
  [[nodiscard]] const T* at(u64 offset) const { return index_column<T>(index_, offset); }

  void check_items() const {
    using word = std::conditional_t<sizeof(T) == 4, u32, u64>;
    const u32* const ids = index_column<u32>(index_, of_.ids);
    std::vector<bool> seen(of_.items);
    for (u64 i = 0; i < of_.items; ++i) {
      const std::string item = "item " + std::to_string(i);
      if (ids[i] >= of_.items || seen[ids[i]]) reject("have an id at " + item + " that is out of range or there twice");
      seen[ids[i]] = true;
      if (std::bit_cast<word>(at(of_.scores)[i]) != std::bit_cast<word>(at(of_.scores_by_id)[ids[i]])) {
        reject("have two scores for " + item);
      }
      bool is_right = std::isfinite(at(of_.scores)[i]);
      for (unsigned a = 0; a < of_.dimensions; ++a) {
        const T low = at(of_.low[a])[i];
        const T high = at(of_.high[a])[i];
        is_right = is_right && std::isfinite(low) && std::isfinite(high) && low <= high;
      }
      if (!is_right) reject("have a NaN, an infinity or a box that is turned at " + item);
    }
  }

  void check_nodes(u32 level) const {
    const bool of_items = level == 1;
    const u64 end = of_.sizes[level - 1];
    const u64 from = of_items ? 0 : of_.begins[level - 1];
    for (u64 p = 0; p * of_.fanout < end; ++p) {
      const u64 node = of_.begins[level] + p;
      const u64 first = from + p * of_.fanout;
      const u64 last = from + std::min(end, (p + 1) * of_.fanout);
      bool is_right = true;
      const auto hold = [&](const T* least, const T* most, const T* lows, const T* highs) {
        is_right = is_right && std::isfinite(least[node]) && std::isfinite(most[node]);
        for (u64 i = first; i < last; ++i) is_right = is_right && least[node] <= lows[i] && highs[i] <= most[node];
      };
      for (unsigned a = 0; a < of_.dimensions; ++a) {
        hold(at(of_.node_low[a]), at(of_.node_high[a]), at(of_items ? of_.low[a] : of_.node_low[a]),
             at(of_items ? of_.high[a] : of_.node_high[a]));
      }
      hold(at(of_.node_least), at(of_.node_most), at(of_items ? of_.scores : of_.node_least),
           at(of_items ? of_.scores : of_.node_most));
      // a bound must be some item's score: ranges count on it
      const T* const most = at(of_items ? of_.scores : of_.node_most);
      const T* const least = at(of_items ? of_.scores : of_.node_least);
      is_right = is_right && std::find(most + first, most + last, at(of_.node_most)[node]) != most + last;
      is_right = is_right && std::find(least + first, least + last, at(of_.node_least)[node]) != least + last;
      if (!is_right) reject("have a node that does not hold its entries: node " + std::to_string(node));
    }
  }

  const index_storage& index_;
  const spatial_index_layout& of_;
};

}  // namespace

void write_header(const spatial_index_layout& of, std::byte* bytes) {
  index_header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.byte_order = byte_order;
  header.value_bytes = static_cast<u32>(size_of(of.type));
  header.dimensions = of.dimensions;
  header.fanout = of.fanout;
  header.has_boxes = of.has_boxes ? 1 : 0;
  header.leaves_first = of.leaves_first ? 1 : 0;
  if (of.leaves_first) header.magic[version_at] = leaves_first_version;
  header.items = of.items;
  header.bytes = of.bytes;
  std::memcpy(bytes, &header, sizeof header);
  header.checksum = checksum_of(bytes, of.bytes);
  std::memcpy(bytes, &header, sizeof header);
}

std::span<const std::byte> index_storage::bytes() const {
  std::call_once(header_made, [this] {
    if (without_header != nullptr) write_header(layout, without_header);
  });
  return owned_structure::bytes();
}

std::shared_ptr<const index_storage> read_index(key_type type, unsigned dimensions, std::span<const std::byte> bytes,
                                                bool is_copied) {
  const auto header = read_header(bytes);
  check_header(header, type, dimensions);
  auto made = std::make_shared<index_storage>();
  spatial_index_options shape{header.fanout};
  if (header.leaves_first == 1) shape.node_order = level_order::leaves_first;
  made->layout = place_index(type, dimensions, header.has_boxes == 1, shape, header.items);
  const auto& of = made->layout;
  if (header.bytes != of.bytes || bytes.size() != of.bytes) {
    reject("are " + std::to_string(bytes.size()) + "; an index of " + std::to_string(header.items) + " items has " +
           std::to_string(of.bytes));
  }
  if (is_copied) {
    std::memcpy(allocate(*made, "spatial_index"), bytes.data(), bytes.size());
  } else {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 64 != 0) reject_other("are not aligned to 64");
    made->data = bytes.data();
  }
  // after the copy: what was checked is what is kept
  if (checksum_of(made->data, of.bytes) != header.checksum) reject("do not have their checksum: they are damaged");
  type == key_type::float32 ? checker<float>(*made).check() : checker<double>(*made).check();
  return made;
}

}  // namespace zenith::detail
