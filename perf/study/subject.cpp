#include <perf/study/subject.hpp>

#include <algorithm>
#include <cmath>

namespace zenith_study {
namespace {

// The same operation on several inputs.
struct trials_in_turn {
  explicit trials_in_turn(std::vector<trial> of) : all(std::move(of)) {}

  void call() {
    all[calls % all.size()].call();
    ++calls;
  }
  // Of those that were called.
  [[nodiscard]] std::string fault() const {
    for (std::size_t i = 0; i < std::min(calls, all.size()); ++i) {
      if (auto fault = all[i].fault(); !fault.empty()) return fault;
    }
    return {};
  }

  std::vector<trial> all;
  std::size_t calls = 0;
};

}  // namespace

std::vector<std::unique_ptr<subject>> subjects() {
  std::vector<std::unique_ptr<subject>> all;
  for (const auto make :
       {top_k_subject, packed_column_subject, skyline_subject, threshold_table_subject, spatial_join_subject}) {
    all.push_back(make());
  }
  return all;
}

std::uint32_t variants_of(std::uint64_t input_bytes) {
  constexpr std::uint64_t all_bytes = std::uint64_t{256} << 10;
  constexpr std::uint64_t most = 64;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(all_bytes / input_bytes, 1, most));
}

varied_input::varied_input(const question& of) : point_(of.point) {
  for (std::uint32_t variant = 0; variant < of.variants; ++variant) inputs_.push_back(of.make(variant));
}

std::vector<trial> varied_input::place(const placement& at) const {
  auto in_turn = first().place(point_, at);
  if (inputs_.size() == 1) return in_turn;
  std::vector<std::vector<trial>> of_operation(in_turn.size());
  for (const auto& from : inputs_) {
    auto placed = from->place(point_, at);
    for (std::size_t i = 0; i < in_turn.size(); ++i) of_operation[i].push_back(std::move(placed.at(i)));
  }
  for (std::size_t i = 0; i < in_turn.size(); ++i) {
    const auto turns = std::make_shared<trials_in_turn>(std::move(of_operation[i]));
    in_turn[i].call = [turns] { turns->call(); };
    in_turn[i].fault = [turns] { return turns->fault(); };
    in_turn[i].look = turns->all.front().look;
  }
  return in_turn;
}

std::optional<double> predict(input& of, std::size_t point, std::string_view operation, const placement& at,
                              const zenith::machine& on) {
  const auto* profile = on.find(at.on.backend(), at.on.device());
  if (profile == nullptr) return {};
  const auto cost = of.cost(point, operation, at, *profile);
  if (!cost) return {};
  const double time = zenith::seconds(*cost, *profile);
  return std::isfinite(time) ? std::optional{time} : std::nullopt;
}

}  // namespace zenith_study
