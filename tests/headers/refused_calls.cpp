// Calls that no overload takes, a line each, beside one that is right.

#include <string>
#include <vector>

#include <zenith/zenith.hpp>

void calls(const zenith::executor& on, const std::vector<float>& keys, const std::vector<std::string>& words) {
  [[maybe_unused]] const auto best = zenith::top_k(on, keys, 7);
  // points go to the join of points, unless the options are those of boxes
  const zenith::column_set<float> points{keys, keys};
  [[maybe_unused]] const auto near = zenith::spatial_join(on, points, points, {.predicate = {2}});
  [[maybe_unused]] const auto equal = zenith::spatial_join(on, points, points, {.predicate = zenith::intersects{}});
#ifdef REFUSED
  const auto text_for_k = zenith::top_k(on, keys, "7");
  const auto text_for_executor = zenith::top_k("cpu", keys, 7);
  const auto no_keys = zenith::top_k(on, words, 1);
  const auto no_points = zenith::skyline(on, keys);
  const auto no_band = zenith::skyband(on, keys, 2);
  const auto no_layers = zenith::skyline_layers(on, "x");
  const auto no_sides = zenith::spatial_join(on, keys, keys);
  const auto no_scores = zenith::top_k_spatial_join(on, keys, keys, 4);
  const auto box_without_scores = zenith::top_k_spatial_join(on, zenith::boxes<float>{}, zenith::boxes<float>{}, 4);
  const auto other_type = zenith::count_spatial_join(on, zenith::boxes<float>{}, zenith::boxes<double>{});
  const auto no_index = zenith::top_k_range(on, keys, 4);
#endif
}
