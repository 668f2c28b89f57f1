#include <zenith/packed_table.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include <algorithms/packed_column/layout.hpp>
#include <core/file.hpp>
#include <core/message.hpp>
#include <core/untrusted_bytes.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace {

// The first 64 bytes of a table, as FORMAT.md has them; the checksum stands where a column's does.
struct table_header {
  char magic[4];
  std::uint16_t version;
  std::uint16_t zero_a;
  std::uint64_t columns;
  std::uint64_t bytes;
  std::uint64_t checksum;
  std::uint64_t name_bytes;
  std::uint64_t zero_b[3];
};
static_assert(sizeof(table_header) == 64);
static_assert(offsetof(table_header, checksum) == offsetof(packed_header, checksum));

struct table_entry {
  std::uint64_t bytes;
  std::uint64_t name_end;
};
static_assert(sizeof(table_entry) == 16);

constexpr std::uint16_t table_version = 1;
constexpr std::size_t longest_name = 1024;

std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + packed_alignment - 1) / packed_alignment * packed_alignment;
}

// What is wrong with a name; nothing when it is one.
std::string_view fault_of(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > longest_name) return "has more than 1024 bytes";
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(name, is_control)) return "has control characters";
  return {};
}

// Everything in front of the columns.
std::vector<std::byte> head_of(std::span<const named_packed_column> columns) {
  table_header header{};
  std::memcpy(header.magic, "ZPTB", 4);
  header.version = table_version;
  header.columns = columns.size();
  for (const auto& one : columns) header.name_bytes += one.name().size();

  const std::uint64_t names_at = sizeof header + columns.size() * sizeof(table_entry);
  std::vector<std::byte> head(round_up(names_at + header.name_bytes));
  header.bytes = head.size();
  std::uint64_t name_end = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& name = columns[i].name();
    std::memcpy(head.data() + names_at + name_end, name.data(), name.size());
    name_end += name.size();
    header.bytes += columns[i].bytes().size();
    const table_entry entry{columns[i].bytes().size(), name_end};
    std::memcpy(head.data() + sizeof header + i * sizeof entry, &entry, sizeof entry);
  }
  std::memcpy(head.data(), &header, sizeof header);
  header.checksum = packed::checksum(head);
  std::memcpy(head.data(), &header, sizeof header);
  return head;
}

// Reads a table's head; every number is held against what is left of the bytes before it is used.
class table_reader : detail::untrusted_bytes {
 public:
  table_reader(std::span<const std::byte> bytes, const std::string& source)
      : untrusted_bytes(bytes, source), header_(header<table_header>("ZPTB", table_version)) {
    require_size(header_.bytes);
    require(header_.zero_a == 0 && std::ranges::count(header_.zero_b, 0U) == 3, "reserved fields are not zero");
    const std::uint64_t left = bytes.size() - sizeof header_;
    require(header_.columns <= left / sizeof(table_entry), "it has more columns than it has bytes for");
    names_at_ = sizeof header_ + header_.columns * sizeof(table_entry);
    require(header_.name_bytes <= bytes.size() - names_at_, "its names are longer than it is");
    column_at_ = round_up(names_at_ + header_.name_bytes);
    require(column_at_ <= bytes.size(), "its names are longer than it is");
    require(packed::checksum(bytes.first(column_at_)) == header_.checksum, "its checksum does not match its bytes");
    const auto behind_names = bytes.first(column_at_).subspan(names_at_ + header_.name_bytes);
    require(std::ranges::all_of(behind_names, [](std::byte one) { return one == std::byte{0}; }),
            "what stands behind its names is not zero");
  }

  struct column {
    std::string name;
    std::span<const std::byte> bytes;
  };

  [[nodiscard]] std::uint64_t columns() const { return header_.columns; }

  column next() {
    table_entry entry;
    std::memcpy(&entry, all().data() + sizeof header_ + taken_++ * sizeof entry, sizeof entry);
    require(entry.name_end >= name_at_ && entry.name_end <= header_.name_bytes, "its names do not follow each other");
    require(entry.bytes <= all().size() - column_at_ && entry.bytes % packed_alignment == 0,
            "its columns do not follow each other");
    column found;
    found.name.resize(entry.name_end - name_at_);
    std::memcpy(found.name.data(), all().data() + names_at_ + name_at_, found.name.size());
    found.bytes = all().subspan(column_at_, entry.bytes);
    name_at_ = entry.name_end;
    column_at_ += entry.bytes;
    if (const auto fault = fault_of(found.name); !fault.empty()) corrupt("a name " + std::string{fault});
    return found;
  }

  void require_end() const {
    require(name_at_ == header_.name_bytes && column_at_ == all().size(), "it has bytes that are of no column");
  }

  using detail::untrusted_bytes::corrupt;

 private:
  table_header header_;
  std::uint64_t names_at_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t name_at_ = 0;  // within the names
  std::uint64_t column_at_ = 0;
};

}  // namespace

void save_packed_table(const std::filesystem::path& file, std::span<const named_packed_column> columns) {
  const auto reject = [&](const std::string& why) {
    throw error(error_code::invalid_argument, "packed table '" + file.string() + "': " + why);
  };
  std::vector<std::string_view> names;
  for (const auto& one : columns) {
    if (const auto fault = fault_of(one.name()); !fault.empty()) {
      reject("the name of column " + std::to_string(names.size()) + " " + std::string{fault});
    }
    if (one.bytes().empty()) reject("column '" + one.name() + "' has no bytes; pack its values, if only none");
    names.push_back(one.name());
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    reject("two columns are called '" + std::string{*twice} + "'");
  }
  const auto head = head_of(columns);
  std::vector<std::span<const std::byte>> parts{head};
  for (const auto& one : columns) parts.push_back(one.bytes());
  detail::replace_file("packed table", file, parts);
}

packed_table packed_table::open(const std::filesystem::path& file) {
  auto mapped = detail::map_file("packed table", file);
  packed_table table({mapped.data.get(), mapped.size}, "packed table '" + file.string() + "'");
  table.file_ = std::move(mapped.data);
  return table;
}

packed_table packed_table::parse(std::span<const std::byte> bytes) { return {bytes, "packed table"}; }

packed_table::packed_table(std::span<const std::byte> bytes, std::string source) : source_(std::move(source)) {
  table_reader from(bytes, source_);
  for (std::uint64_t i = 0; i < from.columns(); ++i) {
    auto found = from.next();
    if (!places_.try_emplace(found.name, i).second) from.corrupt("two columns are called '" + found.name + "'");
    try {
      columns_.push_back({found.name, detail::parse_packed(found.bytes)});
    } catch (const error& refused) {
      from.corrupt("column '" + found.name + "': " + refused.what());
    }
  }
  from.require_end();
}

std::vector<std::string> packed_table::names() const {
  std::vector<std::string> all;
  for (const auto& one : columns_) all.push_back(one.name);
  return all;
}

const packed_layout& packed_table::find(std::string_view name) const {
  const auto place = places_.find(name);
  if (place != places_.end()) return columns_[place->second].layout;
  throw error(error_code::invalid_argument,
              (source_.empty() ? "packed table" : source_) + " has no column '" + detail::shown(name) + "'");
}

const packed_layout& packed_table::find(std::string_view name, key_type type) const {
  const auto& found = find(name);
  if (found.type == type) return found;
  throw error(error_code::invalid_argument, source_ + ": column '" + std::string{name} + "' is of " +
                                                std::string{to_string(found.type)} + ", not of " +
                                                std::string{to_string(type)});
}

}  // namespace zenith
