#include <zenith/skyband.hpp>

#include <algorithm>
#include <string>

#include <algorithms/skyline/choices.hpp>
#include <algorithms/skyline/src/input.hpp>
#include <core/choose.hpp>

namespace zenith::detail {
namespace {

/// What a kernel's request for output memory finds.
struct output_provider {
  const skyband_target& target;
  bool is_empty = false;  ///< whatever is found
  bool has_few_ids = false;
  bool has_few_counts = false;

  static skyband_output provide(void* state, std::uint64_t count) {
    auto& here = *static_cast<output_provider*>(state);
    const auto& to = here.target;
    if (here.is_empty) return {};
    if (to.resize != nullptr) {
      to.counts_vector->resize(static_cast<std::size_t>(count));
      return {to.resize(to.vector, count), to.counts_vector->data()};
    }
    here.has_few_ids = count > to.ids_count;
    here.has_few_counts = to.wants_counts && count > to.dominated_by_count;
    if (here.has_few_ids || here.has_few_counts) return {};
    return {to.ids, to.dominated_by};
  }
};

}  // namespace

skyline_run skyband(const executor& on, const skyline_points& points, std::uint32_t k, const skyband_target& target,
                    const skyband_options& options) {
  const std::string_view name = target.caller;
  skyline_detail::check_points(name, points, options.preferences);
  skyline_detail::check_policies(name, options.preferences, options.nans, options.duplicates);
  skyline_detail::check_ids(name, points, target.index_bytes, target.index_signed);
  const skyline_detail::band_problem problem{
      skyline_detail::problem_of(on, points, options.preferences, options.strategy), k};
  const auto [where, strategy] = choose(skyline_detail::band_choices, on.settings(), problem, options.strategy);
  const auto& by = check_backend(where, skyband_call::operation, name, "points", points.space, strategy);
  skyline_run run{0, std::string{where.target->name}, strategy};
  skyline_detail::input input(points, options.preferences, options.nans, options.statistics != nullptr && k > 0);
  // a band without rows still says whether the table has a NaN: its call is that of the skyline
  const bool may_be_rejected = options.nans == nan_rows::reject && is_floating(points.type);
  if (points.rows > 0 && (k > 0 || may_be_rejected)) {
    output_provider rows{target, k == 0};
    skyband_call call;
    input.describe(call);
    call.most = std::max(k, 1U);
    call.duplicates = options.duplicates;
    call.index_bytes = target.index_bytes;
    call.out_by_row = target.by_row;
    call.provide = output_provider::provide;
    call.provide_state = &rows;
    by.run(where, &call);
    input.check(name);
    const auto refuse = [&](std::string_view argument, std::size_t count) {
      skyline_detail::reject(name, std::string{argument} + " has " + std::to_string(count) +
                                       " elements, but the skyband has " + std::to_string(input.outcome().count) +
                                       " rows");
    };
    if (rows.has_few_ids) refuse("ids_out", target.ids_count);
    if (rows.has_few_counts) refuse("dominated_by_out", target.dominated_by_count);
    run.count = k == 0 ? 0 : static_cast<std::size_t>(input.outcome().count);
  }
  if (options.statistics != nullptr) *options.statistics = input.take_statistics();
  return run;
}

}  // namespace zenith::detail
