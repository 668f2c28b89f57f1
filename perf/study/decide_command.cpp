#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <perf/study/commands.hpp>
#include <perf/study/key_type_name.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/study_options.hpp>
#include <perf/study/table.hpp>
#include <zenith/scored_top_k.hpp>
#include <zenith/skyline.hpp>
#include <zenith/spatial_join.hpp>
#include <zenith/threshold_table.hpp>
#include <zenith/top_k.hpp>

namespace zenith_study {
namespace {

struct settings {
  std::string query = "top-k";
  std::string count = "2^26";
  std::string right;
  std::string k = "32";
  std::string columns = "4";
  std::string pairs;
  double share = 1;
  std::string type = "float32";
  bool on_device = false;
  std::string profile;
};

std::string device_name(const std::string& backend, int device) {
  return device == 0 ? backend : fmt::format("{}:{}", backend, device);
}

// What is asked for, in words, and what the dispatcher says.
struct answer {
  std::string problem;
  zenith::decision decided;
};

class questions {
 public:
  explicit questions(const settings& given)
      : given_(given),
        here_(given.profile.empty() ? zenith::machine::local() : zenith::machine::read(given.profile)),
        count_(parse_count("--count", given.count)),
        type_(parse_key_type("--type", given.type)),
        space_(given.on_device ? zenith::memory_space::device : zenith::memory_space::host) {
    if (count_ == 0) reject("--count is 0; there is nothing to choose for");
  }

  [[nodiscard]] answer ask() const {
    const auto found = std::ranges::find(every_query, std::string_view{given_.query}, &named::first);
    return (this->*found->second)();
  }
  [[nodiscard]] static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& one : every_query) all.emplace_back(one.first);
    return all;
  }

 private:
  using named = std::pair<std::string_view, answer (questions::*)() const>;
  static const std::array<named, 6> every_query;

  [[nodiscard]] std::string of_rows() const {
    return fmt::format("{} {}", with_commas(count_), zenith::to_string(type_));
  }
  [[nodiscard]] std::uint64_t wanted() const {
    const auto k = parse_count("--k", given_.k);
    if (k == 0) reject("--k is 0; there is nothing to choose for");
    return k;
  }
  // Of single rows.
  [[nodiscard]] std::uint64_t k() const {
    const auto k = wanted();
    if (k > count_) reject(fmt::format("--k is {}, but --count is only {}", with_commas(k), with_commas(count_)));
    return k;
  }
  [[nodiscard]] std::uint64_t columns(std::uint64_t most) const {
    const auto columns = parse_count("--columns", given_.columns);
    if (columns == 0 || columns > most) {
      reject(fmt::format("--columns is {}; a {} has 1 to {}", columns, given_.query, most));
    }
    return columns;
  }

  [[nodiscard]] answer top_k() const {
    zenith::top_k_problem problem;
    problem.count = count_;
    problem.k = k();
    problem.type = type_;
    problem.space = space_;
    return {fmt::format("top-k, k = {} of {}", with_commas(problem.k), of_rows()), zenith::decide(problem, here_)};
  }
  [[nodiscard]] answer weighted_sum() const {
    check_type(true);
    const zenith::scored_top_k_problem problem{count_, k(), columns(zenith::most_table_columns), type_, space_};
    return {fmt::format("the {} best sums of {} columns of {}", with_commas(problem.k), problem.columns, of_rows()),
            zenith::decide(problem, here_)};
  }
  [[nodiscard]] answer table_query() const {
    check_type(true);
    zenith::threshold_table_problem problem;
    problem.count = count_;
    problem.k = k();
    problem.columns = columns(zenith::most_table_columns);
    problem.type = type_;
    problem.space = space_;
    problem.share_eighths = static_cast<std::uint32_t>(std::floor(-8 * std::log2(given_.share / 100)));
    return {fmt::format("a threshold table of {}, the {} best sums of {} columns, {} % of the rows evaluated",
                        of_rows(), with_commas(problem.k), problem.columns, given_.share),
            zenith::decide(problem, here_)};
  }
  [[nodiscard]] answer skyline() const {
    zenith::skyline_problem problem;
    problem.rows = count_;
    problem.columns = static_cast<unsigned>(columns(zenith::most_skyline_columns));
    problem.type = type_;
    problem.space = space_;
    return {fmt::format("the skyline of {} in {} independent columns", of_rows(), problem.columns),
            zenith::decide(problem, here_)};
  }
  // Rows of a weighted sum have no 64-bit integers, points no integers.
  void check_type(bool takes_integers) const {
    using zenith::key_type;
    const bool is_float = type_ == key_type::float32 || type_ == key_type::float64;
    const bool is_short = type_ == key_type::int32 || type_ == key_type::uint32;
    if (is_float || (takes_integers && is_short)) return;
    reject(fmt::format("--type is {}; a {} takes float32{} float64{}", given_.type, given_.query,
                       takes_integers ? "," : " or", takes_integers ? ", int32 or uint32" : ""));
  }
  template <class Problem>
  [[nodiscard]] Problem joined() const {
    check_type(false);
    Problem problem;
    problem.left_rows = count_;
    problem.right_rows = given_.right.empty() ? count_ : parse_count("--right", given_.right);
    problem.pairs = given_.pairs.empty() ? 4 * count_ : parse_count("--pairs", given_.pairs);
    problem.type = type_;
    problem.space = space_;
    return problem;
  }
  [[nodiscard]] std::string of_sides(const zenith::spatial_join_problem& problem) const {
    return fmt::format("{} near pairs of {} and {} {} points", with_commas(problem.pairs),
                       with_commas(problem.left_rows), with_commas(problem.right_rows), zenith::to_string(type_));
  }
  [[nodiscard]] answer join() const {
    const auto problem = joined<zenith::spatial_join_problem>();
    return {fmt::format("all {}", of_sides(problem)), zenith::decide(problem, here_)};
  }
  [[nodiscard]] answer ranked_join() const {
    auto problem = joined<zenith::top_k_spatial_join_problem>();
    problem.k = wanted();
    return {fmt::format("the {} best of {}", with_commas(problem.k), of_sides(problem)),
            zenith::decide(problem, here_)};
  }

