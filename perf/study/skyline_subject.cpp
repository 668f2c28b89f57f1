#include <perf/study/skyline_subject.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include <perf/study/placed.hpp>
#include <perf/study/quantity.hpp>
#include <zenith/skyline.hpp>

namespace zenith_study {
namespace {

constexpr std::string_view operation = zenith::skyline_call::operation;

struct outputs {
  outputs(const placement& at, std::uint64_t rows) : ids(at, rows) {}

  output<std::uint32_t> ids;
  std::size_t count = 0;
};

class skyline_input final : public input {
 public:
  skyline_input(std::vector<float> points, std::uint64_t rows, std::uint64_t columns)
      : values_(std::move(points)), rows_(rows), columns_(columns), problem_(zenith::skyline_problem_of(view())) {}

  [[nodiscard]] std::size_t points() const override { return 1; }
  [[nodiscard]] std::string label(std::size_t /*point*/) const override {
    return fmt::format("{} x {}", with_commas(rows_), columns_);
  }
  [[nodiscard]] std::vector<coordinate> coordinates(std::size_t /*point*/) override {
    return {{"rows", rows_}, {"columns", columns_}, {"skyline", expected_.size()}};
  }
  [[nodiscard]] std::vector<trial> place(std::size_t /*point*/, const placement& at) override {
    if (!offers(at.on, operation, at.strategy)) return {};
    const auto there = at.resident ? there_.on(at, values_) : zenith::device_span<const float>{};
    const auto to = std::make_shared<outputs>(at, rows_);
    const auto call = [=, this](zenith::skyline_statistics* statistics) {
      const zenith::skyline_options options{.strategy = at.strategy, .statistics = statistics};
      using device_points = zenith::device_matrix_view<const float>;
      to->count = at.resident ? zenith::skyline(at.on, device_points::row_major(there, rows_, columns_),
                                                to->ids.device(), options)
                              : zenith::skyline(at.on, view(), to->ids.host(), options);
      at.on.synchronize();
    };
    return {{operation, [=] { call(nullptr); },
             [=, this]() -> std::string {
               const auto ids = to->ids.read().first(to->count);
               if (expected_.empty()) expected_.assign(ids.begin(), ids.end());
               return std::ranges::equal(ids, expected_) ? "" : "other ids than those of the first strategy";
             },
             [=](facts& into) {
               zenith::skyline_statistics statistics;
               call(&statistics);
               into.numbers = {{"dominance_tests", static_cast<double>(statistics.dominance_tests)},
                               {"mask_tests", static_cast<double>(statistics.mask_tests)}};
             }}};
  }
  [[nodiscard]] std::optional<zenith::cost> cost(std::size_t /*point*/, std::string_view /*operation*/,
                                                 const placement& at, const zenith::device_profile& on) override {
    if (at.strategy == "bnl") return {};
    return zenith::skyline_cost(at.strategy, problem_in(at.space()), on);
  }
  [[nodiscard]] zenith::decision decide(std::size_t /*point*/, std::string_view /*operation*/,
                                        zenith::memory_space space, const zenith::machine& on) override {
    return zenith::decide(problem_in(space), on);
  }

 private:
  [[nodiscard]] zenith::matrix_view<const float> view() const {
    return zenith::matrix_view<const float>::row_major(values_, rows_, columns_);
  }
  [[nodiscard]] zenith::skyline_problem problem_in(zenith::memory_space space) const {
    auto of = problem_;
    of.space = space;
    return of;
  }

  std::vector<float> values_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  zenith::skyline_problem problem_;
  device_copy<float> there_;
  std::vector<std::uint32_t> expected_;
};

question ask(correlation of, int log_rows, std::uint64_t columns, std::uint32_t seed) {
  const auto rows = std::uint64_t{1} << log_rows;
  return {operation, [=](std::uint32_t variant) { return make_skyline_input(of, rows, columns, seed + variant); }, 0,
          variants_of(rows * columns * sizeof(float))};
}

class skyline_family final : public subject {
 public:
  skyline_family()
      : subject("skyline", {operation}, {"bitmap_tiles", "skyalign", "sfs", "salsa", "ggs", "hybrid"}, true) {}

  [[nodiscard]] std::vector<ladder> ladders() override {
    std::vector<ladder> all;
    for (const auto of : {correlation::correlated, correlation::independent, correlation::anticorrelated}) {
      for (const std::uint64_t columns : {3, 6, 11}) {
        all.push_back({fmt::format("{}, {} columns", correlation_names[static_cast<std::size_t>(of)], columns), {}});
        for (const int log_rows : {7, 10, 12, 14, 16}) all.back().rungs.push_back(ask(of, log_rows, columns, 7));
      }
    }
    return all;
  }

  // Every correlation in turn; every count of rows and columns is as likely as every other.
  [[nodiscard]] std::vector<question> draw(int questions, unsigned seed, int most_log_count) override {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> log_rows(6, std::max(8, most_log_count - 8));
    std::uniform_int_distribution<std::uint64_t> columns(2, 12);
    std::vector<question> all;
    for (unsigned drawn = 0; drawn < static_cast<unsigned>(questions); ++drawn) {
      const int rows = log_rows(random);
      all.push_back(ask(static_cast<correlation>(drawn % 3), rows, columns(random), seed));
    }
    return all;
  }
};

}  // namespace

std::shared_ptr<input> make_skyline_input(correlation of, std::uint64_t rows, std::uint64_t columns,
                                          std::uint32_t seed) {
  return std::make_shared<skyline_input>(standard_points(of, rows, static_cast<unsigned>(columns), seed), rows,
                                         columns);
}

std::unique_ptr<subject> skyline_subject() { return std::make_unique<skyline_family>(); }

}  // namespace zenith_study
