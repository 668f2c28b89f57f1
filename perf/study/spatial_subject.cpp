#include <perf/study/spatial_subject.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>
#include <tuple>
#include <utility>

#include <perf/study/placed.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/spatial_picture.hpp>
#include <zenith/spatial_index.hpp>
#include <zenith/spatial_index_call.hpp>
#include <zenith/spatial_join.hpp>

namespace zenith_study {
namespace {

struct side {
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> score;
  device_copy<float> x_there = {};
  device_copy<float> y_there = {};
  device_copy<float> score_there = {};

  [[nodiscard]] zenith::scored_points<float> points() const { return {{x, y}, score}; }
  [[nodiscard]] zenith::device_scored_points<float> points_on(const placement& at) {
    return {{x_there.on(at, x), y_there.on(at, y)}, score_there.on(at, score)};
  }
};

side draw_side(std::string_view kind, std::uint64_t rows, bool is_right, std::uint64_t seed) {
  constexpr float extent = 1000;
  std::mt19937_64 centres(seed);
  std::mt19937_64 random(seed * 2 + (is_right ? 1 : 0));
  std::uniform_real_distribution<float> place(0, extent);
  std::uniform_real_distribution<float> score(0, 100);
  std::normal_distribution<float> near(0, 5);
  std::vector<std::pair<float, float>> middles;
  for (int i = 0; i < 100; ++i) {
    const float x = place(centres);
    middles.emplace_back(x, place(centres));
  }
  side made{std::vector<float>(rows), std::vector<float>(rows), std::vector<float>(rows)};
  for (std::uint64_t i = 0; i < rows; ++i) {
    if (kind == "clustered") {
      const auto& middle = middles[random() % middles.size()];
      made.x[i] = middle.first + near(random);
      made.y[i] = middle.second + near(random);
    } else {
      made.x[i] = place(random);
      made.y[i] = place(random);
    }
    made.score[i] = kind == thesis_kind        ? static_cast<float>(random() % 101)
                    : kind != "anticorrelated" ? score(random)
                    : is_right                 ? 100 - made.x[i] / extent * 100
                                               : made.x[i] / extent * 100;
  }
  return made;
}

}  // namespace

struct spatial_sides {
  side left;
  side right;
  double distance = 0;
  std::optional<std::uint64_t> pairs = {};

  [[nodiscard]] std::uint64_t count() {
    if (!pairs) {
      const auto on = zenith::make_executor("cpu");
      pairs = zenith::count_spatial_join(on, left.points().coordinates, right.points().coordinates,
                                         {.predicate = {distance}})
                  .count;
    }
    return *pairs;
  }
};

namespace {

constexpr std::string_view join = zenith::spatial_join_call::operation;
constexpr std::string_view top_k_join = zenith::top_k_spatial_join_call::operation;

class spatial_input final : public input {
 public:
  spatial_input(std::shared_ptr<spatial_sides> sides, std::uint64_t k) : sides_(std::move(sides)), k_(k) {}

  [[nodiscard]] std::size_t points() const override { return 1; }
  [[nodiscard]] std::string label(std::size_t /*point*/) const override {
    return fmt::format("{} rows a side, {} pairs", rows().text(), k_ == 0 ? "all" : with_commas(k_));
  }
  [[nodiscard]] std::vector<coordinate> coordinates(std::size_t /*point*/) override {
    return {{"rows", rows().left, "left rows"},
            {"right_rows", rows().right, "right rows"},
            {"pairs", sides_->count()},
            {"k", k_, "k", k_ == 0 ? "all" : ""}};
  }

