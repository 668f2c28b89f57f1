#include <perf/study/python_literal.hpp>

#include <charconv>

#include <zenith/error.hpp>

namespace zenith_study {
namespace {

constexpr int deepest = 8;

class parser {
 public:
  explicit parser(std::string_view text) : text_(text) {}

  python_literal parse() {
    auto value = parse_value(0);
    skip_space();
    if (!text_.empty()) fail("text follows the dictionary");
    return value;
  }

 private:
  [[noreturn]] static void fail(const char* why) {
    throw zenith::error(zenith::error_code::corrupt_data, std::string{"npy: the header is damaged: "} + why);
  }

  void skip_space() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t')) {
      text_.remove_prefix(1);
    }
  }

  bool take(std::string_view word) {
    skip_space();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  python_literal parse_value(int depth) {
    if (depth > deepest) fail("it is nested too deep");
    if (take("(")) return parse_sequence(")", depth);
    if (take("[")) return parse_sequence("]", depth);
    if (take("{")) return parse_dictionary(depth);
    if (take("True")) return truth(true);
    if (take("False")) return truth(false);
    if (take("'")) return parse_text('\'');
    if (take("\"")) return parse_text('"');
    return parse_number();
  }

  static python_literal truth(bool value) {
    python_literal found;
    found.what = python_literal::kind::truth;
    found.number = value ? 1 : 0;
    return found;
  }

  python_literal parse_sequence(std::string_view end, int depth) {
    python_literal found;
    found.what = python_literal::kind::sequence;
    while (!take(end)) {
      found.items.push_back(parse_value(depth + 1));
      if (take(",")) continue;
      if (!take(end)) fail("a list or tuple is not closed");
      break;
    }
    return found;
  }

  python_literal parse_dictionary(int depth) {
    python_literal found;
    found.what = python_literal::kind::dictionary;
    while (!take("}")) {
      found.items.push_back(parse_value(depth + 1));
      if (!take(":")) fail("a key without a value");
      found.items.push_back(parse_value(depth + 1));
      if (take(",")) continue;
      if (!take("}")) fail("the dictionary is not closed");
      break;
    }
    return found;
  }

  python_literal parse_text(char quote) {
    python_literal found;
    found.what = python_literal::kind::text;
    while (true) {
      if (text_.empty()) fail("a string is not closed");
      char c = text_.front();
      text_.remove_prefix(1);
      if (c == quote) return found;
      if (c == '\\') {
        if (text_.empty()) fail("a string is not closed");
        c = text_.front();
        text_.remove_prefix(1);
      }
      found.text += c;
    }
  }

  python_literal parse_number() {
    python_literal found;
    const auto [end, status] = std::from_chars(text_.data(), text_.data() + text_.size(), found.number);
    if (status != std::errc{}) fail("a value is neither string, number nor list");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    // Python 2 wrote long numbers as 10L
    if (text_.starts_with('L')) text_.remove_prefix(1);
    return found;
  }

  std::string_view text_;
};

}  // namespace

const python_literal* python_literal::find(std::string_view key) const {
  if (what != kind::dictionary) return nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].what == kind::text && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

python_literal parse_python_literal(std::string_view text) { return parser(text).parse(); }

}  // namespace zenith_study
