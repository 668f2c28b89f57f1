#include <zenith/top_k.hpp>

#include <limits>

#include <algorithms/top_k/choices.hpp>
#include <algorithms/top_k/run.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

[[noreturn]] void reject(const std::string& message) { throw error(error_code::invalid_argument, "top_k: " + message); }

void check(const top_k_arguments& given) {
  if (given.out_keys_count != given.out_indices_count) {
    reject("out_keys has " + std::to_string(given.out_keys_count) + " elements and out_indices " +
           std::to_string(given.out_indices_count) + "; both must have k");
  }
  require_k(given.out_keys_count, given.count);
  if (given.index_bytes == 4 && given.count > 0) {
    const std::uint64_t most =
        given.index_signed ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::uint32_t>::max();
    if (given.count - 1 > most) {
      reject("keys has " + std::to_string(given.count) +
             " items, more than out_indices of 32 bits can tell apart; use 64-bit indices");
    }
  }
}

top_k_problem problem_of(const top_k_arguments& given, const top_k_options& options) {
  return {given.count, given.out_keys_count, given.type, options.order, given.space};
}

}  // namespace

void require_k(std::size_t k, std::size_t count) {
  if (k <= count) return;
  if (k > std::numeric_limits<std::size_t>::max() / 2)
    reject("k is negative: " + std::to_string(static_cast<std::int64_t>(k)));
  reject("k is " + std::to_string(k) + ", but keys has only " + std::to_string(count) + " items");
}

top_k_run top_k(const executor& on, const top_k_arguments& given, const top_k_options& options) {
  check(given);
  const auto [where, strategy] =
      choose(top_k_detail::choices, on.settings(), problem_of(given, options), options.strategy);
  check_backend(where, top_k_call::operation, "top_k", "keys", given.space, strategy);
  if (given.out_keys_count > 0) {
    top_k_call call;
    call.type = given.type;
    call.space = given.space;
    call.keys = given.keys;
    call.count = given.count;
    call.k = given.out_keys_count;
    call.out_keys = given.out_keys;
    call.out_indices = given.out_indices;
    call.index_bytes = given.index_bytes;
    call.select = options.select;
    call.order = options.order;
    call.ties = options.ties;
    call.nan_first = options.nans != nan_policy::last;
    call.statistics = options.statistics;
    top_k_detail::run(where, strategy, call, options.nans == nan_policy::reject && is_floating(given.type));
  } else if (options.statistics != nullptr) {
    *options.statistics = {};
  }
  return {std::string{where.target->name}, strategy};
}

}  // namespace zenith::detail
