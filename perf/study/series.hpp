#pragma once

#include <perf/study/sweep.hpp>

namespace zenith_study {

/// Every series that the options ask for. What is left out of `found` is said in `notes`. Throws
/// `backend_unavailable` or `invalid_argument` for a backend or strategy that was named and cannot be had.
[[nodiscard]] std::vector<series> list_series(const sweep_options& options, std::vector<std::string>& notes);

}  // namespace zenith_study
