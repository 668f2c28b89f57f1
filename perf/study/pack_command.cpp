#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include <perf/study/commands.hpp>
#include <perf/study/csv.hpp>
#include <perf/study/input_file.hpp>
#include <perf/study/line_chart.hpp>
#include <perf/study/measure_packed.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/packed_data.hpp>
#include <perf/study/printable.hpp>
#include <perf/study/progress.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/report.hpp>
#include <perf/study/table.hpp>
#include <zenith/error.hpp>

namespace zenith_study {
namespace {

struct settings {
  std::string input;
  std::vector<std::string> backends;
  std::vector<std::string> figures;
  std::string count = "2^22";
  std::uint64_t seed = 1;
  double time_limit = 0.03;
  std::string output = default_output();
};

time_limits limits_of(const settings& given) { return {.most_repeats = 1000, .enough_seconds = given.time_limit}; }

// The backends that were named, or every usable one that packs columns at speed.
std::vector<std::string> executors_of(const settings& given) {
  if (!given.backends.empty()) return given.backends;
  std::vector<std::string> found;
  for (const auto& one : zenith::backends()) {
    const auto offers = std::ranges::find(one.strategies, "packed_sum/tiles") != one.strategies.end();
    if (one.usable && offers && one.name != "reference") found.push_back(one.name);
  }
  return found;
}

std::string speed(std::uint64_t count, double seconds) {
  return fmt::format("{:.2f}", static_cast<double>(count) / seconds / 1e9);
}

// A real table --------------------------------------------------------------------------------------------------------

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
  std::vector<packed_measurement> encodings;
};

measured_column measure_column(const integer_column& column, std::span<const std::string> executors,
                               const time_limits& limits) {
  if (const auto* natural = std::get_if<std::vector<std::uint64_t>>(&column.values)) {
    return {"uint64", measure_packed<std::uint64_t>(*natural, executors, limits)};
  }
  const auto& values = std::get<std::vector<std::int64_t>>(column.values);
  const auto is_narrow = [](std::int64_t value) { return value == static_cast<std::int32_t>(value); };
  if (!std::ranges::all_of(values, is_narrow)) {
    return {"int64", measure_packed<std::int64_t>(values, executors, limits)};
  }
  const std::vector<std::int32_t> halves(values.begin(), values.end());
  return {"int32", measure_packed<std::int32_t>(halves, executors, limits)};
}

int pack_file(const settings& given) {
  const auto text = read_input_file(given.input);
  const auto parsed = parse_csv(text);
  const auto executors = executors_of(given);
  table shown({{"column", align::left},
               {"values"},
               {"type", align::left},
               {"encoding", align::left},
               {"", align::left},
               {"bits/value"},
               {"backend", align::left},
               {"unpack"},
               {"sum"}});
  std::vector<std::string> left_out;
  double plain_bits = 0;
  double packed_bits = 0;
  {
    progress bar("pack");
    const auto columns = parsed.columns().size();
    for (std::size_t position = 0; position < columns; ++position) {
      const auto& name = parsed.columns()[position];
      bar.show(static_cast<double>(position) / static_cast<double>(columns), name);
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
      auto [type, all] = measure_column(*column, executors, limits_of(given));
      if (column->decimals > 0) type += fmt::format(" / 10^{}", column->decimals);
      shown.add_gap();
      const zenith::encoding* before = nullptr;
      for (const auto& one : all) {
        const bool first = before == nullptr;
        const bool repeated = !first && *before == one.kind;
        before = &one.kind;
        shown.add({first ? name : "", first ? with_commas(column->size()) : "", first ? type : "",
                   repeated ? "" : std::string{zenith::to_string(one.kind)}, one.is_smallest && !repeated ? "*" : "",
                   repeated ? "" : fmt::format("{:.2f}", one.bits_per_value), one.executor,
                   speed(column->size(), one.unpack_seconds), speed(column->size(), one.sum_seconds)});
        const auto bits = one.bits_per_value * static_cast<double>(column->size());
        if (one.executor == executors.front()) {
          if (one.kind == zenith::encoding::plain) plain_bits += bits;
          if (one.is_smallest) packed_bits += bits;
        }
      }
    }
  }
  fmt::print("{} rows of {}\n\n{}\n", with_commas(parsed.rows()), given.input, shown.text());
  fmt::print("* the smallest, which automatic takes; unpack and sum in G values/s\n");
  if (!left_out.empty()) fmt::print("left out: {}\n", printable(fmt::format("{}", fmt::join(left_out, ", "))));
  if (packed_bits == 0) {
    throw zenith::error(zenith::error_code::invalid_argument,
                        fmt::format("{} has no column of numbers to pack", given.input));
  }
  fmt::print("all numeric columns: {} plain, {} packed, {:.1f} times smaller\n",
             format_bytes(static_cast<std::uint64_t>(plain_bits / 8)),
             format_bytes(static_cast<std::uint64_t>(packed_bits / 8)), plain_bits / packed_bits);
  return succeeded;
}

// The figures of chapter 5 --------------------------------------------------------------------------------------------

struct figure_point {
  double parameter;
  std::vector<packed_measurement> measured;
};

double nanoseconds(double seconds, std::uint64_t count) { return seconds / static_cast<double>(count) * 1e9; }

std::vector<line_chart> charts_of(packed_figure figure, const std::vector<figure_point>& points, std::uint64_t count,
                                  const std::string& executor) {
  const bool log_x = figure == packed_figure::sorted || figure == packed_figure::normal;
  const std::string axis{axis_of(figure)};
  std::vector<line_chart> charts{{"Size", axis, "bits a value", log_x, false, {}},
                                 {"Aggregation", axis, "ns a value (log)", log_x, true, {}},
                                 {"Decompression", axis, "ns a value (log)", log_x, true, {}}};
  for (const auto kind : zenith::packed_encodings) {
    for (auto& chart : charts) chart.lines.push_back({std::string{zenith::to_string(kind)}, {}});
    for (const auto& point : points) {
      for (const auto& one : point.measured) {
        if (one.kind != kind || one.executor != executor) continue;
        charts[0].lines.back().points.emplace_back(point.parameter, one.bits_per_value);
        charts[1].lines.back().points.emplace_back(point.parameter, nanoseconds(one.sum_seconds, count));
        charts[2].lines.back().points.emplace_back(point.parameter, nanoseconds(one.unpack_seconds, count));
      }
    }
  }
  return charts;
}

std::string table_of(packed_figure figure, const std::vector<figure_point>& points, std::uint64_t count) {
  table shown({{std::string{axis_of(figure)}},
               {"encoding", align::left},
               {"", align::left},
               {"bits/value"},
               {"backend", align::left},
               {"sum, ns/value"},
               {"unpack, ns/value"}});
  for (const auto& point : points) {
    shown.add_gap();
    for (const auto& one : point.measured) {
      const bool first = &one == &point.measured.front();
      shown.add({first ? fmt::format("{:g}", point.parameter) : "", std::string{zenith::to_string(one.kind)},
                 one.is_smallest ? "*" : "", fmt::format("{:.2f}", one.bits_per_value), one.executor,
                 fmt::format("{:.3f}", nanoseconds(one.sum_seconds, count)),
                 fmt::format("{:.3f}", nanoseconds(one.unpack_seconds, count))});
    }
  }
  return shown.text();
}

std::string json_of(packed_figure figure, const std::vector<figure_point>& points, std::uint64_t count,
                    std::uint64_t seed) {
  using nlohmann::json;
  json all;
  all["zenith"] = ZENITH_STUDY_VERSION;
  all["problem"] = {
      {"operation", "pack"}, {"figure", to_string(figure)}, {"count", count}, {"type", "int32"}, {"seed", seed}};
  all["points"] = json::array();
  for (const auto& point : points) {
    for (const auto& one : point.measured) {
      all["points"].push_back({{std::string{axis_of(figure)}, point.parameter},
                               {"encoding", zenith::to_string(one.kind)},
                               {"executor", one.executor},
                               {"bits_per_value", one.bits_per_value},
                               {"sum_seconds", one.sum_seconds},
                               {"unpack_seconds", one.unpack_seconds},
                               {"smallest", one.is_smallest}});
    }
  }
  return all.dump(1) + "\n";
}

packed_figure figure_of(std::string_view name) {
  const auto names = packed_figure_names();
  return static_cast<packed_figure>(std::ranges::find(names, name) - names.begin());
}

int draw_figures(const settings& given) {
  const auto count = parse_count("--count", given.count);
  if (count == 0 || count > (std::uint64_t{1} << 30)) {
    throw zenith::error(zenith::error_code::invalid_argument, "--count must be from 1 to 2^30");
  }
  const auto executors = executors_of(given);
  const auto folder = output_folder(given.output);
  std::vector<std::string> wanted = given.figures;
  if (wanted.empty()) wanted.assign(packed_figure_names().begin(), packed_figure_names().end());
  for (const auto& name : wanted) {
    const auto figure = figure_of(name);
    std::vector<figure_point> points;
    {
      progress bar(fmt::format("pack, {}", name));
      const auto parameters = parameters_of(figure, count);
      for (const double parameter : parameters) {
        bar.show(static_cast<double>(points.size()) / static_cast<double>(parameters.size()),
                 fmt::format("{} {:g}", axis_of(figure), parameter));
        const auto values = packed_column_of(figure, parameter, count, given.seed);
        points.push_back({parameter, measure_packed<std::int32_t>(values, executors, limits_of(given))});
      }
    }
    fmt::print("{} int32 values, {}\n{}\n* the smallest, which automatic takes\n", with_commas(count), name,
               table_of(figure, points, count));
    auto numbers = folder / fmt::format("pack-{}-{}.json", name, count);
    write_file(numbers, json_of(figure, points, count, given.seed));
    fmt::print("numbers: {}\n", numbers.string());
    for (const auto& executor : executors) {
      std::string plain_name = executor;
      std::ranges::replace_if(
          plain_name, [](char c) { return c == ':' || c == ',' || c == '='; }, '-');
      const auto picture = folder / fmt::format("pack-{}-{}-{}.svg", name, count, plain_name);
      write_file(picture,
                 as_svg(fmt::format("Packed columns on {}: {}, {} int32 values", executor, name, with_commas(count)),
                        charts_of(figure, points, count, executor)));
      fmt::print("picture: {}\n", picture.string());
    }
    fmt::print("\n");
  }
  return succeeded;
}

}  // namespace

