#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zenith/backend.hpp>
#include <zenith/cost.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>
#include <zenith/types.hpp>

/// \file
/// What a family says of itself for measuring: how its inputs are made, how a strategy is called on them, what the
/// right result is and what the cost models say. The sweep, the numbers, the picture, calibration, the accuracy of
/// decisions and the conformance test of the study are written once over it.

namespace zenith_study {

/// A strategy on an executor, with the data in its device's memory or on the host.
struct placement {
  std::string executor;  ///< as in `make_executor`
  zenith::executor on;
  std::string strategy;
  bool resident = false;  ///< the data lies in the memory of a device

  [[nodiscard]] zenith::memory_space space() const {
    return resident ? zenith::memory_space::device : zenith::memory_space::host;
  }
};

/// What a family counts beside the time.
struct facts {
  std::string variant;  ///< what ran inside the strategy
  std::map<std::string, double, std::less<>> numbers;
};

/// One call, with its input and its outputs in place.
struct trial {
  std::string_view operation;             ///< as the call structures name it
  std::function<void()> call;             ///< one call, to its end
  std::function<std::string()> fault;     ///< of the last call's results: what is wrong; empty when nothing is
  std::function<void(facts&)> look = {};  ///< what there is to count; may call once more
};

/// One of the numbers that tell a question from the others: in tables, in the numbers and on the axis of a picture.
struct coordinate {
  template <class Value>
  coordinate(std::string called, Value at, std::string head = {}, std::string shown = {})
      : name(std::move(called)),
        value(static_cast<double>(at)),
        heading(head.empty() ? name : std::move(head)),
        text(std::move(shown)) {}

  std::string name;
  double value;
  std::string heading;  ///< of its column
  std::string text;     ///< instead of the value, where it is not empty
};

/// Data on the host, and the questions that are asked of them.
class input {
 public:
  input() = default;
  input(const input&) = delete;
  input& operator=(const input&) = delete;
  virtual ~input() = default;

  /// How many questions there are, and the name of each.
  [[nodiscard]] virtual std::size_t points() const = 0;
  [[nodiscard]] virtual std::string label(std::size_t point) const = 0;
  /// Where a question lies that was asked.
  [[nodiscard]] virtual std::vector<coordinate> coordinates(std::size_t point) = 0;
  /// What the strategy offers for a question, a trial an operation. The input must outlive them, not the placement.
  [[nodiscard]] virtual std::vector<trial> place(std::size_t point, const placement& at) = 0;
  /// What the model of a strategy says; none where there is no model.
  [[nodiscard]] virtual std::optional<zenith::cost> cost(std::size_t point, std::string_view operation,
                                                         const placement& at, const zenith::device_profile& on) = 0;
  /// Throws `unsupported` when nothing can run it.
  [[nodiscard]] virtual zenith::decision decide(std::size_t point, std::string_view operation,
                                                zenith::memory_space space, const zenith::machine& on) = 0;
  /// What every call has to read once: the floor. Empty where the family has none.
  [[nodiscard]] virtual std::span<const std::byte> data() const { return {}; }
};

/// A question whose input is made when it is asked. A branch predictor learns few values that are asked again and
/// again, so that a small question has variants: inputs of the same shape with other values.
struct question {
  std::string_view operation;
  std::function<std::shared_ptr<input>(std::uint32_t variant)> make;
  std::size_t point = 0;
  std::uint32_t variants = 1;
};

/// As many inputs as caches hold beside what the call needs: up to 64, of 256 KiB together.
[[nodiscard]] std::uint32_t variants_of(std::uint64_t input_bytes);

/// The inputs of all variants of a question, of which each call takes the next.
class varied_input {
 public:
  explicit varied_input(const question& of);

  /// The first variant, which stands for all in decisions and predictions.
  [[nodiscard]] input& first() const { return *inputs_.front(); }
  /// As `input::place`; each operation must be offered for all variants alike.
  [[nodiscard]] std::vector<trial> place(const placement& at) const;

 private:
  std::size_t point_;
  std::vector<std::shared_ptr<input>> inputs_;
};

/// Questions of growing size, each with all that is offered for it: calibration goes on until a call takes too long.
struct ladder {
  std::string title;
  std::vector<question> rungs;
};

class subject {
 public:
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject() = default;

  [[nodiscard]] std::string_view name() const { return name_; }
  /// The operations that a decision is made for.
  [[nodiscard]] const std::vector<std::string_view>& operations() const { return operations_; }
  /// The strategies that calibration measures; each has a model.
  [[nodiscard]] const std::vector<std::string_view>& strategies() const { return strategies_; }
  /// Whether strategies have rates in common: then those of all are fitted together, else those of each.
  [[nodiscard]] bool shares_rates() const { return shares_rates_; }
  /// What calibration measures.
  [[nodiscard]] virtual std::vector<ladder> ladders() = 0;
  /// Questions drawn at random, over inputs of at most 2^`most_log_count` items; fewer where one is expensive.
  [[nodiscard]] virtual std::vector<question> draw(int questions, unsigned seed, int most_log_count) = 0;

 protected:
  subject(std::string_view name, std::vector<std::string_view> operations, std::vector<std::string_view> strategies,
          bool shares_rates)
      : name_(name),
        operations_(std::move(operations)),
        strategies_(std::move(strategies)),
        shares_rates_(shares_rates) {}

 private:
  std::string_view name_;
  std::vector<std::string_view> operations_;
  std::vector<std::string_view> strategies_;
  bool shares_rates_;
};

[[nodiscard]] std::unique_ptr<subject> top_k_subject();
[[nodiscard]] std::unique_ptr<subject> packed_column_subject();
[[nodiscard]] std::unique_ptr<subject> skyline_subject();
[[nodiscard]] std::unique_ptr<subject> threshold_table_subject();
[[nodiscard]] std::unique_ptr<subject> spatial_join_subject();
[[nodiscard]] std::vector<std::unique_ptr<subject>> subjects();

/// Whether the executor's backend has a kernel.
[[nodiscard]] inline bool offers(const zenith::executor& on, std::string_view operation, std::string_view strategy) {
  for (const auto& kernel : on.settings().target->kernels) {
    if (kernel.operation == operation && kernel.strategy == strategy) return true;
  }
  return false;
}

/// Seconds that the model of a strategy predicts; none without a model, or for an infinite time.
[[nodiscard]] std::optional<double> predict(input& of, std::size_t point, std::string_view operation,
                                            const placement& at, const zenith::machine& on);

}  // namespace zenith_study
