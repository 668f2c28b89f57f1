#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// \file
/// JSON read and written without the JSON library's tree, which allocates when it is destroyed, under noexcept: memory
/// that runs out there ends the process. The library scans the text and formats strings and numbers.

namespace zenith::detail {

/// A value of a text. It is destroyed without allocating.
struct json_value {
  enum class kinds { null, boolean, whole, number, text, list, object };

  kinds kind = kinds::null;
  std::uint64_t whole = 0;         ///< of kind whole: a number without sign, fraction and exponent
  double number = 0;               ///< of kinds whole and number
  std::string text;                ///< of kind text
  std::vector<json_value> values;  ///< of a list, or of an object's members
  std::vector<std::string> names;  ///< of an object's members, in the order of the text

  /// The member of that name; nullptr if there is none.
  [[nodiscard]] const json_value* find(std::string_view name) const;
};

/// What a text from outside may cost.
struct json_limits {
  std::size_t depth = 0;   ///< of lists and objects in each other
  std::size_t values = 0;  ///< in the whole text
};

/// Throws `std::runtime_error` that says what is wrong and where: bad syntax, text that is not UTF-8, an object with
/// two members of one name, more than the limits allow.
[[nodiscard]] json_value parse_json(std::string_view text, const json_limits& limits);

/// Builds a text, two blanks an indentation. Brackets and names come in the order of the text.
class json_writer {
 public:
  void open(char bracket);
  void close(char bracket);
  /// Of the object's member that comes next.
  json_writer& name(std::string_view text);

  /// Throws `std::runtime_error` for text that is not UTF-8, as name() does.
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view{text}); }
  /// The shortest digits that are read as the same number.
  void value(double number);
  void value(std::uint64_t number);
  void value(int number);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void begin_value();
  void begin_line();

  std::string text_;
  std::size_t depth_ = 0;
  bool is_first_ = true;   ///< of what is open
  bool has_name_ = false;  ///< a name was written, and its value comes next
};

}  // namespace zenith::detail
