#pragma once

#include <vector>

#include <perf/study/fit.hpp>
#include <zenith/backend.hpp>
#include <zenith/executor.hpp>

namespace zenith_study {

/// Times every operation over packed columns that `on` offers, each encoding and both widths, at a few sizes; adds what
/// the models say of each beside what the clock said. Columns lie where the executor's memory is. Some seconds.
void measure_packed_points(const zenith::device_profile& profile, const zenith::executor& on,
                           const zenith::progress_function& progress, std::vector<measured_cost>& points);

}  // namespace zenith_study
