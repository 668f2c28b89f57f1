#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <perf/study/exit_status.hpp>
#include <perf/study/series.hpp>
#include <perf/study/table.hpp>

/// \file
/// The study of a family: sweeps over inputs of several kinds, as tables, numbers (JSON) and pictures. A family says
/// which columns, fields and charts are its own.

namespace zenith_study {

using json_value = std::variant<std::monostate, bool, std::uint64_t, double, std::string, std::vector<double>>;
using json_fields = std::vector<std::pair<std::string, json_value>>;
/// A number, or null.
[[nodiscard]] json_value optional_number(const std::optional<double>& value);

/// What was measured on one input.
struct study_part {
  std::string kind;                                  ///< of the input; a table has those of one kind
  std::vector<std::vector<coordinate>> coordinates;  ///< of each point
  sweep measured;
  json_fields fields = {};  ///< of each of its points in the numbers
};

/// The measurements of one question by one line, an operation each: a row of the table, a point of the numbers and of a
/// picture.
struct study_row {
  const study_part& part;
  std::span<const measurement> operations;

  [[nodiscard]] const measurement& first() const { return operations.front(); }
  [[nodiscard]] const series& line() const { return part.measured.all_series[first().series]; }
  [[nodiscard]] const std::vector<coordinate>& coordinates() const { return part.coordinates[first().point]; }
  /// Of the coordinate of this name, 0 when there is none.
  [[nodiscard]] std::uint64_t at(std::string_view coordinate) const;
  /// What was counted, else 0.
  [[nodiscard]] double number(std::string_view fact) const;
  /// Seconds of an operation that was measured, else 0.
  [[nodiscard]] double seconds(std::size_t operation = 0) const;
};

/// In which rows of a table a cell is shown: in each, or where the question, or what it is asked of, changes.
enum class shown_in : std::uint8_t { each_row, each_question, each_input };

struct study_column {
  std::string heading;
  align side = align::right;
  std::function<std::string(const study_row&)> cell;
  shown_in rows = shown_in::each_row;
};
using study_columns = std::vector<study_column>;

/// The strategy and its executor.
[[nodiscard]] std::string label_cell(const study_row& of);
/// "*" for what `decide` chooses, "WRONG" for a wrong result.
[[nodiscard]] std::string mark_cell(const study_row& of);
/// The time, or why there is none.
[[nodiscard]] std::string time_cell(const study_row& of);
/// Predicted seconds, "-" without a model.
[[nodiscard]] std::string predicted_cell(const study_row& of);

/// A chart: a line for each name.
struct study_chart {
  using value_function = std::function<double(const study_row&)>;

  std::string title;
  std::string x;  ///< a coordinate
  std::string x_label;
  std::string y_label;                                             ///< with "(log)" an axis is logarithmic
  value_function y = [](const auto& of) { return of.seconds(); };  ///< what is not above 0 is left out
  std::function<bool(const study_row&)> shows = {};                ///< all, without it
  value_function predicted = {};                                   ///< dashed
  bool rings_choice = false;                                       ///< rings around what the dispatcher chooses
  std::function<std::string(const study_row&)> name = label_cell;
};

class family_study {
 public:
  /// A series that took longer than `time_limit` is left out of what comes later on its ladder.
  family_study(std::string_view title, sweep_options options,
               double time_limit = std::numeric_limits<double>::infinity())
      : bar_(title), options_(std::move(options)), time_limit_(time_limit) {}

  /// Every series that the options ask for, as `list_series` says.
  [[nodiscard]] std::vector<series> lines(const series_choice& choice) { return list_series(choice, options_, notes_); }
  void announce(std::string_view what) { bar_.show(0, what); }
  /// Measures an input. `ladder` names inputs of one kind that grow; `of_input` leads the coordinates of its points.
  study_part& measure(std::string_view kind, std::uint64_t ladder, input& of,
                      const std::vector<std::string_view>& operations, const std::vector<series>& all,
                      const std::vector<coordinate>& of_input = {});

  [[nodiscard]] static std::vector<study_row> rows_of(const study_part& part);
  [[nodiscard]] const std::vector<study_part>& parts() const noexcept { return parts_; }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  [[nodiscard]] bool has(outcome result) const;
  /// Of the program: whether a result was wrong, or nothing was measured.
  [[nodiscard]] int status() const;
  /// A line for each result that was wrong, and each call that failed.
  [[nodiscard]] std::string faults() const;
  /// The faults, then one of two texts, then how often the dispatcher's choice was the fastest or within a tenth of it.
  [[nodiscard]] std::string verdict(std::string_view all_right, std::string_view wrong) const;

  /// The columns that all families have, and then `facts`: the coordinates of a question, the line, the time and the
  /// prediction.
  [[nodiscard]] study_columns with_facts(study_columns facts) const;
  [[nodiscard]] study_columns question_columns() const;
  [[nodiscard]] std::string table_of(std::string_view kind, const study_columns& columns) const;

  /// What a row is in the numbers, beside its coordinates.
  using fields_function = std::function<json_fields(const study_row&)>;
  /// `problem` is what all points have in common; times are in seconds.
  [[nodiscard]] std::string as_json(const json_fields& problem, const fields_function& fields) const;
  /// The fields that all families have; `kind_name` is what the kinds are called.
  [[nodiscard]] static fields_function common_fields(std::string_view kind_name);

  /// Charts beside each other. The first has the floors.
  [[nodiscard]] std::string picture_of(const std::string& heading, const std::vector<study_chart>& charts) const;
  /// One chart for each kind.
  [[nodiscard]] std::vector<study_chart> by_kind(const study_chart& like) const;

 private:
  [[nodiscard]] std::vector<study_row> rows() const;

  progress bar_;
  sweep_options options_;
  double time_limit_;
  std::vector<std::string> notes_;
  std::vector<study_part> parts_;
  std::vector<std::uint64_t> ladders_;  // of each part
};

}  // namespace zenith_study
