#pragma once

#include <perf/study/family_study.hpp>
#include <zenith/packed_column.hpp>

namespace zenith_study {

/// The aggregation and the decompression of columns in every encoding, on every executor.
class pack_study : public family_study {
 public:
  /// The backends that are named, or every usable one that packs columns at speed.
  pack_study(std::string_view title, const std::vector<std::string>& backends, double time_limit);

  [[nodiscard]] const std::vector<series>& all() const noexcept { return all_; }
  template <zenith::packable T>
  study_part& measure_column(std::string_view kind, std::vector<T> values, const std::vector<coordinate>& of_input);
  /// What a column is asked of, encoding, bits, backend, and both times beside their predictions; `show` makes a text
  /// of a row's seconds.
  [[nodiscard]] study_columns columns(std::string_view unit,
                                      const std::function<std::string(const study_row&, double)>& show) const;
  /// A call that failed makes a failed run of what else would have succeeded.
  [[nodiscard]] int status() const {
    const int of_family = family_study::status();
    return of_family == succeeded && has(outcome::failed) ? failed_run : of_family;
  }

 private:
  std::vector<series> all_;
};

struct pack_options {
  std::string input;  ///< a CSV file, or the figures
  std::vector<std::string> backends;
  double time_limit = 0.03;
};
/// Packs every numeric column of a CSV file in every encoding, and prints bits and times. Gives the exit status.
[[nodiscard]] int pack_file(const pack_options& given);

}  // namespace zenith_study
