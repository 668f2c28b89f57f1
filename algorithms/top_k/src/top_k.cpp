#include <zenith/top_k.hpp>

#include <limits>
#include <optional>

#include <algorithms/top_k/decide.hpp>
#include <algorithms/top_k/run.hpp>
#include <core/resolve.hpp>
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

struct choice {
  execution on;
  std::string strategy;
};

choice choose_strategy(const execution& on, const top_k_problem& problem, std::string_view asked) {
  if (asked != "auto") return {on, std::string{asked}};
  if (on.target->default_profile != nullptr) {
    if (const auto* profile = machine::local().find(on.target->name, on.device)) {
      if (const auto decided = top_k_detail::try_decide(problem, {profile, 1}, asked)) return {on, decided->strategy};
    }
  }
  for (const auto& entry : on.target->kernels) {
    if (entry.run != nullptr && entry.operation == top_k_call::operation) return {on, std::string{entry.strategy}};
  }
  throw error(error_code::unsupported, "top_k is not offered by this backend", on.target->name);
}

choice choose_device(const top_k_problem& problem, std::string_view asked, const std::string& forced) {
  if (!forced.empty()) return choose_strategy(make_executor(forced).settings(), problem, asked);
  const auto decided = top_k_detail::decide(problem, machine::local().devices(), asked);
  execution on;
  on.target = &find_backend(decided.backend);
  on.device = decided.device;
  return {resolve(std::move(on)), decided.strategy};
}

// The latest decision of this thread: calls in a loop have one problem, and a decision costs more than a small top-k.
struct remembered {
  top_k_problem problem;
  execution asked;
  std::string asked_strategy;
  std::string forced;
  const machine* here = nullptr;
  choice chosen;
};

bool same(const execution& a, const execution& b) {
  return a.target == b.target && a.device == b.device && a.threads == b.threads && a.isa == b.isa &&
         a.stream == b.stream && a.memory == b.memory;
}

// Whether the profiles have a say. What is forced runs whatever state their file is in.
bool must_choose(const execution& asked, std::string_view strategy, const std::string& forced) {
  if (asked.target == nullptr && forced.empty()) return true;
  const auto* target = asked.target != nullptr ? asked.target : &find_backend(forced.substr(0, forced.find(':')));
  return strategy == "auto" && target->default_profile != nullptr;
}

// By value: while a call waits for its workers this thread may take up another call, which decides anew.
choice choose(const execution& asked, const top_k_problem& problem, std::string_view strategy) {
  static thread_local std::optional<remembered> last;
  auto forced = asked.target == nullptr ? forced_backend() : std::string{};
  const machine* here = must_choose(asked, strategy, forced) ? &machine::local() : nullptr;
  if (last && last->here == here && last->forced == forced && last->asked_strategy == strategy &&
      last->problem == problem && same(last->asked, asked)) {
    return last->chosen;
  }
  auto chosen =
      asked.target == nullptr ? choose_device(problem, strategy, forced) : choose_strategy(asked, problem, strategy);
  last = remembered{problem, asked, std::string{strategy}, std::move(forced), here, std::move(chosen)};
  return last->chosen;
}

void check_backend(const execution& on, const top_k_arguments& given, const std::string& strategy) {
  const auto& name = on.target->name;
  if (given.space == memory_space::device && on.target->memory != memory_space::device) {
    throw error(error_code::invalid_argument, "top_k: keys is a device_span, but this backend works on host memory",
                name);
  }
  if (find_kernel(*on.target, top_k_call::operation, strategy) == nullptr) {
    std::string offers;
    for (const auto& entry : on.target->kernels) {
      if (entry.run != nullptr && entry.operation == top_k_call::operation)
        offers += (offers.empty() ? "" : ", ") + std::string{entry.strategy};
    }
    throw error(
        error_code::unsupported,
        "top_k: options.strategy is '" + strategy + "', which this backend does not offer; it offers: " + offers, name);
  }
}

}  // namespace

void require_k(std::size_t k, std::size_t count) {
  if (k <= count) return;
  reject("k is " + std::to_string(k) + ", but keys has only " + std::to_string(count) + " items");
}

top_k_run top_k(const executor& on, const top_k_arguments& given, const top_k_options& options) {
  check(given);
  const auto [where, strategy] = choose(on.settings(), problem_of(given, options), options.strategy);
  check_backend(where, given, strategy);
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
