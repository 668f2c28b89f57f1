#include <zenith/skyline.hpp>

#include <string>

#include <algorithms/skyline/choices.hpp>
#include <algorithms/skyline/src/input.hpp>
#include <core/choose.hpp>

namespace zenith::detail {
namespace {

constexpr std::string_view name = "skyline";

void check(const skyline_points& points, const skyline_target& target, const skyline_options& options) {
  skyline_detail::check_points(name, points, options.preferences);
  skyline_detail::check_policies(name, options.preferences, options.nans, options.duplicates);
  if (!target.wants_mask) return skyline_detail::check_ids(name, points, target.index_bytes, target.index_signed);
  if (target.mask_count != points.rows) {
    skyline_detail::reject(name, "mask_out has " + std::to_string(target.mask_count) + " elements and points " +
                                     std::to_string(points.rows) + " rows; they must be as many");
  }
}

/// What a kernel's request for output memory finds.
struct output_provider {
  const skyline_target& target;
  bool is_too_small = false;

  static void* provide(void* state, std::uint64_t count) {
    auto& here = *static_cast<output_provider*>(state);
    if (here.target.resize != nullptr) return here.target.resize(here.target.vector, count);
    here.is_too_small = count > here.target.ids_count;
    return here.is_too_small ? nullptr : here.target.ids;
  }
};

}  // namespace

skyline_run skyline(const executor& on, const skyline_points& points, const skyline_target& target,
                    const skyline_options& options) {
  check(points, target, options);
  const auto problem = skyline_detail::problem_of(on, points, options.preferences, options.strategy);
  const auto [where, strategy] = choose(skyline_detail::choices, on.settings(), problem, options.strategy);
  const auto& by = check_backend(where, skyline_call::operation, "skyline", "points", points.space, strategy);
  if (!target.wants_mask && target.resize == nullptr && target.space == memory_space::device) {
    check_backend(where, skyline_call::operation, "skyline", "ids_out", target.space, strategy);
  }
  skyline_run run{0, std::string{where.target->name}, strategy};
  skyline_detail::input input(points, options.preferences, options.nans, options.statistics != nullptr);
  if (points.rows > 0) {
    output_provider ids{target};
    skyline_call call;
    input.describe(call);
    call.duplicates = options.duplicates;
    call.index_bytes = target.index_bytes;
    call.out_space = target.space;
    if (target.wants_mask) {
      call.out_mask = target.mask;
    } else {
      call.provide_ids = output_provider::provide;
      call.provide_state = &ids;
      if (target.resize == nullptr) {
        call.known_ids = target.ids;
        call.known_count = target.ids_count;
      }
    }
    by.run(where, &call);
    input.check(name);
    if (ids.is_too_small) {
      skyline_detail::reject(name, "ids_out has " + std::to_string(target.ids_count) +
                                       " elements, but the skyline has " + std::to_string(input.outcome().count) +
                                       " rows");
    }
    run.count = static_cast<std::size_t>(input.outcome().count);
  }
  if (options.statistics != nullptr) *options.statistics = input.take_statistics();
  return run;
}

}  // namespace zenith::detail
