#include <fmt/format.h>

#include <algorithm>

#include <perf/study/line_chart.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/pack_sweep.hpp>
#include <perf/study/packed_data.hpp>
#include <perf/study/quantity.hpp>
#include <zenith/error.hpp>

namespace zenith_study {
namespace {

// The columns of a figure, one a parameter, and what was measured of each.
struct measured_figure {
  packed_figure of{};
  std::string name;
  std::uint64_t count = 0;
  std::vector<double> parameters;
  std::vector<sweep> measured;
};

std::string table_of(const measured_figure& figure, const pack_sweep& study) {
  double parameter = 0;
  auto columns = study.columns(", ns/value", [&](double seconds) {
    return fmt::format("{:.3f}", seconds / static_cast<double>(figure.count) * 1e9);
  });
  columns.insert(columns.begin(), {std::string{axis_of(figure.of)}, align::right,
                                   [&](const row&) { return fmt::format("{:g}", parameter); }, true});
  auto shown = table_of(columns);
  for (std::size_t i = 0; i < figure.parameters.size(); ++i) {
    parameter = figure.parameters[i];
    add_rows(shown, columns, rows_of(figure.measured[i]));
  }
  return shown.text();
}

std::string json_of(const measured_figure& figure, const pack_sweep& study, std::uint64_t seed) {
  study_numbers all;
  all.problem = {
      {"operation", "pack"}, {"figure", figure.name}, {"count", figure.count}, {"type", "int32"}, {"seed", seed}};
  for (std::size_t i = 0; i < figure.parameters.size(); ++i) {
    for (const auto& one : rows_of(figure.measured[i])) {
      all.points.push_back({{std::string{axis_of(figure.of)}, figure.parameters[i]},
                            {"encoding", std::string{zenith::to_string(encoding_of(one[0]))}},
                            {"executor", study.all_series()[one[0].series].executor},
                            {"bits_per_value", bits_per_value(one[0])},
                            {"sum_seconds", one[0].time},
                            {"sum_predicted_seconds", optional_number(one[0].predicted)},
                            {"unpack_seconds", one[1].time},
                            {"unpack_predicted_seconds", optional_number(one[1].predicted)},
                            {"smallest", is_smallest(one[0])}});
    }
  }
  return as_json(all);
}

// Of the series of one executor.
std::string picture_of(const measured_figure& figure, std::size_t of, const std::string& heading) {
  const bool log_x = figure.of == packed_figure::sorted || figure.of == packed_figure::normal;
  const std::string axis{axis_of(figure.of)};
  std::vector<line_chart> charts{{"Size", axis, "bits a value", log_x, false, {}},
                                 {"Aggregation", axis, "ns a value (log); dashed: predicted", log_x, true, {}},
                                 {"Decompression", axis, "ns a value (log); dashed: predicted", log_x, true, {}}};
  for (const auto kind : zenith::packed_encodings) {
    for (auto& chart : charts) chart.lines.push_back({std::string{zenith::to_string(kind)}, {}});
  }
  const auto nanoseconds = [&](double seconds) { return seconds / static_cast<double>(figure.count) * 1e9; };
  for (std::size_t i = 0; i < figure.parameters.size(); ++i) {
    const double at = figure.parameters[i];
    for (const auto& one : rows_of(figure.measured[i])) {
      if (one[0].series != of) continue;
      const auto line = one[0].point;
      charts[0].lines[line].points.emplace_back(at, bits_per_value(one[0]));
      for (const std::size_t c : {std::size_t{0}, std::size_t{1}}) {
        auto& drawn = charts[c + 1].lines[line];
        drawn.points.emplace_back(at, nanoseconds(one[c].time));
        if (one[c].predicted) drawn.predicted.emplace_back(at, nanoseconds(*one[c].predicted));
      }
    }
  }
  return as_svg(heading, charts);
}

}  // namespace

int draw_packed_figures(const pack_options& given) {
  if (given.count == 0 || given.count > (std::uint64_t{1} << 30)) {
    throw zenith::error(zenith::error_code::invalid_argument, "--count must be from 1 to 2^30");
  }
  const pack_sweep study(given);
  const auto folder = output_folder(given.output);
  const auto names = packed_figure_names();
  for (std::size_t f = 0; f < names.size(); ++f) {
    if (!given.figures.empty() && std::ranges::find(given.figures, names[f]) == given.figures.end()) continue;
    measured_figure figure{static_cast<packed_figure>(f), std::string{names[f]}, given.count, {}, {}};
    figure.parameters = parameters_of(figure.of, given.count);
    for (const double parameter : figure.parameters) {
      progress bar(fmt::format("pack, {}, {} {:g}", figure.name, axis_of(figure.of), parameter));
      figure.measured.push_back(study.run(packed_column_of(figure.of, parameter, given.count, given.seed), bar));
    }
    fmt::print("{} int32 values, {}\n{}\n* the smallest, which automatic takes\n", with_commas(given.count),
               figure.name, table_of(figure, study));
    const auto base = (folder / fmt::format("pack-{}-{}", figure.name, given.count)).string();
    write_file(base + ".json", json_of(figure, study, given.seed));
    fmt::print("numbers: {}.json\n", base);
    for (std::size_t s = 0; s < study.all_series().size(); ++s) {
      const auto& executor = study.all_series()[s].executor;
      std::string plain_name = executor;
      std::ranges::replace_if(
          plain_name, [](char c) { return c == ':' || c == ',' || c == '='; }, '-');
      const auto picture = fmt::format("{}-{}.svg", base, plain_name);
      write_file(picture, picture_of(figure, s,
                                     fmt::format("Packed columns on {}: {}, {} int32 values", executor, figure.name,
                                                 with_commas(given.count))));
      fmt::print("picture: {}\n", picture);
    }
    fmt::print("\n");
  }
  return 0;
}

}  // namespace zenith_study
