#include <perf/study/npy.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <perf/study/column_name.hpp>
#include <perf/study/python_literal.hpp>
#include <zenith/error.hpp>

namespace zenith_study {
namespace {

constexpr std::size_t most_columns = 65536;

[[noreturn]] void corrupt(const std::string& what) {
  throw zenith::error(zenith::error_code::corrupt_data, "npy: " + what);
}

[[noreturn]] void unsupported(const std::string& what) {
  throw zenith::error(zenith::error_code::unsupported, "npy: " + what);
}

// Bytes of the numbers in a header's length: two in version 1, four from 2 on, the lowest first.
std::size_t read_length(std::span<const std::byte> bytes) {
  std::size_t length = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) length = length << 8 | std::to_integer<std::size_t>(bytes[i - 1]);
  return length;
}

// "<f4": byte order, kind, bytes.
npy_table::column parse_type(const python_literal& type, std::string name) {
  if (type.what == python_literal::kind::sequence) unsupported("structures inside structures cannot be ranked");
  if (type.what != python_literal::kind::text || type.text.size() < 2)
    corrupt("the header is damaged: 'descr' names no type");
  const std::string_view text = type.text;
  const char order = text[0];
  npy_table::column found;
  found.name = std::move(name);
  found.kind = text[1];
  found.is_big_endian = order == '>';
  if (std::string_view{"<>|="}.find(order) == std::string_view::npos)
    corrupt("the type '" + type.text.substr(0, 20) + "' names no byte order");
  if (found.kind == 'O') unsupported("Python objects cannot be read; save numbers instead");
  // a datetime's unit follows in brackets
  const auto digits =
      text.substr(2, text.find('[') == std::string_view::npos ? std::string_view::npos : text.find('[') - 2);
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), found.bytes);
  if (status != std::errc{} || end != digits.data() + digits.size() || found.bytes > (std::size_t{1} << 30)) {
    corrupt("the type '" + type.text.substr(0, 20) + "' names no size");
  }
  if (found.kind == 'U') found.bytes *= 4;
  const bool fits = found.kind == 'f'   ? found.bytes == 2 || found.bytes == 4 || found.bytes == 8 || found.bytes == 16
                    : found.kind == 'b' ? found.bytes == 1
                    : found.kind == 'i' || found.kind == 'u'
                        ? found.bytes == 1 || found.bytes == 2 || found.bytes == 4 || found.bytes == 8
                        : std::string_view{"cmMSUVa"}.find(found.kind) != std::string_view::npos;
  if (!fits) corrupt("there is no type '" + type.text.substr(0, 20) + "'");
  return found;
}

// ('name', '<f4'), or (('title', 'name'), '<f4'), or with a third item for an array in the structure.
npy_table::column parse_field(const python_literal& field) {
  using kind = python_literal::kind;
  if (field.what != kind::sequence || field.items.size() < 2 || field.items.size() > 3) {
    corrupt("the header is damaged: a field has no name and type");
  }
  if (field.items.size() == 3) unsupported("arrays inside structures cannot be ranked");
  const auto* name = &field.items[0];
  if (name->what == kind::sequence && name->items.size() == 2) name = &name->items[1];
  if (name->what != kind::text) corrupt("the header is damaged: a field has no name");
  return parse_type(field.items[1], name->text);
}

std::size_t multiply(std::size_t a, std::size_t b) {
  if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b) corrupt("its shape is larger than any memory");
  return a * b;
}

std::vector<std::size_t> parse_shape(const python_literal& shape) {
  if (shape.what != python_literal::kind::sequence) corrupt("the header is damaged: 'shape' is no tuple");
  std::vector<std::size_t> sizes;
  for (const auto& size : shape.items) {
    if (size.what != python_literal::kind::number) corrupt("the header is damaged: 'shape' holds no numbers");
    sizes.push_back(static_cast<std::size_t>(size.number));
  }
  return sizes;
}

