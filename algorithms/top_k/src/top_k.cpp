#include <zenith/top_k.hpp>

#include <limits>

#include <algorithms/top_k/choices.hpp>
#include <algorithms/top_k/options.hpp>
#include <algorithms/top_k/run.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

[[noreturn]] void reject(const std::string& message) { throw error(error_code::invalid_argument, "top_k: " + message); }

}  // namespace

void require_k(std::size_t k, std::string_view given, std::size_t count) {
  if (k <= count) return;
  if (k > std::numeric_limits<std::size_t>::max() / 2)
    reject("k is negative: " + std::to_string(static_cast<std::int64_t>(k)));
  reject("k is " + std::to_string(k) + ", but " + std::string{given} + " has only " + std::to_string(count) +
         (given == "keys" ? " items" : " rows"));
}

void check_outputs(std::string_view given, std::size_t count, std::size_t out_keys_count, std::size_t out_indices_count,
                   std::uint64_t most_index) {
  if (out_keys_count != out_indices_count) {
    reject("out_keys has " + std::to_string(out_keys_count) + " elements and out_indices " +
           std::to_string(out_indices_count) + "; both must have k");
  }
  require_k(out_keys_count, given, count);
  if (count > 0 && count - 1 > most_index) {
    reject(std::string{given} + " has " + std::to_string(count) +
           " items, more than out_indices of 32 bits can tell apart; use 64-bit indices");
  }
}

top_k_run top_k(const executor& on, const top_k_call& call, const top_k_options& options) {
  top_k_detail::check_options(options);
  const top_k_problem problem{call.count, call.k, call.type, call.order, call.space};
  const auto [where, strategy] = choose(top_k_detail::choices, on.settings(), problem, options.strategy);
  const auto& by = check_backend(where, top_k_call::operation, "top_k", "keys", call.space, strategy);
  const bool reject_nan = options.nans == nan_policy::reject && is_floating(call.type);
  if (call.k == 0) {
    if (call.statistics != nullptr) *call.statistics = {};
  } else if (reject_nan || call.count > top_k_detail::segment_limit) {
    top_k_detail::run_in_parts(where, by, call, reject_nan);
  } else {
    by.run(where, &call);
  }
  return {std::string{where.target->name}, strategy};
}

}  // namespace zenith::detail
