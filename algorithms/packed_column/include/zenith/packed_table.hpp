#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zenith/no_overload.hpp>
#include <zenith/packed_column.hpp>

/// \file
/// Tables of packed columns in files: written whole or not at all, and mapped into memory, not read: the bytes in the
/// file are the columns.

namespace zenith {

/// A column with the name that it is to have in a table. Borrows the column's bytes.
class named_packed_column {
 public:
  template <packable T>
  named_packed_column(std::string name, const packed_view<T>& column)
      : name_(std::move(name)), bytes_(column.bytes()) {}
  template <packable T>
  named_packed_column(std::string name, const packed_column<T>& column)
      : named_packed_column(std::move(name), column.view()) {}
  ZENITH_NO_CONSTRUCTOR(named_packed_column);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::string name_;
  std::span<const std::byte> bytes_;
};

/// Writes `columns` as a table to `file`, in their order; their lengths and types may differ. A temporary file in the
/// same folder is written, and then replaces `file`. So a reader sees the old file or the new one, and a failed call
/// leaves the old one. Symbolic links are followed, an old file's permissions kept, and nothing but a regular file
/// replaced. Names are 1 to 1024 bytes without control characters, each used once. O(bytes). Throws `invalid_argument`,
/// naming the file, for other names, for a default-made view, which has no bytes, and for what cannot be written.
void save_packed_table(const std::filesystem::path& file, std::span<const named_packed_column> columns);
inline void save_packed_table(const std::filesystem::path& file, std::initializer_list<named_packed_column> columns) {
  save_packed_table(file, std::span(columns.begin(), columns.size()));
}
ZENITH_NO_OVERLOAD(save_packed_table);

/// A table of packed columns in memory that is read only: a mapped file, or bytes that somebody else owns. Its columns
/// are views that must not outlive it. Any number of threads, and of processes, may read one file. Moves, does not
/// copy.
class packed_table {
 public:
  /// No columns.
  packed_table() = default;
  packed_table(packed_table&&) noexcept = default;
  packed_table& operator=(packed_table&&) noexcept = default;
  packed_table(const packed_table&) = delete;
  packed_table& operator=(const packed_table&) = delete;
  ~packed_table() = default;

  /// Maps `file` into memory and checks all of it, each column as `packed_view::parse` does: O(bytes), and no copy. The
  /// file must not be changed in place or cut short while it is open; `save_packed_table` does neither. Throws, naming
  /// the file, `invalid_argument` when it cannot be read and `corrupt_data` when it is not a whole table.
  [[nodiscard]] static packed_table open(const std::filesystem::path& file);
  /// The same over borrowed bytes, at any alignment.
  [[nodiscard]] static packed_table parse(std::span<const std::byte> bytes);
  ZENITH_NO_STATIC_OVERLOAD(parse);

  /// How many columns there are.
  [[nodiscard]] std::size_t size() const noexcept { return columns_.size(); }
  /// The columns' names, in the order in which they were saved.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(std::string_view name) const noexcept { return places_.find(name) != places_.end(); }
  /// The type of a column's values; throws `invalid_argument` when there is no such column.
  [[nodiscard]] key_type type(std::string_view name) const { return find(name).type; }
  /// The column called `name`. O(log size()). Throws `invalid_argument`, naming the file, when there is none, or one of
  /// another type.
  template <packable T>
  [[nodiscard]] packed_view<T> column(std::string_view name) const {
    return packed_view<T>(find(name, key_type_of<T>));
  }
  ZENITH_NO_CONST_OVERLOAD(column);

 private:
  struct entry {
    std::string name;
    packed_layout layout;
  };

  packed_table(std::span<const std::byte> bytes, std::string source);
  [[nodiscard]] const packed_layout& find(std::string_view name) const;
  [[nodiscard]] const packed_layout& find(std::string_view name, key_type type) const;

  std::string source_;                     // for messages
  std::shared_ptr<const std::byte> file_;  // what is mapped, if anything is
  std::vector<entry> columns_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace zenith
