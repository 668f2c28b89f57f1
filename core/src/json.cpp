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

// What the library says of a fault, without the name of its exception in front. What it quotes of the text may be long.
std::string said_by(const json::exception& fault) {
  std::string_view all = fault.what();
  if (const auto name_end = all.find("] "); name_end != std::string_view::npos) all.remove_prefix(name_end + 2);
  const auto first = all.find('\'');
  if (first == std::string_view::npos) return std::string{all};
  const auto last = all.rfind('\'');
  return std::string{all.substr(0, first)} + shown(all.substr(first, last - first)) + std::string{all.substr(last)};
}

// The library's events, made a tree. Containers that are open are on `open_`; none of them grows while one in it is
// open, so that the addresses stay.
class tree_builder : public nlohmann::json_sax<json> {
 public:
  tree_builder(json_value& root, const json_limits& limits) : root_(root), limits_(limits) {}

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
      throw std::runtime_error("an object has two members \"" + shown(name) + "\"");
    }
    open_.back()->names.push_back(std::move(name));
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(kinds::list); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t, const std::string&, const json::exception& fault) override {
    throw std::runtime_error(said_by(fault));
  }

 private:
  bool add(kinds kind, json_value value = {}) {
    value.kind = kind;
    if (++values_ > limits_.values) {
      throw std::runtime_error("it has more than " + std::to_string(limits_.values) + " values");
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
      throw std::runtime_error("it nests more than " + std::to_string(limits_.depth) + " deep");
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
    throw std::runtime_error(said_by(fault));
  }
}

}  // namespace

const json_value* json_value::find(std::string_view name) const {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? nullptr : &values[static_cast<std::size_t>(found - names.begin())];
}

json_value parse_json(std::string_view text, const json_limits& limits) {
  json_value root;
  tree_builder builder(root, limits);
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