template <class T>
T load(const std::byte* from, bool is_big_endian) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (is_big_endian != (std::endian::native == std::endian::big)) std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

float from_half(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const auto fraction = static_cast<float>(half & 0x3ff);
  const float magnitude = exponent == 31  ? (fraction == 0 ? std::numeric_limits<float>::infinity()
                                                           : std::numeric_limits<float>::quiet_NaN())
                          : exponent == 0 ? std::ldexp(fraction, -24)
                                          : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xe0 | c >> 12);
    } else {
      put(0xf0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3f));
    }
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

template <class T>
std::string shortest(T value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

std::string text_of(const npy_table::column& column, const std::byte* at) {
  const bool big = column.is_big_endian;
  const auto wide = [&]<class T8, class T16, class T32, class T64>(T8, T16, T32, T64) {
    switch (column.bytes) {
      case 1: return std::to_string(load<T8>(at, big));
      case 2: return std::to_string(load<T16>(at, big));
      case 4: return std::to_string(load<T32>(at, big));
      case 8: return std::to_string(load<T64>(at, big));
      default: return std::string{"?"};
    }
  };
  std::string text;
  switch (column.kind) {
    case 'b': return load<std::uint8_t>(at, big) != 0 ? "True" : "False";
    case 'u': return wide(std::uint8_t{}, std::uint16_t{}, std::uint32_t{}, std::uint64_t{});
    case 'i':
    case 'm':
    case 'M': return wide(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::int64_t{});
    case 'f':
      if (column.bytes == 2) return shortest(from_half(load<std::uint16_t>(at, big)));
      if (column.bytes == 4) return shortest(load<float>(at, big));
      if (column.bytes == 8) return shortest(load<double>(at, big));
      return "?";
    case 'S':
    case 'a':
      text.assign(reinterpret_cast<const char*>(at), column.bytes);
      text.erase(text.find_last_not_of('\0') + 1);
      return text;
    case 'U':
      for (std::size_t i = 0; i + 4 <= column.bytes; i += 4) {
        const auto c = load<std::uint32_t>(at + i, big);
        if (c == 0) break;
        append_utf8(text, c);
      }
      return text;
    default: return "?";
  }
}

}  // namespace

struct npy_access {
  static const std::byte* at(const npy_table& table, std::size_t row, const npy_table::column& column) {
    return table.data_.data() + row * table.stride_ + column.offset;
  }

  template <class Stored, class T = Stored>
  static npy_values numbers(const npy_table& table, const npy_table::column& column) {
    std::vector<T> values(table.rows());
    for (std::size_t row = 0; row < values.size(); ++row) {
      const auto stored = load<Stored>(at(table, row, column), column.is_big_endian);
      if constexpr (std::is_same_v<Stored, std::uint16_t> && std::is_same_v<T, float>) {
        values[row] = from_half(stored);
      } else {
        values[row] = stored;
      }
    }
    return values;
  }
};

