#include <zenith/predicated_top_k.hpp>

#include <limits>
#include <string>

#include <algorithms/predicated_top_k/choices.hpp>
#include <algorithms/top_k/options.hpp>
#include <core/choose.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

[[noreturn]] void reject(const std::string& message) { throw error(error_code::invalid_argument, "top_k: " + message); }

void check(const top_k_call& given, const row_predicate& where) {
  if (where.count != given.count) {
    reject("keys has " + std::to_string(given.count) + " elements, the predicate's column " +
           std::to_string(where.count) + "; both must have one a row");
  }
  if (where.space != given.space) {
    reject(given.space == memory_space::host
               ? "keys lies on the host, the predicate's column on a device; both must lie in one memory"
               : "keys lies on a device, the predicate's column on the host; both must lie in one memory");
  }
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (given.count >= most)
    reject("keys has " + std::to_string(given.count) + " elements; it must have fewer than 2^32 - 1");
}

double bits_of(const row_range& rows, std::uint64_t count) {
  if (!rows.is_packed || count == 0) return static_cast<double>(8 * size_of(rows.type));
  return 8 * static_cast<double>(rows.column.total_bytes) / static_cast<double>(count);
}

}  // namespace

predicated_top_k_run predicated_top_k(const executor& on, const top_k_call& result, const row_predicate& where,
                                      const top_k_options& options) {
  check(result, where);
  top_k_detail::check_options(options);
  const predicated_top_k_problem problem{
      result.count, result.k, result.type, bits_of(where.rows, where.count), where.rows.is_packed, result.space};
  const auto chosen = choose(predicated_top_k_detail::choices, on.settings(), problem, options.strategy);
  const auto& by =
      check_backend(chosen.on, predicated_top_k_call::operation, "top_k", "keys", result.space, chosen.strategy);
  predicated_top_k_run ran{{std::string{chosen.on.target->name}, chosen.strategy}, 0};
  if (result.k == 0 || where.is_empty) {
    if (result.statistics != nullptr) *result.statistics = {};
    return ran;
  }
  std::uint64_t found = 0;
  bool has_nan = false;
  predicated_top_k_call call;
  call.rows = where.rows;
  call.found = &found;
  if (options.nans == nan_policy::reject) call.has_nan = &has_nan;
  call.result = result;
  by.run(chosen.on, &call);
  if (has_nan) {
    throw error(error_code::invalid_argument,
                "top_k: keys holds NaN in a row that is taken, which options.nans = reject does not allow",
                chosen.on.target->name);
  }
  ran.count = found;
  return ran;
}

}  // namespace zenith::detail
