#include <perf/study/csv.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include <perf/study/column_name.hpp>
#include <perf/study/exit_status.hpp>
#include <zenith/error.hpp>

namespace zenith_study {
namespace {

[[noreturn]] void corrupt(const std::string& what) {
  throw zenith::error(zenith::error_code::corrupt_data, "CSV: " + what);
}

// A field as it stands in the text: `raw` with its quotes if it has any, and where the next one starts.
struct cut {
  std::string_view raw;
  bool is_quoted = false;
  bool ends_row = false;
  std::size_t next = 0;
};

enum class damage : unsigned char { none, open_quote, text_after_quote };

// Cuts the field that starts at `at` <= text.size().
damage cut_field(std::string_view text, std::size_t at, cut& field) {
  std::size_t end = at;
  field.is_quoted = at < text.size() && text[at] == '"';
  if (field.is_quoted) {
    for (end = at + 1;; end += 2) {
      end = text.find('"', end);
      if (end == std::string_view::npos) return damage::open_quote;
      if (end + 1 == text.size() || text[end + 1] != '"') break;
    }
    ++end;
  } else {
    end = std::min(text.find_first_of(",\n", at), text.size());
  }
  field.raw = text.substr(at, end - at);
  if (!field.is_quoted && end < text.size() && text[end] == '\n' && field.raw.ends_with('\r'))
    field.raw.remove_suffix(1);
  if (!field.is_quoted && end == text.size() && field.raw.ends_with('\r')) field.raw.remove_suffix(1);
  if (field.is_quoted && text.substr(end, 2) == "\r\n") ++end;
  if (field.is_quoted && end + 1 == text.size() && text[end] == '\r') ++end;
  field.ends_row = end == text.size() || text[end] == '\n';
  if (!field.ends_row && text[end] != ',') return damage::text_after_quote;
  field.next = std::min(end + 1, text.size());
  return damage::none;
}

std::string unquote(const cut& field) {
  if (!field.is_quoted) return std::string{field.raw};
  std::string plain;
  const auto inner = field.raw.substr(1, field.raw.size() - 2);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    plain += inner[i];
    if (inner[i] == '"') ++i;
  }
  return plain;
}

// Cuts a row from `at` on, hands every field over, and returns where the next row starts.
template <class Take>
std::size_t cut_row(std::string_view text, std::size_t at, const std::string& name, const Take& take) {
  cut field;
  do {
    switch (cut_field(text, at, field)) {
      case damage::none: break;
      case damage::open_quote: corrupt(name + " has a quote that is never closed");
      case damage::text_after_quote: corrupt(name + " has text after a closing quote");
    }
    take(field);
    at = field.next;
  } while (!field.ends_row);
  return at;
}

std::size_t blank_line(std::string_view text, std::size_t at) {
  if (text.substr(at, 1) == "\n") return 1;
  return text.substr(at, 2) == "\r\n" ? 2 : 0;
}

bool equal_but_case(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_missing(std::string_view text) {
  constexpr std::string_view words[] = {"", "na", "n/a", "nan", "null"};
  return std::ranges::any_of(words, [&](std::string_view word) { return equal_but_case(text, word); });
}

template <class T>
std::optional<T> number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return {};
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(value)) return {};
  }
  return value;
}

}  // namespace

csv_table parse_csv(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  csv_table table;
  table.text_ = text;
  std::size_t at = 0;
  while (blank_line(text, at) != 0) at += blank_line(text, at);
  if (at == text.size()) corrupt("there is no header: the file is empty");
  at = cut_row(text, at, "the header", [&](const cut& field) { table.columns_.push_back(unquote(field)); });
  const bool skips_blank = table.columns_.size() > 1;
  while (at < text.size()) {
    if (const auto blank = blank_line(text, at); blank != 0 && skips_blank) {
      at += blank;
      continue;
    }
    const auto name = "row " + std::to_string(table.starts_.size() + 1);
    std::size_t fields = 0;
    table.starts_.push_back(at);
    at = cut_row(text, at, name, [&](const cut&) { ++fields; });
    if (fields != table.columns_.size()) {
      corrupt(name + " has " + std::to_string(fields) + " fields, but the header has " +
              std::to_string(table.columns_.size()));
    }
  }
  return table;
}

std::vector<std::string> csv_table::row(std::size_t row) const {
  std::vector<std::string> fields;
  cut_row(text_, starts_.at(row), "a row", [&](const cut& field) { fields.push_back(unquote(field)); });
  return fields;
}

std::string csv_table::field(std::size_t row, std::size_t column) const {
  cut one;
  std::size_t at = starts_.at(row);
  for (std::size_t i = 0; i <= column; ++i, at = one.next) cut_field(text_, at, one);
  return unquote(one);
}

csv_numbers read_numbers(const csv_table& from, std::string_view column, std::string_view option) {
  return read_numbers(from, find_column(from.columns(), column, option));
}

csv_numbers read_numbers(const csv_table& from, std::size_t position) {
  csv_numbers found;
  std::vector<std::int64_t> whole;
  std::vector<std::uint64_t> natural;
  std::vector<double> floating;
  std::vector<std::uint32_t> rows;
  for (std::size_t row = 0; row < from.rows(); ++row) {
    const auto text = from.field(row, position);
    const auto digits = trim(text);
    if (is_missing(digits)) {
      ++found.missing;
      continue;
    }
    const auto value = number<double>(digits);
    if (!value) {
      corrupt("column '" + from.columns()[position] + "' has text in row " + std::to_string(row + 1) + ": '" +
              text.substr(0, 60) + "'; a number, or nothing, is needed to rank by it");
    }
    // once one is missing in a list, so are all that follow
    const auto take = [&]<class T>(std::vector<T>& exact) {
      if (exact.size() != floating.size()) return;
      if (const auto same = number<T>(digits)) exact.push_back(*same);
    };
    take(whole);
    take(natural);
    floating.push_back(*value);
    rows.push_back(static_cast<std::uint32_t>(row));
  }
  if (found.missing > 0) found.rows = std::move(rows);
  if (whole.size() == floating.size()) {
    found.values = std::move(whole);
  } else if (natural.size() == floating.size()) {
    found.values = std::move(natural);
  } else {
    found.values = std::move(floating);
  }
  return found;
}

std::vector<double> read_doubles(const csv_table& from, std::string_view column, std::string_view option) {
  const auto numbers = read_numbers(from, column, option);
  std::vector<double> values(from.rows(), std::numeric_limits<double>::quiet_NaN());
  const auto place = [&]<class T>(const std::vector<T>& found) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        // as an integer: as a double it may have been rounded to the limit
        constexpr std::int64_t exact = std::int64_t{1} << 53;
        if (std::cmp_greater(found[i], exact) || std::cmp_less(found[i], -exact)) {
          reject("column '" + std::string{column} + "' has " + std::to_string(found[i]) +
                 ", which a double does not hold exactly");
        }
      }
      values[numbers.rows.empty() ? i : numbers.rows[i]] = static_cast<double>(found[i]);
    }
  };
  std::visit(place, numbers.values);
  return values;
}

}  // namespace zenith_study
