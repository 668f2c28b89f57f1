#pragma once

#include <string>

#include <perf/study/sweep.hpp>

namespace zenith_study {

/// The measured points as a table for a terminal, k by k, and what to know when reading it.
[[nodiscard]] std::string as_table(const sweep& of);
/// The same as JSON, times in seconds.
[[nodiscard]] std::string as_json(const sweep& of);
/// Time over k, a line a series, as an SVG picture.
[[nodiscard]] std::string as_svg(const sweep& of);

/// "2^26 float32, uniform, the largest"
[[nodiscard]] std::string describe(const sweep_options& options);

}  // namespace zenith_study
