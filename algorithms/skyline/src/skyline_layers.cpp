#include <zenith/skyline_layers.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <algorithms/skyline/choices.hpp>
#include <algorithms/skyline/src/input.hpp>
#include <core/choose.hpp>
#include <zenith/skyband.hpp>

namespace zenith::detail {
namespace {

constexpr std::string_view name = "skyline_layers";

/// By how many rows each row is dominated: the counts of the band that has all of them.
std::vector<std::uint32_t> dominators_of(const executor& on, const skyline_points& points,
                                         const skyline_layers_options& options) {
  auto by_row = make_results<std::uint32_t>(points.rows);
  skyband_target target;
  target.caller = name;
  target.by_row = by_row.data();
  (void)skyband(on, points, std::numeric_limits<std::uint32_t>::max(), target,
                {.preferences = options.preferences, .duplicates = options.duplicates, .nans = options.nans});
  return by_row;
}

}  // namespace

skyline_run skyline_layers(const executor& on, const skyline_points& points, const layers_target& target,
                           const skyline_layers_options& options) {
  skyline_detail::check_points(name, points, options.preferences);
  skyline_detail::check_policies(name, options.preferences, options.nans, options.duplicates);
  if (target.count != points.rows) {
    skyline_detail::reject(name, "layers_out has " + std::to_string(target.count) + " elements and points " +
                                     std::to_string(points.rows) + " rows; they must be as many");
  }
  if (!options.dominated_by.empty() && options.dominated_by.size() != points.rows) {
    skyline_detail::reject(name, "options.dominated_by has " + std::to_string(options.dominated_by.size()) +
                                     " elements and points " + std::to_string(points.rows) +
                                     " rows; give one for each row, or none");
  }
  if (options.most_layers == 0) skyline_detail::reject(name, "options.most_layers is 0; it must be at least 1");
  if (options.enough_rows == 0) skyline_detail::reject(name, "options.enough_rows is 0; it must be at least 1");
  const auto problem = skyline_detail::problem_of(on, points, options.preferences, options.strategy);
  const auto [where, strategy] = choose(skyline_detail::layer_choices, on.settings(), problem, options.strategy);
  const auto& by = check_backend(where, skyline_layers_call::operation, name, "points", points.space, strategy);
  if (target.space == memory_space::device) {
    check_backend(where, skyline_layers_call::operation, name, "layers_out", target.space, strategy);
  }
  skyline_run run{0, std::string{where.target->name}, strategy};
  skyline_detail::input input(points, options.preferences, options.nans, options.statistics != nullptr);
  std::vector<std::uint32_t> dominators;
  if (!options.dominated_by.empty()) dominators = dominators_of(on, points, options);
  if (points.rows > 0) {
    skyline_layers_call call;
    input.describe(call);
    call.most_layers = options.most_layers;
    call.enough_rows = options.enough_rows;
    call.duplicates = options.duplicates;
    call.out_space = target.space;
    call.out_layers = target.layers;
    call.held_bytes = dominators.size() * sizeof(std::uint32_t);
    by.run(where, &call);
    input.check(name);
    run.count = static_cast<std::size_t>(input.outcome().count);
  }
  std::ranges::copy(dominators, options.dominated_by.begin());
  if (options.statistics != nullptr) *options.statistics = input.take_statistics();
  return run;
}

}  // namespace zenith::detail