  const settings& given_;
  zenith::machine here_;
  std::uint64_t count_;
  zenith::key_type type_;
  zenith::memory_space space_;
};

const std::array<questions::named, 6> questions::every_query{{
    {"top-k", &questions::top_k},
    {"weighted-sum", &questions::weighted_sum},
    {"table", &questions::table_query},
    {"skyline", &questions::skyline},
    {"join", &questions::join},
    {"ranked-join", &questions::ranked_join},
}};

int explain(const settings& given) {
  const auto [problem, decided] = questions(given).ask();
  fmt::print("{} in {} memory: {} on {}, {} predicted\n{}\n\n", problem, given.on_device ? "device" : "host",
             decided.strategy, device_name(decided.backend, decided.device), format_seconds(decided.predicted_seconds),
             decided.why);
  table shown({{"", align::left}, {"backend/strategy", align::left}, {"predicted"}, {"why", align::left}});
  shown.add({"*", fmt::format("{}/{}", device_name(decided.backend, decided.device), decided.strategy),
             format_seconds(decided.predicted_seconds), "chosen"});
  for (const auto& other : decided.rejected) {
    shown.add({"", fmt::format("{}/{}", device_name(other.backend, other.device), other.strategy),
               format_seconds(other.predicted_seconds), other.reason});
  }
  fmt::print("{}", shown.text());
  return succeeded;
}

}  // namespace

void add_decide(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("decide", "What the dispatcher chooses for a problem, and why not the others");
  const auto given = std::make_shared<settings>();
  command->option_defaults()->always_capture_default();
  command->add_option("query", given->query, fmt::format("{}", fmt::join(questions::names(), ", ")))
      ->check(CLI::IsMember(questions::names()));
  command->add_option("--count", given->count,
                      "How many values or rows: 2^26, 64M, 64Mi, 1e6; of a join, the left side's");
  command->add_option("-k,--k", given->k, "How many of them are wanted");
  command->add_option("--columns", given->columns, "Of a weighted sum or table those with a weight, or of a skyline");
  command->add_option("--share", given->share, "Of a table: % of the rows that blocks are expected to evaluate")
      ->check(finite_from_0() & CLI::Range(1e-9, 100.0));
  command->add_option("--right", given->right, "Of a join: rows of the right side; as many as --count without it");
  command->add_option("--pairs", given->pairs, "Of a join: how many pairs are expected; four a left row without it");
  command->add_option("--type", given->type, "float32, float64, int32, uint32, int64 or uint64");
  command->add_flag("--on-device", given->on_device, "The data lies in the memory of a device");
  command->add_option("--profile", given->profile, "Decide for the machine in this file instead of this one");
  command->callback([given, &status] { status = explain(*given); });
}

}  // namespace zenith_study
