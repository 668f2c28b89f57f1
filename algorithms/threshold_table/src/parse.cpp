#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include <algorithms/threshold_table/src/file.hpp>
#include <algorithms/threshold_table/src/storage.hpp>
#include <core/file.hpp>
#include <core/untrusted_bytes.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Reads a table's bytes; every number is checked before it is used.
class table_parser : untrusted_bytes {
 public:
  using untrusted_bytes::untrusted_bytes;

  [[nodiscard]] std::shared_ptr<table_storage> parse(key_type type) {
    if (std::endian::native != std::endian::little) {
      throw error(error_code::unsupported, source() + ": its bytes are little-endian, and this machine's are not");
    }
    if (reinterpret_cast<std::uintptr_t>(all().data()) % sizeof(table_file_header) != 0) {
      throw error(error_code::invalid_argument, source() + ": bytes must begin at a multiple of 64");
    }
    read_header();
    if (static_cast<key_type>(header_.type) != type) {
      throw error(error_code::invalid_argument, source() + ": its columns are of " +
                                                    std::string{to_string(static_cast<key_type>(header_.type))} +
                                                    ", not of " + std::string{to_string(type)});
    }
    auto made = std::make_shared<table_storage>();
    made->layout = place_table(type, counts());
    require(header_.bytes == sizeof header_ + made->layout.bytes, "its sizes contradict each other");
    require(packed::checksum(all()) == header_.checksum, "its checksum does not match its bytes");
    made->data = all().data() + sizeof header_;
    check_places(*made);
    check_ids(*made);
    switch (type) {
      case key_type::float32: finish<float>(*made); break;
      case key_type::float64: finish<double>(*made); break;
      case key_type::int32: finish<std::int32_t>(*made); break;
      default: finish<u32>(*made); break;
    }
    return made;
  }

 private:
  [[nodiscard]] table_counts counts() const {
    return {header_.columns, header_.rows, header_.id_limit, header_.blocks, header_.partitions, header_.block_rows};
  }

  void read_header() {
    header_ = header<table_file_header>(table_file_magic, table_file_version);
    require(header_.type <= static_cast<std::uint8_t>(key_type::uint32), "its type is not one of the known ones");
    require(header_.zero_a == 0 && header_.zero_b == 0, "reserved fields of the header are not zero");
    require(header_.columns >= 1 && header_.columns <= most_table_columns, "it has no column, or more than 64");
    require(header_.block_rows >= 1 && header_.block_rows <= most_block_rows, "its blocks have no row, or over 1024");
    require(header_.rows < std::numeric_limits<u32>::max(), "it has more than 2^32 - 2 rows");
    require(header_.id_limit >= header_.rows && header_.id_limit <= std::numeric_limits<u32>::max(),
            "its ids are fewer than its rows, or more than 2^32 - 1");
    require(header_.blocks <= header_.rows && header_.partitions <= header_.blocks &&
                (header_.rows == 0 || header_.partitions > 0),
            "its rows, blocks and partitions contradict each other");
    require_size(header_.bytes);
  }

  template <class X>
  [[nodiscard]] static std::span<const X> part(const table_storage& of, u64 offset, u64 count) {
    return {reinterpret_cast<const X*>(of.data + offset), static_cast<std::size_t>(count)};
  }

  /// Beginnings rise from 0 to `end`, by at most `most`.
  [[nodiscard]] static bool rises(std::span<const u32> begins, u64 end, u64 most) {
    bool holds = begins.front() == 0 && begins.back() == end;
    for (std::size_t i = 1; i < begins.size(); ++i) {
      holds &= begins[i] > begins[i - 1] && begins[i] - begins[i - 1] <= most;
    }
    return holds;
  }
  void check_places(const table_storage& made) const {
    const auto& of = made.layout;
    require(rises(part<u32>(made, of.begins, of.of_blocks.count + 1), of.rows, of.block_rows),
            "its blocks do not follow each other");
    require(rises(part<u32>(made, of.partition_begins, of.partitions + 1), of.of_blocks.count, of.of_blocks.count),
            "its partitions do not follow each other");
  }
  /// Positions are the inverse of ids.
  void check_ids(const table_storage& made) const {
    const auto& of = made.layout;
    const auto ids = part<u32>(made, of.ids, of.rows);
    const auto positions = part<u32>(made, of.positions, of.id_limit);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      require(ids[i] < of.id_limit && positions[ids[i]] == i, "its ids and positions contradict each other");
    }
    const auto used = std::ranges::count_if(positions, [](u32 one) { return one != ~u32{0}; });
    require(static_cast<u64>(used) == of.rows, "its ids and positions contradict each other");
  }

  template <class T>
  [[nodiscard]] static bool are_equal(const table_storage& a, const extremes_layout& at_a, const table_storage& b,
                                      const extremes_layout& at_b) {
    bool equal = std::ranges::equal(part<u64>(a, at_a.nans, at_a.count), part<u64>(b, at_b.nans, at_b.count)) &&
                 std::ranges::equal(part<u32>(a, at_a.first_ids, at_a.count), part<u32>(b, at_b.first_ids, at_b.count));
    for (u64 j = 0; j < a.layout.columns; ++j) {
      const u64 column = j * at_a.stride * sizeof(T);
      equal = equal &&
              std::ranges::equal(part<T>(a, at_a.maxima + column, at_a.count),
                                 part<T>(b, at_b.maxima + column, at_b.count)) &&
              std::ranges::equal(part<T>(a, at_a.minima + column, at_a.count),
                                 part<T>(b, at_b.minima + column, at_b.count));
    }
    return equal;
  }
  /// All extremes are those of the rows: made once more, and compared.
  template <class T>
  void finish(table_storage& made) const {
    const auto& of = made.layout;
    auto without_rows = counts();
    without_rows.rows = 0;
    without_rows.id_limit = 0;
    const unfinished_table again(of.type, without_rows, part<u32>(made, of.begins, of.of_blocks.count + 1),
                                 part<u32>(made, of.partition_begins, of.partitions + 1));
    const auto& right = again.storage->layout;
    for (u64 b = 0; b < of.of_blocks.count; ++b) {
      write_block_extremes<T>(made.data, of, b, again.table, right.of_blocks);
    }
    write_directory<T>(again.table, right);
    require(are_equal<T>(made, of.of_blocks, *again.storage, right.of_blocks) &&
                are_equal<T>(made, of.of_groups, *again.storage, right.of_groups) &&
                are_equal<T>(made, of.of_partitions, *again.storage, right.of_partitions) &&
                are_equal<T>(made, of.behind_blocks, *again.storage, right.behind_blocks),
            "its extremes are not those of its rows");
    draw_sample<T>(made);
  }

  table_file_header header_{};
};

}  // namespace

std::shared_ptr<const table_storage> parse_table(std::span<const std::byte> bytes, key_type type) {
  return table_parser(bytes, "threshold table").parse(type);
}

std::shared_ptr<const table_storage> open_table(const std::filesystem::path& file, key_type type) {
  auto mapped = map_file("threshold table", file);
  auto made = table_parser({mapped.data.get(), mapped.size}, "threshold table '" + file.string() + "'").parse(type);
  made->keeper = std::move(mapped.data);
  return made;
}

}  // namespace zenith::detail
