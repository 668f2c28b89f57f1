#include <perf/study/quantity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <perf/study/exit_status.hpp>

namespace zenith_study {
namespace {

constexpr std::uint64_t most = 0x7fffffffffffffffULL;

[[noreturn]] void reject(std::string_view what, std::string_view text, std::string_view why) {
  zenith_study::reject(
      fmt::format("{} is '{}'; {}", what, text, why.empty() ? "write it as 65536, 2^16, 64Ki, 64k or 1e6" : why));
}

bool parse_whole(std::string_view text, std::uint64_t& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

double unit(std::string_view suffix) {
  if (suffix.empty()) return 1;
  constexpr std::string_view letters = "kmgt";
  const auto letter = static_cast<char>(suffix.front() | 0x20);
  const auto power = letters.find(letter);
  if (power == std::string_view::npos) return 0;
  if (suffix.size() == 1) return std::pow(1000.0, static_cast<double>(power + 1));
  return suffix.substr(1) == "i" ? std::pow(1024.0, static_cast<double>(power + 1)) : 0;
}

}  // namespace

std::uint64_t parse_count(std::string_view what, std::string_view text) {
  std::uint64_t whole = 0;
  if (parse_whole(text, whole)) {
    if (whole > most) reject(what, text, "it must be below 2^63");
    return whole;
  }
  if (const auto caret = text.find('^'); caret != std::string_view::npos) {
    std::uint64_t base = 0;
    std::uint64_t power = 0;
    if (!parse_whole(text.substr(0, caret), base) || !parse_whole(text.substr(caret + 1), power))
      reject(what, text, {});
    if (base < 2 || power > 62) reject(what, text, "it must be below 2^63");
    std::uint64_t value = 1;
    for (; power > 0; --power) {
      if (value > most / base) reject(what, text, "it must be below 2^63");
      value *= base;
    }
    return value;
  }
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || !std::isfinite(number)) reject(what, text, {});
  const double scale = unit(text.substr(static_cast<std::size_t>(end - text.data())));
  if (scale == 0) reject(what, text, {});
  const double value = number * scale;
  if (value < 0 || value != std::floor(value)) reject(what, text, "it must be a whole number from 0 on");
  if (value > 9e18) reject(what, text, "it must be below 2^63");
  return static_cast<std::uint64_t>(value);
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::vector<std::uint64_t> parse_counts(std::string_view what, std::string_view text) {
  std::vector<std::uint64_t> all;
  for (const auto item : split_at_commas(text)) {
    if (const auto dots = item.find(".."); dots != std::string_view::npos) {
      const auto first = parse_count(what, item.substr(0, dots));
      const auto last = parse_count(what, item.substr(dots + 2));
      if (first > last) reject(what, text, "a range must rise");
      for (std::uint64_t k = first; k < last; k = std::max<std::uint64_t>(1, k * 2)) all.push_back(k);
      all.push_back(last);
    } else {
      all.push_back(parse_count(what, item));
    }
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

std::string with_commas(std::uint64_t value) {
  auto digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "never";
  struct scale {
    double unit;
    std::string_view name;
  };
  constexpr scale scales[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
  for (const auto& [one, name] : scales) {
    if (seconds < one && name != "ns") continue;
    const double shown = seconds / one;
    return fmt::format("{:.{}f} {}", shown, shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0, name);
  }
  return "0 s";
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto shown = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; shown >= 1024 && unit + 1 < std::size(units); ++unit) shown /= 1024;
  return fmt::format("{:.{}f} {}", shown, shown == std::floor(shown) || shown >= 99.95 ? 0 : 1, units[unit]);
}

}  // namespace zenith_study
