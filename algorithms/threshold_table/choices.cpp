#include <algorithms/threshold_table/choices.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace {

void check_problem(std::string_view function, const threshold_table_problem& problem) {
  const auto refuse = [&](std::string_view what, std::uint64_t value) {
    throw error(error_code::invalid_argument, std::string{function} + ": problem." + std::string{what} + " is " +
                                                  std::to_string(value) + "; it must be at least 1");
  };
  if (problem.columns == 0) refuse("columns", problem.columns);
  if (problem.block_rows == 0) refuse("block_rows", problem.block_rows);
}

}  // namespace

decision decide(const threshold_table_problem& problem, const machine& on) {
  check_problem("decide", problem);
  return detail::decide(threshold_table_detail::choices, problem, on.devices(), "auto");
}

cost threshold_table_cost(std::string_view name, const threshold_table_problem& problem, const device_profile& on) {
  check_problem("threshold_table_cost", problem);
  for (const auto& one : threshold_table_detail::strategies) {
    if (one.name == name) return one.model(problem, on);
  }
  throw error(error_code::invalid_argument,
              "threshold_table_cost: strategy is '" + detail::shown(name) +
                  "'; the strategies with a cost model are: blocks, scan, gta_shared, gta, full, ta");
}

}  // namespace zenith
