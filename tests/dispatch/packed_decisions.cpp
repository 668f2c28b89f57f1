#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <catch.hpp>

#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>
#include "scenes.hpp"

using namespace zenith;
using zenith_test::fixture;

namespace {

constexpr std::string_view queries[] = {unpack_call::operation, packed_sum_call::operation,
                                        packed_extremes_call::operation, packed_select_call::operation,
                                        packed_top_k_call::operation};

packed_problem problem(std::string_view operation, encoding kind, int log_count, double bits, memory_space space) {
  packed_problem asked;
  asked.operation = operation;
  asked.count = std::uint64_t{1} << log_count;
  asked.bits_per_value = bits;
  asked.kind = kind;
  asked.k = operation == packed_top_k_call::operation ? 32 : 0;
  asked.space = space;
  return asked;
}

std::string_view name_of(std::string_view operation) {
  if (operation == unpack_call::operation) return "block_decode";
  if (operation == packed_select_call::operation) return "fused_bitmap";
  return operation == packed_top_k_call::operation ? "filter" : "fused_reduce";
}

double predicted(const packed_problem& asked, const device_profile& on) { return seconds(packed_cost(asked, on), on); }

}  // namespace

TEST_CASE("a packed column in device memory is queried there, whatever its size") {
  const auto here = fixture("server-h200.json");
  for (const auto operation : queries) {
    for (const auto kind : packed_encodings) {
      for (int log_count = 4; log_count <= 34; log_count += 5) {
        const auto decided = decide(problem(operation, kind, log_count, 10, memory_space::device), here);
        CHECK(decided.backend == "cuda");
        CHECK(decided.strategy == name_of(operation));
        REQUIRE(decided.rejected.size() == 1);
        CHECK(std::isinf(decided.rejected.front().predicted_seconds));
      }
    }
  }
}

TEST_CASE("a packed column on the host stays there behind a slow link") {
  for (const auto operation : queries) {
    for (int log_count = 10; log_count <= 30; log_count += 4) {
      const auto asked = problem(operation, encoding::frame_of_reference, log_count, 12, memory_space::host);
      CHECK(decide(asked, fixture("slow-link.json")).backend == "cpu");
    }
  }
}

TEST_CASE("predictions of packed operations rise with the number of values and with their bits") {
  for (const auto* file : {"server-h200.json", "workstation-pcie4.json", "integrated-gpu.json"}) {
    const auto here = fixture(file);
    for (const auto& device : here.devices()) {
      for (const auto operation : queries) {
        for (const auto kind : packed_encodings) {
          double before = 0;
          // from where every core has work: where another one wakes, a larger problem may take less time
          for (int log_count = 28; log_count <= 36; log_count += 2) {
            const double now = predicted(problem(operation, kind, log_count, 8, memory_space::host), device);
            CHECK(std::isfinite(now));
            CHECK(now >= before);
            before = now;
          }
          const auto narrow = problem(operation, kind, 30, 2, memory_space::host);
          const auto wide = problem(operation, kind, 30, 30, memory_space::host);
          CHECK(predicted(narrow, device) <= predicted(wide, device));
        }
      }
    }
  }
}

TEST_CASE("top-k of a packed column is predicted to take longer on a host than the filter without its scan") {
  const auto here = fixture("server-h200.json");
  const auto& cpu = *here.find("cpu", 0);
  for (const auto kind : packed_encodings) {
    const auto asked = problem(packed_top_k_call::operation, kind, 20, 12, memory_space::host);
    double around_the_scan = 0;
    for (const auto& one : top_k_cost("filter", {asked.count, asked.k, asked.type}, cpu).phases) {
      if (one.name != "scan") around_the_scan += seconds(one, cpu);
    }
    CHECK(predicted(asked, cpu) > around_the_scan);
  }
  // a sample of deltas is decoded block by block
  const auto of_kind = [&](encoding kind) {
    return predicted(problem(packed_top_k_call::operation, kind, 20, 12, memory_space::host), cpu);
  };
  CHECK(of_kind(encoding::delta) > of_kind(encoding::frame_of_reference));
}

TEST_CASE("a column's chunks decide how many workers decode it, and how many rounds they take") {
  auto on = *fixture("server-h200.json").find("cpu");
  on.cores = 16;
  on.launch_overhead = 0;
  on.rates["packed.call"] = 0;
  const auto seconds_of = [&](std::uint64_t chunks) {
    auto asked = problem(packed_sum_call::operation, encoding::vertical, 16, 12, memory_space::host);
    asked.count *= chunks;
    return predicted(asked, on);
  };
  // four rounds of sixteen workers, and a fifth in which most of them have none
  CHECK(seconds_of(64) == Approx(seconds_of(61)).epsilon(0.01));
  CHECK(seconds_of(65) > 1.2 * seconds_of(64));
  CHECK(seconds_of(65) == Approx(seconds_of(80)).epsilon(0.01));
}

