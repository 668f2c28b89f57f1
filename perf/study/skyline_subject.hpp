#pragma once

#include <memory>
#include <vector>

#include <perf/study/standard_points.hpp>
#include <perf/study/subject.hpp>

namespace zenith_study {

/// Standard points, and the one question for their skyline. Right is what the first strategy finds.
[[nodiscard]] std::shared_ptr<input> make_skyline_input(correlation of, std::uint64_t rows, std::uint64_t columns,
                                                        std::uint32_t seed);

}  // namespace zenith_study
