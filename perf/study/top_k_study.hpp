#pragma once

#include <string>
#include <vector>

#include <perf/study/sweep.hpp>
#include <perf/study/top_k_subject.hpp>

namespace zenith_study {

/// What was measured of top-k over k.
struct top_k_study {
  top_k_input_options input;
  sweep measured;
  int repeat = 0;
};

/// Throws `invalid_argument` for counts that cannot be, before any work.
[[nodiscard]] top_k_study run_top_k_study(const top_k_input_options& input, const sweep_options& options,
                                          progress& shown);

/// The measured points as a table for a terminal, k by k, and what to know when reading it.
[[nodiscard]] std::string as_table(const top_k_study& of);
/// The same as JSON, times in seconds.
[[nodiscard]] std::string as_json(const top_k_study& of);
/// Time over k, a line a series, as an SVG picture.
[[nodiscard]] std::string as_svg(const top_k_study& of);

}  // namespace zenith_study