TEST_CASE("runs that a branch predictor remembers are decoded faster than more runs") {
  auto on = *fixture("server-h200.json").find("cpu");
  on.rates.clear();
  on.cores = 1;
  const auto of_a_value = [&](int log_count) {
    const auto asked = problem(packed_sum_call::operation, encoding::run_length, log_count, 4, memory_space::host);
    return predicted(asked, on) / static_cast<double>(asked.count);
  };
  CHECK(of_a_value(20) > 1.5 * of_a_value(14));
  CHECK(of_a_value(24) < 1.1 * of_a_value(20));
}

TEST_CASE("packing a column clears its pages, and a group that is not whole takes longer than a value's share") {
  auto on = *fixture("server-h200.json").find("cpu");
  on.rates.clear();
  const auto packing = [&](encoding kind, std::uint64_t count) {
    auto asked = problem(pack_call::operation, kind, 10, 32, memory_space::host);
    asked.count = count;
    return packed_cost(asked, on);
  };
  const auto seconds_in = [&](const cost& of, std::string_view name) {
    double sum = 0;
    for (const auto& one : of.phases) sum += one.name == name ? seconds(one, on) : 0;
    return sum;
  };
  const auto clearing = [&](std::uint64_t count) { return seconds_in(packing(encoding::vertical, count), "memory"); };
  const int cores = on.cores;
  on.cores = 1;
  CHECK(clearing(1 << 20) == 0);                  // allocators keep so much
  CHECK(clearing(1 << 22) == Approx(3 * 80e-6));  // 6 MB
  on.rates["core.huge_page"] = 1e-3;
  CHECK(clearing(1 << 22) == Approx(3 * 1e-3));
  // of several cores each clears a page
  REQUIRE(cores >= 3);
  on.cores = cores;
  CHECK(clearing(1 << 22) > 1e-3);
  CHECK(clearing(1 << 22) < 1.5e-3);
  on.rates.clear();
  const auto last = [&](encoding kind, std::uint64_t count) { return seconds_in(packing(kind, count), "last group"); };
  CHECK(last(encoding::delta, 1 << 16) == 0);
  CHECK(last(encoding::delta, (1 << 16) + 100) == Approx(100 * 30e-9));
  CHECK(last(encoding::vertical, (1 << 16) + 100) == 0);
}

TEST_CASE("lanes that decode value by value are not chosen where vectors do") {
  const auto here = machine::defaults();  // what a probe sees of a busy machine is no test's matter
  const auto* kokkos = here.find("kokkos");
  if (kokkos == nullptr || kokkos->kind != device_kind::cpu || kokkos->cores > 1) return;
  for (const auto operation : queries) {
    for (const auto kind : packed_encodings) {
      for (const int log_count : {10, 16, 20}) {
        // runs of sixteen values
        const double bits = kind == encoding::run_length ? 4 : 12;
        const auto asked = problem(operation, kind, log_count, bits, memory_space::host);
        INFO(operation << ", " << to_string(kind) << ", 2^" << log_count);
        CHECK(predicted(asked, *kokkos) > 1.2 * predicted(asked, *here.find("cpu")));
      }
    }
  }
  const auto asked = problem(packed_sum_call::operation, encoding::vertical, 16, 12, memory_space::host);
  CHECK(predicted(asked, *kokkos) > 8 * predicted(asked, *here.find("cpu")));
}

TEST_CASE("a column that is read at the speed of memory is summed faster the fewer bits it has") {
  const auto here = fixture("server-h200.json");
  const auto* device = here.find("cuda");
  REQUIRE(device != nullptr);
  const auto asked = [&](double bits) {
    return predicted(problem(packed_sum_call::operation, encoding::frame_of_reference, 30, bits, memory_space::device),
                     *device);
  };
  // half the bytes, half the time, but for what a call costs
  CHECK(asked(16) < 0.55 * asked(32));
  CHECK(asked(16) > 0.45 * asked(32));
}

