#include <perf/study/threshold_subject.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

#include <perf/study/clock.hpp>
#include <perf/study/placed.hpp>
#include <zenith/array.hpp>

namespace zenith_study {
namespace {

constexpr std::string_view operation = zenith::threshold_table_call::operation;
constexpr std::array<std::string_view, 6> modelled{"blocks", "scan", "full", "gta", "gta_shared", "ta"};

using table_t = zenith::threshold_table<float>;

struct outputs {
  outputs(const placement& at, std::size_t k) : scores(at, k), rows(at, k) {}

  output<float> scores;
  output<std::uint64_t> rows;
  zenith::top_k_run ran;
};

// Table and columns in the memory of a device.
struct there {
  there(const placement& at, const table_t& of, const std::vector<std::vector<float>>& columns)
      : executor(at.executor), table(at.on, of) {
    for (const auto& column : columns) held.emplace_back(at.on, std::span<const float>(column));
    for (const auto& column : held) set.add(column.device());
  }

  std::string executor;
  zenith::device_threshold_table<float> table;
  zenith::device_threshold_table<float> directory;  // rows stay on the host
  zenith::device_threshold_table<float> mapped;     // the same, and are read there
  std::vector<zenith::array<float>> held;
  zenith::device_column_set<float> set;
};

class threshold_input final : public input {
 public:
  threshold_input(threshold_input_options options, double* build_seconds)
      : given_(std::move(options)),
        values_(columns_of(standard_points(given_.of, given_.rows, given_.columns, given_.seed), given_.columns)) {
    for (const auto& column : values_) columns_.add(column);
    const double seconds = seconds_of([&] { table_ = table_t::build(columns_, given_.table); });
    if (build_seconds != nullptr) *build_seconds = seconds;
  }

  [[nodiscard]] std::size_t points() const override {
    return given_.preferences.size() * given_.weights.size() * given_.ks.size();
  }
  [[nodiscard]] std::string label(std::size_t point) const override {
    return fmt::format("{}, {} rows, {} weights of Q{}, k = {}", correlation_names[static_cast<std::size_t>(given_.of)],
                       given_.rows, used(point), preference(point), k(point));
  }
  [[nodiscard]] std::vector<coordinate> coordinates(std::size_t point) override {
    return {{"preference", preference(point)}, {"weights", used(point)}, {"k", k(point)}};
  }

