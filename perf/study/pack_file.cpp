#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <perf/study/csv.hpp>
#include <perf/study/files.hpp>
#include <perf/study/pack_study.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/study_options.hpp>
#include <zenith/error.hpp>

namespace zenith_study {
namespace {

// A column of a table as integers: its values, or with decimals the values times a power of ten.
struct integer_column {
  std::variant<std::vector<std::int64_t>, std::vector<std::uint64_t>> values;
  int decimals = 0;

  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& all) { return all.size(); }, values);
  }
};

std::optional<integer_column> as_integers(const csv_numbers& numbers) {
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&numbers.values)) return integer_column{*whole, 0};
  if (const auto* natural = std::get_if<std::vector<std::uint64_t>>(&numbers.values))
    return integer_column{*natural, 0};
  const auto& reals = std::get<std::vector<double>>(numbers.values);
  constexpr double exact = 0x1p53;
  for (int decimals = 0; decimals <= 6; ++decimals) {
    const double unit = std::pow(10.0, decimals);
    const auto scales = [&](double value) {
      const double scaled = std::round(value * unit);
      return std::abs(scaled) < exact && scaled / unit == value;
    };
    if (!std::ranges::all_of(reals, scales)) continue;
    std::vector<std::int64_t> scaled;
    scaled.reserve(reals.size());
    for (const double value : reals) scaled.push_back(std::llround(value * unit));
    return integer_column{std::move(scaled), decimals};
  }
  return std::nullopt;
}

// Its type, the narrowest that holds its values, and whether all was measured.
study_part& measure_column(pack_study& study, const std::string& name, const integer_column& column) {
  const auto measure = [&]<class T>(std::vector<T> values) -> study_part& {
    auto type = std::string{to_string(zenith::key_type_of<T>)};
    if (column.decimals > 0) type += fmt::format(" / 10^{}", column.decimals);
    const auto count = values.size();
    return study.measure_column({}, std::move(values),
                                {{"column", 0, {}, name}, {"values", count}, {"type", 0, {}, type}});
  };
  if (const auto* natural = std::get_if<std::vector<std::uint64_t>>(&column.values)) return measure(*natural);
  const auto& values = std::get<std::vector<std::int64_t>>(column.values);
  const auto is_narrow = [](std::int64_t value) { return value == static_cast<std::int32_t>(value); };
  if (!std::ranges::all_of(values, is_narrow)) return measure(values);
  return measure(std::vector<std::int32_t>(values.begin(), values.end()));
}

}  // namespace

int pack_file(const pack_options& given) {
  const auto text = read_input_file(given.input);
  const auto parsed = parse_csv(text);
  pack_study study("pack", given.backends, given.time_limit);
  std::vector<std::string> left_out;
  double plain_bits = 0;
  double packed_bits = 0;
  for (std::size_t position = 0; position < parsed.columns().size(); ++position) {
    const auto& name = parsed.columns()[position];
    std::optional<csv_numbers> numbers;
    try {
      numbers = read_numbers(parsed, position);
    } catch (const zenith::error& fault) {
      if (fault.code() != zenith::error_code::corrupt_data) throw;
      left_out.push_back(name + " (text)");
      continue;
    }
    const auto column = as_integers(*numbers);
    if (!column || column->size() == 0) {
      left_out.push_back(name + (column ? " (no values)" : " (no integers of 64 bits, nor decimals of six places)"));
      continue;
    }
    const auto& part = measure_column(study, name, *column);
    for (const auto& one : study.rows_of(part)) {
      if (one.first().series != 0) continue;
      const double bits = one.number("bits_per_value") * static_cast<double>(column->size());
      if (one.coordinates().back().text == to_string(zenith::encoding::plain)) plain_bits += bits;
      if (one.number("smallest") == 1) packed_bits += bits;
    }
  }
  const auto out = left_out.empty() ? "" : printable(fmt::format("left out: {}", fmt::join(left_out, ", "))) + "\n";
  if (study.parts().empty()) {
    fmt::print("{} rows of {}\n{}", with_commas(parsed.rows()), given.input, out);
    reject(fmt::format("{} has no column of numbers to pack", given.input));
  }
  const auto columns = study.columns("", [](const study_row& of, double seconds) {
    return fmt::format("{:.2f}", static_cast<double>(of.at("values")) / seconds / 1e9);
  });
  fmt::print(
      "{} rows of {}\n\n{}\n* the smallest, which automatic takes; sum and unpack in G values/s, as measured and as "
      "predicted\n{}{}",
      with_commas(parsed.rows()), given.input, study.table_of({}, columns), study.faults(), out);
  fmt::print("all numeric columns: {} plain, {} packed, {:.1f} times smaller\n",
             format_bytes(static_cast<std::uint64_t>(plain_bits / 8)),
             format_bytes(static_cast<std::uint64_t>(packed_bits / 8)), plain_bits / packed_bits);
  return study.status();
}

}  // namespace zenith_study