  [[nodiscard]] std::vector<trial> place(std::size_t /*point*/, const placement& at) override {
    const auto operation = spatial_operation(k_);
    if (!offers(at.on, operation, at.strategy)) return {};
    const auto to = std::make_shared<pairs>(at, k_ == 0 ? sides_->count() : k_, k_);
    std::function<void()> call;
    if (at.resident) {
      call = [=, this, a = sides_->left.points_on(at), b = sides_->right.points_on(at)] {
        const auto [all, best] = options(at);
        auto left = to->left.device();
        auto right = to->right.device();
        to->count = k_ == 0 ? zenith::spatial_join(at.on, a.coordinates, b.coordinates, left, right, all).count
                            : zenith::top_k_spatial_join(at.on, a, b, left, right, to->scores.device(), best).count;
        at.on.synchronize();
      };
    } else {
      call = [=, this, a = sides_->left.points(), b = sides_->right.points()] {
        const auto [all, best] = options(at);
        if (k_ == 0) {
          auto found = zenith::spatial_join(at.on, a.coordinates, b.coordinates, all);
          to->take(found);
        } else {
          auto found = zenith::top_k_spatial_join(at.on, a, b, k_, best);
          to->take(found);
          to->scores.host() = std::move(found.scores);
        }
      };
    }
    return {{operation, call, [=, this]() -> std::string {
               auto found = to->read();
               if (!first_) first_ = found;
               return found == *first_ ? "" : "other pairs than those of the first strategy";
             }}};
  }

  [[nodiscard]] std::optional<zenith::cost> cost(std::size_t /*point*/, std::string_view /*operation*/,
                                                 const placement& at, const zenith::device_profile& on) override {
    if (at.strategy == "loops") return {};
    return k_ == 0 ? zenith::spatial_join_cost(at.strategy, problem(at.space()), on)
                   : zenith::top_k_spatial_join_cost(at.strategy, problem(at.space()), on);
  }
  [[nodiscard]] zenith::decision decide(std::size_t /*point*/, std::string_view /*operation*/,
                                        zenith::memory_space space, const zenith::machine& on) override {
    return k_ == 0 ? zenith::decide(static_cast<const zenith::spatial_join_problem&>(problem(space)), on)
                   : zenith::decide(problem(space), on);
  }

  [[nodiscard]] std::string map(std::string_view kind) const {
    if (!first_) return {};
    const auto copied = [](const side& of, const char* name) {
      return map_side{name, {of.x.begin(), of.x.end()}, {of.y.begin(), of.y.end()}};
    };
    std::vector<map_pair> drawn;
    for (std::size_t i = 0; i < first_->left.size(); ++i) drawn.push_back({first_->left[i], first_->right[i]});
    return spatial_picture(fmt::format("{} points, {} a side: the {} best pairs within {:g}", kind, rows().text(),
                                       with_commas(drawn.size()), sides_->distance),
                           copied(sides_->left, "left"), copied(sides_->right, "right"), drawn);
  }

 private:
  /// Of all pairs, and of the best. They have views of the strategy's name: `at` must outlive them.
  [[nodiscard]] std::pair<zenith::spatial_join_options, zenith::top_k_spatial_join_options> options(
      const placement& at) const {
    return {{.predicate = {sides_->distance}, .strategy = at.strategy},
            {.predicate = {sides_->distance}, .strategy = at.strategy}};
  }

  struct found_pairs {
    std::vector<std::uint32_t> left;
    std::vector<std::uint32_t> right;
    std::vector<float> scores;

    [[nodiscard]] bool operator==(const found_pairs&) const = default;
  };
  struct pairs {
    pairs(const placement& at, std::uint64_t most, std::uint64_t scored)
        : left(at, most), right(at, most), scores(at, scored) {}

    template <class Found>
    void take(Found& found) {
      count = found.count;
      left.host() = std::move(found.left);
      right.host() = std::move(found.right);
    }
    [[nodiscard]] found_pairs read() {
      const auto first = [this](auto& of) {
        const auto all = of.read();
        return std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size())));
      };
      return {first(left), first(right), first(scores)};
    }