  [[nodiscard]] std::vector<trial> place(std::size_t point, const placement& at) override {
    const bool is_table = offers(at.on, operation, at.strategy) || at.strategy == "auto";
    if (!is_table && at.strategy != scan_of_columns && at.strategy != blocks_on_host && at.strategy != rows_mapped &&
        at.strategy != columns_on_host) {
      return {};
    }
    if (at.resident && (there_ == nullptr || there_->executor != at.executor)) {
      there_ = std::make_shared<there>(at, table_, values_);
    }
    if (at.strategy == blocks_on_host && there_->directory.host().rows() == 0) {
      there_->directory = {at.on, table_, zenith::table_residence::host_blocks};
    }
    if (at.strategy == rows_mapped && there_->mapped.host().rows() == 0) {
      there_->mapped = {at.on, table_, zenith::table_residence::mapped_rows};
    }
    const auto to = std::make_shared<outputs>(at, k(point));
    const auto call = [=, this, device = there_](zenith::threshold_statistics* statistics) {
      const auto weights = weights_of(point);
      const auto run = [&](const auto& of, const auto& options) {
        if constexpr (requires {
                        zenith::top_k(at.on, of, weights, to->scores.device(), to->rows.device(), options);
                      }) {
          return zenith::top_k(at.on, of, weights, to->scores.device(), to->rows.device(), options);
        } else {
          return zenith::top_k(at.on, of, weights, to->scores.host(), to->rows.host(), options);
        }
      };
      if (at.strategy == scan_of_columns) {
        // the oracle knows no scan
        const zenith::top_k_options options{.strategy = at.on.backend() == "reference" ? "sort" : "scan"};
        to->ran = at.resident ? run(device->set, options) : run(columns_, options);
      } else if (at.strategy == columns_on_host) {
        to->ran = run(columns_, zenith::top_k_options{.strategy = "scan"});
        if (statistics != nullptr) statistics->rows_evaluated = given_.rows;
      } else if (at.strategy == blocks_on_host) {
        to->ran = run(device->directory, zenith::table_query_options{.strategy = "blocks", .statistics = statistics});
      } else if (at.strategy == rows_mapped) {
        to->ran = run(device->mapped, zenith::table_query_options{.strategy = "blocks", .statistics = statistics});
      } else {
        const zenith::table_query_options options{.strategy = at.strategy, .statistics = statistics};
        to->ran = at.resident ? run(device->table, options) : run(table_, options);
      }
      at.on.synchronize();
    };
    return {{operation, [=] { call(nullptr); },
             [=, this]() -> std::string {
               // columns on the host have results there
               const auto found =
                   at.strategy == columns_on_host ? std::span<const std::uint64_t>(to->rows.host()) : to->rows.read();
               return std::ranges::equal(found, right(point)) ? "" : "other rows than the scan of the columns";
             },
             [=, this](facts& into) {
               zenith::threshold_statistics seen;
               call(&seen);
               into.variant = to->ran.strategy;
               into.numbers["rows_evaluated"] = static_cast<double>(seen.rows_evaluated);
               // of rows, and of the extremes and the threshold tuples that were compared with the threshold
               const auto sums = seen.rows_evaluated + seen.bounds_evaluated;
               into.numbers["bytes_read"] = static_cast<double>(sums * used(point) * sizeof(float));
             }}};
  }

  [[nodiscard]] std::optional<zenith::cost> cost(std::size_t point, std::string_view /*operation*/, const placement& at,
                                                 const zenith::device_profile& on) override {
    if (std::ranges::find(modelled, at.strategy) == modelled.end()) return {};
    return zenith::threshold_table_cost(at.strategy, problem(point, at.space()), on);
  }
  [[nodiscard]] zenith::decision decide(std::size_t point, std::string_view /*operation*/, zenith::memory_space space,
                                        const zenith::machine& on) override {
    return zenith::decide(problem(point, space), on);
  }

 private:
  [[nodiscard]] std::uint64_t preference(std::size_t point) const {
    return given_.preferences[point / given_.ks.size() / given_.weights.size()];
  }
  [[nodiscard]] std::uint64_t used(std::size_t point) const {
    return given_.weights[point / given_.ks.size() % given_.weights.size()];
  }
  [[nodiscard]] std::uint64_t k(std::size_t point) const { return given_.ks[point % given_.ks.size()]; }
  [[nodiscard]] std::vector<float> weights_of(std::size_t point) const {
    std::vector<float> weights(given_.columns);
    const auto& preferred = preference_vectors[preference(point)];
    for (std::size_t j = 0; j < used(point); ++j) weights[j] = preferred[j % preferred.size()];
    return weights;
  }

  [[nodiscard]] const std::vector<std::uint64_t>& right(std::size_t point) {
    auto& rows = right_[point];
    if (rows.empty()) {
      rows = zenith::top_k(zenith::make_executor("cpu"), columns_, weights_of(point), k(point), {.strategy = "scan"})
                 .indices;
    }
    return rows;
  }

  // With the share of the rows that "blocks" evaluates on the CPU.
  [[nodiscard]] zenith::threshold_table_problem problem(std::size_t point, zenith::memory_space space) {
    auto [found, is_new] = problems_.try_emplace(point);
    auto& of = found->second;
    if (is_new) {
      zenith::threshold_statistics seen;
      static_cast<void>(zenith::top_k(zenith::make_executor("cpu"), table_, weights_of(point), k(point),
                                      {.strategy = "blocks", .statistics = &seen}));
      const double share = static_cast<double>(std::clamp<std::uint64_t>(seen.rows_evaluated, 1, given_.rows)) /
                           static_cast<double>(given_.rows);
      of = {given_.rows, k(point), used(point), zenith::key_type::float32, space, given_.table.block_rows, 0};
      // eighths of an octave, as the model counts them
      of.share_eighths = static_cast<std::uint32_t>(std::floor(-8 * std::log2(share)));
    }
    of.space = space;
    return of;
  }

