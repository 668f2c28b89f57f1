#include <algorithms/packed_column/resolve.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <algorithms/packed_column/strategy_of.hpp>
#include <core/decide.hpp>
#include <core/resolve.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace packed {
namespace {

// What profiles that were written before strategies had names of their own call that of every operation.
constexpr std::string_view former_name = "tiles";

candidate consider(const packed_problem& problem, const device_profile& on) {
  const auto strategy = strategy_of(problem.operation);
  const auto listed = on.offers_kernel(problem.operation, former_name) ? former_name : strategy;
  auto reason = detail::obstacle(problem.operation, listed, "the column lies", problem.space, on);
  if (!reason.empty()) return detail::barred(on, strategy, std::move(reason));
  return detail::predicted(on, strategy, seconds(packed_cost(problem, on), on));
}

std::optional<decision> try_decide(const packed_problem& problem, std::span<const device_profile> among) {
  std::vector<candidate> all;
  all.reserve(among.size());
  for (const auto& device : among) all.push_back(consider(problem, device));
  return detail::fastest(std::move(all), among);
}

// The latest decision of this thread: calls in a loop have one problem.
struct remembered {
  packed_problem problem;
  const machine* here;
  execution chosen;
};

const execution& choose(const packed_problem& problem) {
  static thread_local std::optional<remembered> last;
  const auto& here = machine::local();
  if (!last || last->here != &here || last->problem != problem) {
    const auto decided = decide(problem, here);
    execution on;
    on.target = &find_backend(decided.backend);
    on.device = decided.device;
    last = remembered{problem, &here, detail::resolve(std::move(on))};
  }
  return last->chosen;
}

// That of the usual name; else, of a backend that was named, whichever it has. "auto" considers the usual names alone.
const kernel* find_strategy(const backend& in, std::string_view operation) {
  if (const auto* usual = find_kernel(in, operation, strategy_of(operation))) return usual;
  for (const auto& entry : in.kernels) {
    if (entry.run != nullptr && entry.operation == operation) return &entry;
  }
  return nullptr;
}

}  // namespace

place resolve(const executor& on, const packed_problem& problem) {
  execution found = on.settings();
  if (on.is_automatic()) {
    const auto forced = detail::forced_backend();
    found = forced.empty() ? choose(problem) : make_executor(forced).settings();
  }
  const auto* const by = find_strategy(*found.target, problem.operation);
  if (by == nullptr) {
    throw error(error_code::unsupported, std::string{problem.operation} + " is not offered by this backend",
                found.target->name);
  }
  if (problem.space == memory_space::device && found.target->memory != memory_space::device) {
    throw error(
        error_code::invalid_argument,
        std::string{problem.operation} + ": the column lies in device memory, but this backend works on host memory",
        found.target->name);
  }
  return {std::move(found), by};
}

}  // namespace packed

decision decide(const packed_problem& problem, const machine& on) {
  if (auto found = packed::try_decide(problem, on.devices())) return *std::move(found);
  throw error(error_code::unsupported, std::string{problem.operation} + ": no device of this machine can run it");
}

}  // namespace zenith
