#include <catch.hpp>
#include <string>
#include <string_view>
#include <utility>

#include <perf/study/pack_study.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_call.hpp>

// How a study ends is what its results say, whichever family they are of. The results here are planted.

using namespace zenith_study;

namespace {

constexpr std::string_view sum = zenith::packed_sum_call::operation;
constexpr std::string_view unpack = zenith::unpack_call::operation;

enum class plant { right, wrong, throws };

class planted final : public input {
 public:
  planted(plant of_sum, plant of_unpack) : of_sum_(of_sum), of_unpack_(of_unpack) {}

  [[nodiscard]] std::size_t points() const override { return 1; }
  [[nodiscard]] std::string label(std::size_t /*point*/) const override { return "planted"; }
  [[nodiscard]] std::vector<coordinate> coordinates(std::size_t /*point*/) override { return {{"values", 1}}; }
  [[nodiscard]] std::vector<trial> place(std::size_t /*point*/, const placement& /*at*/) override {
    return {made(sum, of_sum_), made(unpack, of_unpack_)};
  }
  [[nodiscard]] std::optional<zenith::cost> cost(std::size_t /*point*/, std::string_view /*operation*/,
                                                 const placement& /*at*/,
                                                 const zenith::device_profile& /*on*/) override {
    return {};
  }
  [[nodiscard]] zenith::decision decide(std::size_t /*point*/, std::string_view /*operation*/,
                                        zenith::memory_space /*space*/, const zenith::machine& /*on*/) override {
    throw zenith::error(zenith::error_code::unsupported, "nothing is decided here");
  }

 private:
  static trial made(std::string_view operation, plant one) {
    return {operation,
            [one] {
              if (one == plant::throws) throw zenith::error(zenith::error_code::device_failure, "a planted failure");
            },
            [one] { return std::string{one == plant::wrong ? "a planted fault" : ""}; }};
  }

  plant of_sum_;
  plant of_unpack_;
};

struct planted_study : pack_study {
  planted_study(plant of_sum, plant of_unpack) : pack_study("planted", {"reference"}, 0.001) { add(of_sum, of_unpack); }
  void add(plant of_sum, plant of_unpack) {
    planted of(of_sum, of_unpack);
    measure("", 0, of, {sum, unpack}, all());
  }
};

}  // namespace

TEST_CASE("a study whose results are all right succeeds") {
  const planted_study study(plant::right, plant::right);
  CHECK(study.status() == succeeded);
  CHECK(study.family_study::status() == succeeded);
  CHECK(study.faults().empty());
  CHECK(study.verdict("all right", "wrong").find("all right") != std::string::npos);
}

TEST_CASE("a study with a wrong result ends with the status of wrong results, and says which") {
  for (const auto& [of_sum, of_unpack] : {std::pair{plant::wrong, plant::right}, {plant::right, plant::wrong}}) {
    const planted_study study(of_sum, of_unpack);
    CHECK(study.status() == wrong_results);
    CHECK(study.family_study::status() == wrong_results);
    const auto said = study.faults();
    CHECK(said.find("a planted fault") != std::string::npos);
    CHECK(said.find(of_sum == plant::wrong ? sum : unpack) != std::string::npos);
    CHECK(study.verdict("all right", "it is wrong").find("it is wrong") != std::string::npos);
  }
}

TEST_CASE("a study of packed columns with a call that failed is a failed run") {
  const planted_study study(plant::throws, plant::throws);
  CHECK(study.status() == failed_run);
  CHECK(study.faults().find("a planted failure") != std::string::npos);
}

TEST_CASE("a wrong result outweighs a call that failed") {
  planted_study study(plant::wrong, plant::right);
  study.add(plant::throws, plant::throws);
  CHECK(study.status() == wrong_results);
}
