#pragma once

#include <vector>

#include <perf/study/fit.hpp>
#include <zenith/backend.hpp>
#include <zenith/executor.hpp>

namespace zenith_study {

/// Times queries of threshold tables on `on` at a few sizes, where the executor's memory is: by "blocks", with the
/// share of the rows that each query evaluated, "scan" and "full". Adds what the models say of each beside what the
/// clock said. The other strategies, which the dispatcher hardly chooses, share their rates. Some seconds.
void measure_table_points(const zenith::device_profile& profile, const zenith::executor& on,
                          const zenith::progress_function& progress, std::vector<measured_cost>& points);

}  // namespace zenith_study
