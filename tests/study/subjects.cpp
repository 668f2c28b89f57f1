#include <algorithm>
#include <catch.hpp>
#include <string>

#include <perf/study/subject.hpp>

// Whatever the study measures must be right, and whatever it decides must be among what can run: every subject's
// questions on every usable backend, by every strategy, with the data on the host and on the device.

using namespace zenith_study;

namespace {

std::vector<placement> placements(std::string_view operation) {
  std::vector<placement> all;
  for (const auto& backend : zenith::backends()) {
    if (!backend.usable) continue;
    const auto on = zenith::make_executor(backend.name);
    for (const auto& kernel : on.settings().target->kernels) {
      if (kernel.operation != operation) continue;
      all.push_back({backend.name, on, std::string{kernel.strategy}, false});
      if (on.settings().target->memory == zenith::memory_space::device) {
        all.push_back(all.back());
        all.back().resident = true;
      }
    }
  }
  return all;
}

// Each call writes its variant down; the third one's results are wrong.
class counted final : public input {
 public:
  counted(std::uint32_t variant, std::vector<std::uint32_t>& called) : variant_(variant), called_(called) {}

  [[nodiscard]] std::size_t points() const override { return 1; }
  [[nodiscard]] std::string label(std::size_t) const override { return "counted"; }
  [[nodiscard]] std::vector<coordinate> coordinates(std::size_t) override { return {}; }
  [[nodiscard]] std::vector<trial> place(std::size_t, const placement&) override {
    return {{"count", [this] { called_.push_back(variant_); },
             [this] { return variant_ == 2 ? std::string{"of the last variant"} : std::string{}; }}};
  }
  [[nodiscard]] std::optional<zenith::cost> cost(std::size_t, std::string_view, const placement&,
                                                 const zenith::device_profile&) override {
    return {};
  }
  [[nodiscard]] zenith::decision decide(std::size_t, std::string_view, zenith::memory_space,
                                        const zenith::machine&) override {
    return {};
  }

 private:
  std::uint32_t variant_;
  std::vector<std::uint32_t>& called_;
};

}  // namespace

TEST_CASE("subjects: every strategy of every backend gives the right result") {
  constexpr int questions = 60;
  constexpr int most_log_count = 14;
  for (const auto& one : subjects()) {
    std::size_t checked = 0;
    for (const auto& question : one->draw(questions, 1, most_log_count)) {
      const varied_input from(question);
      for (const auto& at : placements(question.operation)) {
        INFO(one->name() << ", " << question.operation << ", " << from.first().label(question.point) << ", "
                         << at.executor << "/" << at.strategy << (at.resident ? ", resident" : ""));
        auto given = at;
        const auto trials = from.place(given);
        // a trial has what it needs of its placement
        std::ranges::fill(given.strategy, '?');
        for (const auto& placed : trials) {
          if (placed.operation != question.operation) continue;
          for (std::uint32_t variant = 0; variant < question.variants; ++variant) placed.call();
          CHECK(placed.fault() == "");
          facts seen;
          if (placed.look) placed.look(seen);
          ++checked;
        }
      }
    }
    INFO(one->name());
    CHECK(checked >= questions);
  }
}

TEST_CASE("subjects: what is decided for a question can be called, and has a model") {
  const auto& here = zenith::machine::local();
  for (const auto& one : subjects()) {
    for (const auto& question : one->draw(40, 2, 12)) {
      const auto from = question.make(0);
      const auto decided = from->decide(question.point, question.operation, zenith::memory_space::host, here);
      const auto on = zenith::make_executor(decided.backend);
      const placement at{decided.backend, on, decided.strategy, false};
      INFO(one->name() << ", " << question.operation << ", " << from->label(question.point));
      CHECK(offers(on, question.operation, decided.strategy));
      const auto predicted = predict(*from, question.point, question.operation, at, here);
      REQUIRE(predicted);
      CHECK(*predicted == decided.predicted_seconds);
    }
  }
}

TEST_CASE("subjects: small questions have variants, which are called in turn and whose faults are all found") {
  CHECK(variants_of(1) == 64);
  CHECK(variants_of(64 << 10) == 4);
  CHECK(variants_of(std::uint64_t{1} << 40) == 1);
  std::vector<std::uint32_t> called;
  const question asked{"count", [&](std::uint32_t variant) { return std::make_shared<counted>(variant, called); }, 0,
                       3};
  const varied_input from(asked);
  const auto placed = from.place({});
  REQUIRE(placed.size() == 1);
  CHECK(placed.front().fault() == "");
  placed.front().call();
  CHECK(placed.front().fault() == "");
  for (int i = 0; i < 3; ++i) placed.front().call();
  CHECK(called == std::vector<std::uint32_t>{0, 1, 2, 0});
  CHECK(placed.front().fault() == "of the last variant");
}

TEST_CASE("subjects: calibration has what to go up") {
  for (const auto& one : subjects()) {
    REQUIRE_FALSE(one->strategies().empty());
    for (const auto& up : one->ladders()) {
      INFO(one->name() << ", " << up.title);
      CHECK(up.rungs.size() >= 3);
    }
  }
}
