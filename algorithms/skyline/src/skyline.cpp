#include <zenith/skyline.hpp>

#include <limits>
#include <string>

#include <algorithms/skyline/choices.hpp>
#include <core/choose.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

[[noreturn]] void reject(const std::string& message, error_code code = error_code::invalid_argument) {
  throw error(code, "skyline: " + message);
}

void check(const skyline_points& points, const skyline_target& target, const skyline_options& options) {
  const auto columns = points.columns.size();
  if (columns == 0) reject("points has no column");
  if (columns > most_skyline_columns) {
    reject("points has " + std::to_string(columns) + " columns; the most is " + std::to_string(most_skyline_columns));
  }
  if (!options.preferences.empty() && options.preferences.size() != columns) {
    reject("options.preferences has " + std::to_string(options.preferences.size()) + " elements and points " +
           std::to_string(columns) + " columns; give one for each column, or none");
  }
  // inside, row numbers have 32 bits, and the highest means none
  if (points.rows >= std::numeric_limits<std::uint32_t>::max()) {
    reject("points has " + std::to_string(points.rows) + " rows; the most is 2^32 - 2", error_code::unsupported);
  }
  if (target.wants_mask) {
    if (target.mask_count != points.rows) {
      reject("mask_out has " + std::to_string(target.mask_count) + " elements and points " +
             std::to_string(points.rows) + " rows; they must be as many");
    }
  } else if (target.index_bytes == 4 && target.index_signed &&
             points.rows > std::size_t{std::numeric_limits<std::int32_t>::max()} + 1) {
    reject("points has " + std::to_string(points.rows) +
           " rows, more than ids of signed 32 bits can tell apart; use 64-bit ids");
  }
}

/// One copy of a matrix's memory is less than one of each of its columns with what lies between.
bool is_better_whole(const skyline_points& points) {
  const std::size_t column = (points.rows - 1) * points.row_stride + 1;
  return points.block != nullptr && points.block_values / points.columns.size() < column;
}

/// What a kernel's request for room finds.
struct room {
  const skyline_target& target;
  bool is_too_small = false;

  static void* provide(void* state, std::uint64_t count) {
    auto& here = *static_cast<room*>(state);
    if (here.target.resize != nullptr) return here.target.resize(here.target.vector, count);
    here.is_too_small = count > here.target.ids_count;
    return here.is_too_small ? nullptr : here.target.ids;
  }
};

}  // namespace

skyline_run skyline(const executor& on, const skyline_points& points, const skyline_target& target,
                    const skyline_options& options) {
  check(points, target, options);
  const skyline_problem problem{points.rows, static_cast<unsigned>(points.columns.size()), points.type, points.space};
  const auto [where, strategy] = choose(skyline_detail::choices, on.settings(), problem, options.strategy);
  check_backend(where, skyline_call::operation, "skyline", "points", points.space, strategy);
  if (!target.wants_mask && target.resize == nullptr && target.space == memory_space::device) {
    check_backend(where, skyline_call::operation, "skyline", "ids_out", target.space, strategy);
  }
  skyline_run run{0, std::string{where.target->name}, strategy};
  skyline_statistics counted;
  if (points.rows > 0) {
    const std::vector<preference> all_minimised(points.columns.size(), preference::minimise);
    room ids{target};
    skyline_outcome outcome;
    skyline_call call;
    call.type = points.type;
    call.space = points.space;
    call.columns = points.columns.data();
    call.column_count = problem.columns;
    call.rows = points.rows;
    call.row_stride = points.row_stride;
    if (is_better_whole(points)) {
      call.block = points.block;
      call.block_values = points.block_values;
    }
    call.preferences = options.preferences.empty() ? all_minimised.data() : options.preferences.data();
    call.duplicates = options.duplicates;
    call.nans = options.nans;
    call.index_bytes = target.index_bytes;
    call.out_space = target.space;
    if (target.wants_mask) {
      call.out_mask = target.mask;
    } else {
      call.provide_ids = room::provide;
      call.provide_state = &ids;
    }
    call.outcome = &outcome;
    call.statistics = options.statistics != nullptr ? &counted : nullptr;
    find_kernel(*where.target, skyline_call::operation, strategy)->run(where, &call);
    if (outcome.has_nan) {
      reject("points has a NaN in row " + std::to_string(outcome.nan_row) + ", column " +
             std::to_string(outcome.nan_column) + "; options.nans can be `drop` or `worst`");
    }
    if (ids.is_too_small) {
      reject("ids_out has " + std::to_string(target.ids_count) + " elements, but the skyline has " +
             std::to_string(outcome.count) + " rows");
    }
    run.count = static_cast<std::size_t>(outcome.count);
  }
  if (options.statistics != nullptr) *options.statistics = counted;
  return run;
}

}  // namespace zenith::detail