TEST_CASE("a profile that gives no time is not chosen for packed columns") {
  const auto asked = problem(packed_sum_call::operation, encoding::delta, 20, 8, memory_space::host);
  auto devices = fixture("integrated-gpu.json").devices();
  REQUIRE(devices[0].backend == "cpu");
  for (const double nonsense : {0.0, std::nan(""), -1.0}) {
    devices[0].levels = {{"memory", 1, nonsense, nonsense, nonsense}};
    const auto decided = decide(asked, machine{devices});
    CHECK(decided.backend == "cuda");
    REQUIRE(decided.rejected.size() == 1);
    CHECK(std::isinf(decided.rejected.front().predicted_seconds));
    CHECK(decided.rejected.front().reason == "its profile gives no time for this");
  }
  devices = fixture("integrated-gpu.json").devices();
  devices[0].rates["packed_sum.delta/4"] = std::nan("");
  CHECK(decide(asked, machine{devices}).backend == "cuda");
}

TEST_CASE("auto runs what the decision over packed columns says, call for call") {
  const zenith_test::temporary_folder folder;
  const auto file = folder.file("profile.json");
  const zenith_test::environment place("ZENITH_PROFILE", file.string());
  machine::reload_local();
  zenith_test::register_recorders();
  (void)zenith_test::recorded();
  using names = std::vector<std::string>;
  const auto on = make_executor("auto");
  const auto column = pack(reference(), std::vector<std::uint32_t>(5000, 3), encoding::frame_of_reference);

  CHECK(decide(problem(packed_sum_call::operation, encoding::frame_of_reference, 12, 2, memory_space::host),
               machine::local())
            .backend == "recorder_fast");
  CHECK(sum(on, column) == 15000);
  CHECK(sum(on, column) == 15000);
  CHECK(zenith_test::recorded() == names{"recorder_fast/sum", "recorder_fast/sum"});
  // the decision before is of another problem: the recorder has no other operation
  CHECK(maximum(on, column) == 3);
  CHECK(zenith_test::recorded().empty());
  CHECK(sum(on, column) == 15000);
  CHECK(zenith_test::recorded() == names{"recorder_fast/sum"});

  // of another machine: the recorder is slow now
  auto measured = machine::defaults().devices();
  for (auto& one : measured) {
    one.origin = "calibrated";
    if (one.backend == "recorder_fast") one.rates["packed.call"] = 1e3;
  }
  machine{measured}.write(file);
  machine::reload_local();
  CHECK(sum(on, column) == 15000);
  CHECK(zenith_test::recorded().empty());
  {
    const zenith_test::environment forced("ZENITH_FORCE_BACKEND", "recorder_fast");
    CHECK(sum(on, column) == 15000);
    CHECK(zenith_test::recorded() == names{"recorder_fast/sum"});
  }
  std::filesystem::remove(file);
  machine::reload_local();
}

TEST_CASE("no device, no decision over packed columns") {
  CHECK_THROWS_AS(decide(problem(packed_sum_call::operation, encoding::delta, 20, 8, memory_space::host), machine{}),
                  error);
  // a backend that does not offer the operation is not chosen, however fast it is
  auto devices = fixture("server-h200.json").devices();
  for (auto& one : devices) {
    if (one.backend == "cuda") one.offers = {"top_k/filter"};
  }
  const machine without(devices);
  CHECK(decide(problem(packed_sum_call::operation, encoding::delta, 30, 8, memory_space::host), without).backend ==
        "cpu");
  CHECK_THROWS_AS(decide(problem(packed_sum_call::operation, encoding::delta, 30, 8, memory_space::device), without),
                  error);
}

TEST_CASE("a profile with the former name of the strategies over packed columns is read as it was meant") {
  const auto here = fixture("server-h200.json");
  auto devices = here.devices();
  for (auto& one : devices) {
    for (auto& offered : one.offers) {
      if (offered.starts_with("pack") || offered.starts_with("unpack"))
        offered.replace(offered.find('/'), 99, "/tiles");
    }
  }
  const auto former = machine::parse(machine(devices).to_json());
  for (const auto operation : queries) {
    for (const auto space : {memory_space::host, memory_space::device}) {
      const auto asked = problem(operation, encoding::delta, 24, 8, space);
      const auto decided = decide(asked, former);
      const auto expected = decide(asked, here);
      CHECK(decided.backend == expected.backend);
      CHECK(decided.strategy == name_of(operation));
      CHECK(decided.predicted_seconds == expected.predicted_seconds);
    }
  }
  // names that nobody knows are no offers
  for (auto& one : devices) {
    for (auto& offered : one.offers) {
      if (offered.ends_with("/tiles")) offered.replace(offered.find('/'), 99, "/unheard_of");
    }
  }
  CHECK_THROWS_AS(
      decide(problem(packed_sum_call::operation, encoding::delta, 24, 8, memory_space::host), machine(devices)), error);
}