void add_pack(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "pack", "Packs columns in every encoding: bits, aggregation and decompression; with --input, those of a table");
  const auto given = std::make_shared<settings>();
  const auto names = packed_figure_names();
  auto* input = command->add_option("--input", given->input, "A CSV file with a header: packs each numeric column");
  command
      ->add_option("--backend", given->backends,
                   "A backend, with settings if need be: cpu, cuda:1, cpu:threads=1,isa=avx2; again for more")
      ->allow_extra_args(false)
      ->delimiter('\0');
  command
      ->add_option("--figure", given->figures,
                   fmt::format("{}; again for more, all by default", fmt::join(names, ", ")))
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())))
      ->allow_extra_args(false)
      ->excludes(input);
  command->option_defaults()->always_capture_default();
  command->add_option("--count", given->count, "How many values a column has: 2^26, 64M, 64Mi")->excludes(input);
  command->add_option("--seed", given->seed, "Of the random values")->check(CLI::NonNegativeNumber)->excludes(input);
  command->add_option("--time-limit", given->time_limit, "Seconds that one time may take to measure")
      ->check(CLI::Range(0.001, 100.0));
  command->add_option("--output", given->output, "Folder for numbers and pictures, else ZENITH_STUDY_OUTPUT")
      ->excludes(input);
  command->callback([given, &status] { status = given->input.empty() ? draw_figures(*given) : pack_file(*given); });
}

}  // namespace zenith_study