    std::size_t count = 0;
    output<std::uint32_t> left;
    output<std::uint32_t> right;
    output<float> scores;
  };

  [[nodiscard]] side_rows rows() const { return {sides_->left.x.size(), sides_->right.x.size()}; }
  [[nodiscard]] zenith::top_k_spatial_join_problem problem(zenith::memory_space space) const {
    // as "auto" does, but for the number of pairs, which is known
    if (!described_) {
      described_ = zenith::top_k_spatial_join_problem_of(sides_->left.points(), sides_->right.points(), k_,
                                                         {.predicate = {sides_->distance}});
      described_->pairs = sides_->count();
    }
    auto made = *described_;
    made.space = space;
    return made;
  }

  std::shared_ptr<spatial_sides> sides_;
  std::uint64_t k_;
  std::optional<found_pairs> first_;
  mutable std::optional<zenith::top_k_spatial_join_problem> described_;
};

class block_input final : public input {
 public:
  block_input(std::shared_ptr<spatial_sides> sides, std::uint64_t k, block_parameter which,
              std::vector<std::uint32_t> values)
      : sides_(std::move(sides)), k_(k), which_(which), values_(std::move(values)) {}

  [[nodiscard]] std::size_t points() const override { return values_.size(); }
  [[nodiscard]] std::string label(std::size_t point) const override {
    return fmt::format("{} {}", name_of(which_), values_[point]);
  }
  [[nodiscard]] std::vector<coordinate> coordinates(std::size_t point) override {
    return {{"rows", sides_->left.x.size(), "left rows"},
            {"right_rows", sides_->right.x.size(), "right rows"},
            {"k", k_},
            {std::string(name_of(which_)), values_[point]}};
  }

  [[nodiscard]] std::vector<trial> place(std::size_t point, const placement& at) override {
    if (at.resident) return {};
    using tree = zenith::spatial_index<float, 2>;
    using answer = zenith::top_k_spatial_join_result<float>;
    const auto found = std::make_shared<answer>();
    const auto call = [=, this] {
      zenith::top_k_index_join_options options{.predicate = zenith::within{sides_->distance}, .strategy = at.strategy};
      zenith::spatial_index_options shape;
      if (which_ == block_parameter::fanout) {
        shape.fanout = values_[point];
      } else {
        options.blocks_at_once = values_[point];
      }
      const auto left = tree::build(at.on, sides_->left.points(), shape);
      const auto right = tree::build(at.on, sides_->right.points(), shape);
      *found = zenith::top_k_spatial_join(at.on, left, right, k_, options);
    };
    return {{zenith::top_k_index_join_call::operation, call, [=, this]() -> std::string {
               if (!first_) first_ = *found;
               const bool same =
                   found->left == first_->left && found->right == first_->right && found->scores == first_->scores;
               return same ? "" : "other pairs than those of the first strategy";
             }}};
  }

  [[nodiscard]] std::optional<zenith::cost> cost(std::size_t /*point*/, std::string_view /*operation*/,
                                                 const placement& /*at*/,
                                                 const zenith::device_profile& /*on*/) override {
    return {};
  }
  [[nodiscard]] zenith::decision decide(std::size_t /*point*/, std::string_view /*operation*/,
                                        zenith::memory_space space, const zenith::machine& on) override {
    return zenith::decide(zenith::top_k_index_join_problem{sides_->left.x.size(), sides_->right.x.size(), k_,
                                                           zenith::key_type::float32, space},
                          on);
  }

 private:
  std::shared_ptr<spatial_sides> sides_;
  std::uint64_t k_;
  block_parameter which_;
  std::vector<std::uint32_t> values_;
  std::optional<zenith::top_k_spatial_join_result<float>> first_;
};

// A distance at which a point has about four partners, were the points spread evenly.
question ask(std::string_view kind, int log_rows, std::uint64_t k, std::uint64_t seed) {
  const auto rows = std::uint64_t{1} << log_rows;
  const double distance = 1000 * std::sqrt(4 / (std::numbers::pi * static_cast<double>(rows)));
  return {spatial_operation(k),
          [=](std::uint32_t variant) {
            return make_spatial_input(draw_sides(kind, {rows, rows}, distance, seed + variant), k);
          },
          0, variants_of(2 * rows * 3 * sizeof(float))};
}

