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

}  // namespace

TEST_CASE("subjects: every strategy of every backend gives the right result") {
  constexpr int questions = 60;
  constexpr int most_log_count = 14;
  for (const auto& one : subjects()) {
    std::size_t checked = 0;
    for (const auto& question : one->draw(questions, 1, most_log_count)) {
      const auto from = question.make();
      for (const auto& at : placements(question.operation)) {
        INFO(one->name() << ", " << question.operation << ", " << from->label(question.point) << ", " << at.executor
                         << "/" << at.strategy << (at.resident ? ", resident" : ""));
        for (const auto& placed : from->place(question.point, at)) {
          if (placed.operation != question.operation) continue;
          placed.call();
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
      const auto from = question.make();
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

TEST_CASE("subjects: calibration has what to go up") {
  for (const auto& one : subjects()) {
    REQUIRE_FALSE(one->strategies().empty());
    for (const auto& up : one->ladders()) {
      INFO(one->name() << ", " << up.title);
      CHECK(up.rungs.size() >= 3);
    }
  }
}
