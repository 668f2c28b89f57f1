#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <perf/study/subject.hpp>

namespace zenith_study {

/// Two sides of points in the thesis' square of 1000, with scores from 0 to 100. Clusters are the same for both sides.
/// Anticorrelated scores rise to the right on the left side and to the left on the right side, so that the best points
/// are far apart.
inline constexpr std::array<std::string_view, 3> spatial_kinds{"uniform", "clustered", "anticorrelated"};

struct spatial_sides;
[[nodiscard]] std::shared_ptr<spatial_sides> draw_sides(std::string_view kind, std::uint64_t rows, double distance,
                                                        std::uint64_t seed);

/// The one question for the `k` best pairs of both sides, or for all of them where `k` is 0. Right is what the first
/// strategy finds.
[[nodiscard]] std::shared_ptr<input> make_spatial_input(std::shared_ptr<spatial_sides> sides, std::uint64_t k);
[[nodiscard]] std::string_view spatial_operation(std::uint64_t k);

/// The best pairs of the first strategy that answered, as SVG.
[[nodiscard]] std::string map_of(const input& of, std::string_view kind);

}  // namespace zenith_study