class spatial_family final : public subject {
 public:
  // Of the paper's algorithms, which the dispatcher chooses for few rows, one has the rates of all.
  spatial_family() : subject("spatial_join", {join, top_k_join}, {"grid", "threshold_first", "full", "ba"}, true) {}

  [[nodiscard]] std::vector<ladder> ladders() override {
    std::vector<ladder> all;
    for (const auto kind : spatial_kinds) {
      for (const std::uint64_t k : {0, 100, 2000}) {
        all.push_back({fmt::format("{}, {} pairs", kind, k == 0 ? "all" : std::to_string(k)), {}});
        // the first says what a call takes without rows
        for (const int log_rows : {6, 10, 13, 16}) all.back().rungs.push_back(ask(kind, log_rows, k, 1));
      }
    }
    return all;
  }

  // Every kind in turn, with all pairs or the k best; every count of rows and every k is as likely as every other.
  [[nodiscard]] std::vector<question> draw(int questions, unsigned seed, int most_log_count) override {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> log_rows(6, std::max(8, most_log_count - 8));
    std::uniform_int_distribution<int> log_k(0, 12);
    std::vector<question> all;
    for (unsigned drawn = 0; drawn < static_cast<unsigned>(questions); ++drawn) {
      const int rows = log_rows(random);
      const auto k = std::uint64_t{1} << log_k(random);
      all.push_back(ask(spatial_kinds[drawn % 3], rows, drawn % 4 == 0 ? 0 : k, seed));
    }
    return all;
  }
};

}  // namespace

std::string side_rows::text() const {
  return left == right ? with_commas(left) : fmt::format("{} x {}", with_commas(left), with_commas(right));
}

std::vector<side_rows> parse_side_rows(std::string_view what, std::string_view text) {
  std::vector<side_rows> all;
  for (const auto item : split_at_commas(text)) {
    if (const auto by = item.find('x'); by != std::string_view::npos) {
      all.push_back({parse_count(what, item.substr(0, by)), parse_count(what, item.substr(by + 1))});
    } else {
      for (const auto count : parse_counts(what, item)) all.push_back({count, count});
    }
  }
  std::ranges::sort(all, {}, [](const side_rows& of) {
    return std::tuple(static_cast<double>(of.left) * static_cast<double>(of.right), of.left);
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::shared_ptr<spatial_sides> draw_sides(std::string_view kind, side_rows rows, double distance, std::uint64_t seed) {
  return std::make_shared<spatial_sides>(
      spatial_sides{draw_side(kind, rows.left, false, seed), draw_side(kind, rows.right, true, seed), distance});
}

std::uint64_t pairs_of(spatial_sides& sides) { return sides.count(); }

std::shared_ptr<input> make_spatial_input(std::shared_ptr<spatial_sides> sides, std::uint64_t k) {
  return std::make_shared<spatial_input>(std::move(sides), k);
}
std::string_view name_of(block_parameter which) {
  return which == block_parameter::fanout ? "fanout" : "blocks_at_once";
}
std::shared_ptr<input> make_block_input(std::shared_ptr<spatial_sides> sides, std::uint64_t k, block_parameter which,
                                        std::vector<std::uint32_t> values) {
  return std::make_shared<block_input>(std::move(sides), k, which, std::move(values));
}
std::string_view block_operation() { return zenith::top_k_index_join_call::operation; }
std::string_view spatial_operation(std::uint64_t k) { return k == 0 ? join : top_k_join; }

std::string map_of(const input& of, std::string_view kind) { return dynamic_cast<const spatial_input&>(of).map(kind); }

std::unique_ptr<subject> spatial_join_subject() { return std::make_unique<spatial_family>(); }

}  // namespace zenith_study
