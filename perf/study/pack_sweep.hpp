#pragma once

#include <perf/study/pack_study.hpp>
#include <perf/study/packed_subject.hpp>
#include <perf/study/report.hpp>

namespace zenith_study {

/// The aggregation and the decompression of one column in every encoding, on every executor.
class pack_sweep {
 public:
  /// The backends that were named, or every usable one that packs columns at speed.
  explicit pack_sweep(const pack_options& given);

  [[nodiscard]] const std::vector<series>& all_series() const noexcept { return all_series_; }
  /// Throws `device_failure` when a result is not what the values say.
  template <class T>
  [[nodiscard]] sweep run(std::vector<T> values, progress& shown) const;

  /// Encoding, bits, backend, and both times beside their predictions; `show` makes a text of seconds.
  [[nodiscard]] std::vector<report_column> columns(std::string_view unit,
                                                   const std::function<std::string(double)>& show) const;

 private:
  sweep_options options_;
  std::vector<series> all_series_;
};

[[nodiscard]] zenith::encoding encoding_of(const measurement& of);
[[nodiscard]] double bits_per_value(const measurement& of);
[[nodiscard]] bool is_smallest(const measurement& of);

}  // namespace zenith_study