npy_table parse_npy(std::span<const std::byte> bytes) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (bytes.empty()) corrupt("the file is empty");
  if (bytes.size() < magic.size() + 4 || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
    corrupt("it does not begin as a .npy file does");
  }
  const auto version = std::to_integer<int>(bytes[6]);
  if (version < 1 || version > 3)
    unsupported("its format has version " + std::to_string(version) + "; versions 1 to 3 can be read");
  const std::size_t digits = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + digits) corrupt("it ends inside its header");
  const std::size_t length = read_length(bytes.subspan(8, digits));
  const std::size_t start = 8 + digits;
  if (length > bytes.size() - start) corrupt("it ends inside its header");
  const auto header = parse_python_literal({reinterpret_cast<const char*>(bytes.data()) + start, length});

  const auto* type = header.find("descr");
  const auto* fortran = header.find("fortran_order");
  const auto* shape = header.find("shape");
  if (type == nullptr || fortran == nullptr || shape == nullptr) {
    corrupt("the header is damaged: it must have 'descr', 'fortran_order' and 'shape'");
  }
  const auto sizes = parse_shape(*shape);
  if (fortran->number != 0 && sizes.size() > 1) {
    unsupported("the matrix is stored by columns (Fortran order); save numpy.ascontiguousarray(a) instead");
  }
  if (sizes.empty() || sizes.size() > 2) {
    unsupported("the array has " + std::to_string(sizes.size()) + " dimensions; one or two can be ranked");
  }

  npy_table table;
  if (type->what == python_literal::kind::sequence) {
    if (sizes.size() == 2) unsupported("a matrix of structures cannot be ranked; one dimension can");
    for (const auto& field : type->items) {
      // padding has no name
      auto column = parse_field(field);
      column.offset = table.stride_;
      table.stride_ += column.bytes;
      if (!column.name.empty()) table.columns_.push_back(std::move(column));
    }
  } else {
    const auto one = parse_type(*type, "value");
    const std::size_t columns = sizes.size() == 2 ? sizes[1] : 1;
    if (columns > most_columns)
      unsupported("the matrix has " + std::to_string(columns) + " columns; at most 65536 can be read");
    table.stride_ = multiply(one.bytes, columns);
    for (std::size_t i = 0; i < columns; ++i) {
      table.columns_.push_back(one);
      table.columns_.back().offset = i * one.bytes;
      if (sizes.size() == 2) table.columns_.back().name = std::to_string(i);
    }
  }
  table.rows_ = sizes[0];
  table.data_ = bytes.subspan(start + length);
  const std::size_t needed = multiply(table.rows_, table.stride_);
  if (table.stride_ == 0 && table.rows_ > 0) corrupt("its items have no bytes");
  if (needed != table.data_.size()) {
    corrupt("its shape needs " + std::to_string(needed) + " bytes of data, but " + std::to_string(table.data_.size()) +
            " follow the header");
  }
  return table;
}

std::vector<std::string> npy_table::column_names() const {
  std::vector<std::string> names;
  for (const auto& one : columns_) names.push_back(one.name);
  return names;
}

std::vector<std::string> npy_table::row(std::size_t row) const {
  std::vector<std::string> fields;
  for (const auto& one : columns_) fields.push_back(text_of(one, npy_access::at(*this, row, one)));
  return fields;
}

npy_values read_numbers(const npy_table& from, std::string_view column) {
  const bool is_only = column.empty() && from.columns().size() == 1;
  const auto& one = from.columns()[is_only ? 0 : find_column(from.column_names(), column)];
  switch (one.kind * 32 + static_cast<int>(one.bytes & 31)) {
    case 'f' * 32 + 2: return npy_access::numbers<std::uint16_t, float>(from, one);
    case 'f' * 32 + 4: return npy_access::numbers<float>(from, one);
    case 'f' * 32 + 8: return npy_access::numbers<double>(from, one);
    case 'i' * 32 + 1: return npy_access::numbers<std::int8_t, std::int32_t>(from, one);
    case 'i' * 32 + 2: return npy_access::numbers<std::int16_t, std::int32_t>(from, one);
    case 'i' * 32 + 4: return npy_access::numbers<std::int32_t>(from, one);
    case 'i' * 32 + 8: return npy_access::numbers<std::int64_t>(from, one);
    case 'u' * 32 + 1: return npy_access::numbers<std::uint8_t, std::uint32_t>(from, one);
    case 'u' * 32 + 2: return npy_access::numbers<std::uint16_t, std::uint32_t>(from, one);
    case 'u' * 32 + 4: return npy_access::numbers<std::uint32_t>(from, one);
    case 'u' * 32 + 8: return npy_access::numbers<std::uint64_t>(from, one);
    default: break;
  }
  unsupported("column '" + one.name + "' holds NumPy type '" + one.kind + std::to_string(one.bytes) +
              "', which is not a number that can be ranked");
}

}  // namespace zenith_study