  threshold_input_options given_;
  std::vector<std::vector<float>> values_;
  zenith::column_set<float> columns_;
  table_t table_;
  std::shared_ptr<there> there_;
  std::map<std::size_t, std::vector<std::uint64_t>> right_;
  std::map<std::size_t, zenith::threshold_table_problem> problems_;
};

class threshold_family final : public subject {
 public:
  // The other strategies, which the dispatcher hardly chooses, share the rates of these.
  threshold_family() : subject("threshold_table", {operation}, {"blocks", "scan", "full"}, true) {}

  [[nodiscard]] std::vector<ladder> ladders() override {
    const std::vector<std::uint64_t> weights{2, 4, 8};
    const std::vector<std::uint64_t> ks{8, 256, 2048};
    std::vector<ladder> all;
    for (const auto of : {correlation::correlated, correlation::independent, correlation::anticorrelated}) {
      for (std::size_t point = 0; point < weights.size() * ks.size(); ++point) {
        all.push_back({fmt::format("{}, {} weights, k = {}", correlation_names[static_cast<std::size_t>(of)],
                                   weights[point / ks.size()], ks[point % ks.size()]),
                       {}});
        // few rows tell what a call costs; of k from an eighth of the rows on, "blocks" scans
        for (const int log_rows : {8, 10, 12, 15, 17, 20}) {
          if (ks[point % ks.size()] > std::uint64_t{1} << log_rows) continue;
          all.back().rungs.push_back({operation,
                                      [=, this](std::uint32_t variant) {
                                        auto& held = held_[{of, log_rows, variant}];
                                        if (held == nullptr) held = make(of, log_rows, weights, ks, 7 + variant);
                                        return held;
                                      },
                                      point, variants_of((columns * sizeof(float)) << log_rows)});
        }
      }
    }
    return all;
  }

  // Every correlation in turn; every count of rows and weights, and every k, is as likely as every other.
  [[nodiscard]] std::vector<question> draw(int questions, unsigned seed, int most_log_count) override {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> log_rows(8, std::max(10, most_log_count - 6));
    std::uniform_int_distribution<std::uint64_t> weights(1, 8);
    std::uniform_int_distribution<int> log_k(0, 11);
    std::vector<question> all;
    for (unsigned drawn = 0; drawn < static_cast<unsigned>(questions); ++drawn) {
      const int rows = log_rows(random);
      const auto k = std::uint64_t{1} << std::min(rows, log_k(random));
      all.push_back({operation,
                     [=, of = static_cast<correlation>(drawn % 3), used = weights(random)](std::uint32_t variant) {
                       return make(of, rows, {used}, {k}, seed + variant);
                     },
                     0, variants_of((columns * sizeof(float)) << rows)});
    }
    return all;
  }

 private:
  static std::shared_ptr<input> make(correlation of, int log_rows, std::vector<std::uint64_t> weights,
                                     std::vector<std::uint64_t> ks, std::uint32_t seed) {
    return make_threshold_input(
        {of, std::uint64_t{1} << log_rows, columns, seed, {}, std::move(weights), std::move(ks)});
  }

  static constexpr std::uint64_t columns = 8;

  // Tables take long to build: those that all ladders go up are held.
  std::map<std::tuple<correlation, int, std::uint32_t>, std::shared_ptr<input>> held_;
};

}  // namespace

std::shared_ptr<input> make_threshold_input(const threshold_input_options& options, double* build_seconds) {
  return std::make_shared<threshold_input>(options, build_seconds);
}

std::unique_ptr<subject> threshold_table_subject() { return std::make_unique<threshold_family>(); }

}  // namespace zenith_study
