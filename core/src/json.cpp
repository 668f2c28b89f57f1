#include <core/json.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <core/message.hpp>

namespace zenith::detail {
namespace {

using nlohmann::json;
using kinds = json_value::kinds;

// What the library says of a fault, without the name of its exception in front.
std::string_view said_by(const json::exception& fault) {
  std::string_view all = fault.what();
  if (const auto name_end = all.find("] "); name_end != std::string_view::npos) all.remove_prefix(name_end + 2);
  return all;
}

// Cuts `text` before `mark`; what is behind it, or nothing where there is no mark.
std::string_view cut(std::string_view& text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const auto behind = text.substr(at + mark.size());
  text = text.substr(0, at);
  return behind;
}

// The end of the text's first `position` bytes within their line, without what no terminal should get.
std::string end_of_line(std::string_view text, std::size_t position) {
  constexpr std::size_t most = 24;
  auto line = text.substr(0, position);
  if (const auto before = line.rfind('\n'); before != std::string_view::npos) line.remove_prefix(before + 1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const bool is_long = line.size() > most;
  if (is_long) line.remove_prefix(line.size() - most);
  std::string made{is_long ? "..." : ""};
  for (const char one : line) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(one);
    constexpr unsigned char last_of_ascii = 0x7f;
    made += byte < last_of_ascii ? shown({&one, 1}) : std::string{"\\x"} + digits[byte >> 4U] + digits[byte & 0xfU];
  }
  return made;
}

// Where bytes [0, position) of the text end, what is wrong there and what would be right. `token` is what the library
// was reading. It says "parse error at line 1, column 2: syntax error while parsing value - invalid literal; last read:
// 'x'; expected ','", and without position and context where the syntax is right.
std::string say(const json::exception& fault, std::string_view text, std::size_t position, std::string_view token) {
  position = std::min(position, text.size());
  const auto read = text.substr(0, position);
  const auto line = 1 + std::ranges::count(read, '\n');
  const auto before = read.rfind('\n');
  const auto column = std::max<std::size_t>(1, before == std::string_view::npos ? position : position - before - 1);

  auto reason = said_by(fault);
  if (reason.starts_with("parse error")) {
    if (const auto behind = cut(reason, ": "); !behind.empty()) reason = behind;
  }
  std::string_view context;
  if (constexpr std::string_view syntax = "syntax error while parsing "; reason.starts_with(syntax)) {
    context = reason.substr(syntax.size());
    if (const auto behind = cut(context, " - "); !behind.empty()) reason = behind;
  }
  // the token may hold anything
  const auto last_read = "; last read: '" + std::string{token} + "'";
  auto expected = cut(reason, last_read);
  if (expected.starts_with("; ")) {
    expected.remove_prefix(2);
  } else {
    expected = cut(reason, "; ");
  }
  std::string said = "line " + std::to_string(line) + ", column " + std::to_string(column) + ": ";
  if (reason.starts_with("number overflow")) {
    return said + "the number " + shown(token) + " is too large; expected a number up to 1.7e308";
  }
  said += reason;
  if (const auto end = end_of_line(text, position); !end.empty()) said += " at the end of '" + end + "'";
  if (!expected.empty()) return said + "; " + std::string{expected};
  return said +
         (context == "value" || context.empty() ? "; expected a value" : "; expected an " + std::string{context});
}

// The library's events, made a tree. Containers that are open are on `open_`; none of them grows while one in it is
// open, so that the addresses stay.
class tree_builder : public nlohmann::json_sax<json> {
 public:
  tree_builder(json_value& root, std::string_view text, const json_limits& limits)
      : root_(root), text_(text), limits_(limits) {}

  bool null() override { return add(kinds::null); }
  bool boolean(bool) override { return add(kinds::boolean); }
  bool number_integer(number_integer_t value) override { return number_float(static_cast<double>(value), {}); }
  bool number_unsigned(number_unsigned_t value) override {
    json_value made;
    made.whole = value;
    made.number = static_cast<double>(value);
    return add(kinds::whole, std::move(made));
  }
  bool number_float(number_float_t value, const string_t&) override {
    json_value made;
    made.number = value;
    return add(kinds::number, std::move(made));
  }
  bool string(string_t& value) override {
    json_value made;
    made.text = std::move(value);
    return add(kinds::text, std::move(made));
  }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(kinds::object); }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) {
      throw std::runtime_error(path() + " has two members \"" + shown(name) + "\"");
    }
    open_.back()->names.push_back(std::move(name));
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(kinds::list); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string& token, const json::exception& fault) override {
    throw std::runtime_error(say(fault, text_, position, token));
  }

 private:
  // Of the container that is open, as "devices[0].rates".
  [[nodiscard]] std::string path() const {
    std::string made;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const auto& one = *open_[i];
      if (one.kind == kinds::object) {
        made += (made.empty() ? "" : ".") + shown(one.names.back());
      } else {
        made += "[" + std::to_string(one.values.size() - 1) + "]";
      }
    }
    return made.empty() ? "the text" : made;
  }
  bool add(kinds kind, json_value value = {}) {
    value.kind = kind;
    if (++values_ > limits_.values) {
      throw std::runtime_error("it has more than " + std::to_string(limits_.values) +
                               " values, of which the last is in " + path());
    }
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      open_.back()->values.push_back(std::move(value));
    }
    return true;
  }
  bool open(kinds kind) {
    if (open_.size() >= limits_.depth) {
      throw std::runtime_error("lists and objects are nested more than " + std::to_string(limits_.depth) + " deep in " +
                               path());
    }
    add(kind);
    names_.emplace_back();
    open_.push_back(open_.empty() ? &root_ : &open_.back()->values.back());
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  json_value& root_;
  std::string_view text_;
  json_limits limits_;
  std::size_t values_ = 0;
  std::vector<json_value*> open_;
  std::vector<std::set<std::string>> names_;  ///< of the members so far, of what is open
};

// Of a string or a number, whose destruction allocates nothing.
std::string dumped(const json& scalar) {
  try {
    return scalar.dump();
  } catch (const json::exception& fault) {
    throw std::runtime_error(std::string{said_by(fault)});
  }
}

}  // namespace

const json_value* json_value::find(std::string_view name) const {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? nullptr : &values[static_cast<std::size_t>(found - names.begin())];
}

json_value parse_json(std::string_view text, const json_limits& limits) {
  json_value root;
  tree_builder builder(root, text, limits);
  json::sax_parse(text.begin(), text.end(), &builder);
  return root;
}

void json_writer::open(char bracket) {
  begin_value();
  text_ += bracket;
  ++depth_;
  is_first_ = true;
}

void json_writer::close(char bracket) {
  --depth_;
  if (!is_first_) begin_line();
  text_ += bracket;
  is_first_ = false;
}

json_writer& json_writer::name(std::string_view text) {
  begin_value();
  text_ += dumped(json(text)) + ": ";
  has_name_ = true;
  return *this;
}

void json_writer::value(std::string_view text) {
  begin_value();
  text_ += dumped(json(text));
}

void json_writer::value(double number) {
  begin_value();
  text_ += dumped(json(number));
}

void json_writer::value(std::uint64_t number) {
  begin_value();
  text_ += std::to_string(number);
}

void json_writer::value(int number) {
  begin_value();
  text_ += std::to_string(number);
}

void json_writer::begin_value() {
  if (!std::exchange(has_name_, false) && depth_ > 0) {
    if (!is_first_) text_ += ',';
    begin_line();
  }
  is_first_ = false;
}

void json_writer::begin_line() {
  text_ += '\n';
  text_.append(2 * depth_, ' ');
}

}  // namespace zenith::detail
