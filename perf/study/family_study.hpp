#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <perf/study/line_chart.hpp>
#include <perf/study/report.hpp>
#include <perf/study/sweep.hpp>

/// \file
/// The study of a family: sweeps over inputs of several kinds, as tables, numbers and pictures. Whatever the family is,
/// these have the same columns and fields: the coordinates of a question, the line, what it took, what was predicted
/// and what was counted.

namespace zenith_study {

/// What was measured on one input.
struct study_part {
  std::string_view kind;                             ///< of the input; a table and a chart have those of one kind
  std::vector<std::vector<coordinate>> coordinates;  ///< of each point
  sweep measured;
  json_fields fields = {};  ///< of each of its points in the numbers
};

/// A column of the table after those that all families have.
struct fact_column {
  std::string heading;
  std::function<std::string(const study_part&, const measurement&)> cell;
};

class family_study {
 public:
  /// A series that took longer than `time_limit` is left out of what comes later on its ladder.
  family_study(std::string_view title, sweep_options options, double time_limit)
      : bar_(title), options_(std::move(options)), time_limit_(time_limit) {}

  /// Measures an input. `ladder` names inputs of one kind that grow.
  study_part& measure(std::string_view kind, std::uint64_t ladder, input& of, std::string_view operation,
                      const std::vector<series>& all);

  [[nodiscard]] const std::vector<study_part>& parts() const noexcept { return parts_; }
  [[nodiscard]] bool is_wrong() const;

  [[nodiscard]] std::string table_of(std::string_view kind, const std::vector<fact_column>& facts) const;
  /// `kind_name` is what the kinds are called; `problem` what all points have in common.
  [[nodiscard]] std::string as_json(std::string_view kind_name, json_fields problem) const;

  using value_function = std::function<double(const study_part&, const measurement&)>;
  struct chart_axes {
    std::string x;        ///< a coordinate
    std::string x_label;  ///< with "(log)" it is logarithmic; so is y
    std::string y_label;
    value_function y;
    std::function<bool(const std::vector<coordinate>&)> shows = {};  ///< all, without it
  };
  /// A chart a kind. What is not above 0 is left out.
  [[nodiscard]] std::string picture_of(const std::string& heading, const chart_axes& axes) const;

 private:
  progress bar_;
  sweep_options options_;
  double time_limit_;
  std::vector<study_part> parts_;
  std::vector<std::uint64_t> ladders_;  // of each part
};

/// Seconds of a point that was measured, else 0.
[[nodiscard]] double seconds_of_point(const measurement& of);
/// What was counted, else 0.
[[nodiscard]] double number(const measurement& of, std::string_view fact);
/// 0 when it has none of this name.
[[nodiscard]] std::uint64_t value_of(const std::vector<coordinate>& of, std::string_view name);

}  // namespace zenith_study
