#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <perf/study/csv.hpp>
#include <perf/study/input_file.hpp>
#include <perf/study/pack_sweep.hpp>
#include <perf/study/printable.hpp>
#include <perf/study/quantity.hpp>
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

struct measured_column {
  std::string type;  // the narrowest that holds its values
  sweep measured;
};

measured_column measure_column(const integer_column& column, const pack_sweep& study, progress& shown) {
  if (const auto* natural = std::get_if<std::vector<std::uint64_t>>(&column.values)) {
    return {"uint64", study.run(*natural, shown)};
  }
  const auto& values = std::get<std::vector<std::int64_t>>(column.values);
  const auto is_narrow = [](std::int64_t value) { return value == static_cast<std::int32_t>(value); };
  if (!std::ranges::all_of(values, is_narrow)) return {"int64", study.run(values, shown)};
  return {"int32", study.run(std::vector<std::int32_t>(values.begin(), values.end()), shown)};
}

}  // namespace

int pack_file(const pack_options& given) {
  const auto text = read_input_file(given.input);
  const auto parsed = parse_csv(text);
  const pack_sweep study(given);
  std::string name;
  std::string type;
  std::uint64_t count = 0;
  auto columns = study.columns(
      "", [&](double seconds) { return fmt::format("{:.2f}", static_cast<double>(count) / seconds / 1e9); });
  columns.insert(columns.begin(), {{"column", align::left, [&](const row&) { return name; }, true},
                                   {"values", align::right, [&](const row&) { return with_commas(count); }, true},
                                   {"type", align::left, [&](const row&) { return type; }, true}});
  auto shown = table_of(columns);
  std::vector<std::string> left_out;
  double plain_bits = 0;
  double packed_bits = 0;
  {
    progress bar("pack");
    for (std::size_t position = 0; position < parsed.columns().size(); ++position) {
      name = parsed.columns()[position];
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
      count = column->size();
      auto [narrowest, measured] = measure_column(*column, study, bar);
      type = std::move(narrowest);
      if (column->decimals > 0) type += fmt::format(" / 10^{}", column->decimals);
      add_rows(shown, columns, rows_of(measured));
      for (const auto& one : rows_of(measured)) {
        if (one[0].series != 0) continue;
        const double bits = bits_per_value(one[0]) * static_cast<double>(count);
        if (encoding_of(one[0]) == zenith::encoding::plain) plain_bits += bits;
        if (is_smallest(one[0])) packed_bits += bits;
      }
    }
  }
  fmt::print("{} rows of {}\n\n{}\n", with_commas(parsed.rows()), given.input, shown.text());
  fmt::print("* the smallest, which automatic takes; sum and unpack in G values/s, as measured and as predicted\n");
  if (!left_out.empty()) fmt::print("left out: {}\n", printable(fmt::format("{}", fmt::join(left_out, ", "))));
  if (packed_bits == 0) {
    throw zenith::error(zenith::error_code::invalid_argument,
                        fmt::format("{} has no column of numbers to pack", given.input));
  }
  fmt::print("all numeric columns: {} plain, {} packed, {:.1f} times smaller\n",
             format_bytes(static_cast<std::uint64_t>(plain_bits / 8)),
             format_bytes(static_cast<std::uint64_t>(packed_bits / 8)), plain_bits / packed_bits);
  return 0;
}

}  // namespace zenith_study
