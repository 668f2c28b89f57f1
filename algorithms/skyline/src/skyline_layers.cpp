#include <zenith/skyline_layers.hpp>

#include <string>

#include <algorithms/skyline/choices.hpp>
#include <algorithms/skyline/src/input.hpp>
#include <core/choose.hpp>

namespace zenith::detail {

skyline_run skyline_layers(const executor& on, const skyline_points& points, const layers_target& target,
                           const skyline_layers_options& options) {
  constexpr std::string_view name = "skyline_layers";
  skyline_detail::check_points(name, points, options.preferences);
  if (target.count != points.rows) {
    skyline_detail::reject(name, "layers_out has " + std::to_string(target.count) + " elements and points " +
                                     std::to_string(points.rows) + " rows; they must be as many");
  }
  if (options.most_layers == 0) skyline_detail::reject(name, "options.most_layers is 0; it must be at least 1");
  if (options.enough_rows == 0) skyline_detail::reject(name, "options.enough_rows is 0; it must be at least 1");
  const skyline_problem problem{points.rows, static_cast<unsigned>(points.columns.size()), points.type, points.space};
  const auto [where, strategy] = choose(skyline_detail::layer_choices, on.settings(), problem, options.strategy);
  const auto& by = check_backend(where, skyline_layers_call::operation, name, "points", points.space, strategy);
  if (target.space == memory_space::device) {
    check_backend(where, skyline_layers_call::operation, name, "layers_out", target.space, strategy);
  }
  skyline_run run{0, std::string{where.target->name}, strategy};
  skyline_detail::input input(points, options.preferences, options.nans, options.statistics != nullptr);
  if (points.rows > 0) {
    skyline_layers_call call;
    input.describe(call);
    call.most_layers = options.most_layers;
    call.enough_rows = options.enough_rows;
    call.out_space = target.space;
    call.out_layers = target.layers;
    by.run(where, &call);
    input.check(name);
    run.count = static_cast<std::size_t>(input.outcome().count);
  }
  if (options.statistics != nullptr) *options.statistics = input.statistics();
  return run;
}

}  // namespace zenith::detail
