// Inputs of more items than a kernel takes are split into segments; with tiny segments that is tested on small inputs.

#include <cstdint>
#include <vector>

#include <algorithms/top_k/run.hpp>
#include <catch.hpp>
#include <check.hpp>
#include <expect_error.hpp>
#include <inputs.hpp>
#include <pretend_device.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>

using namespace conformance;

namespace {

template <class T, class Index>
zenith::top_k_call make_call(const column<T>& input, const request& asked, guarded<T>& keys, guarded<Index>& indices) {
  zenith::top_k_call call;
  call.type = zenith::key_type_of<T>;
  call.keys = input.keys().data();
  call.count = input.count();
  call.k = asked.k;
  call.out_keys = keys.span().data();
  call.out_indices = indices.span().data();
  call.index_bytes = sizeof(Index);
  call.select = asked.select;
  call.order = asked.order;
  call.nan_first = asked.nans != zenith::nan_policy::last;
  return call;
}

template <class T, class Index>
std::string fault_of_segments(const zenith_test::target& on, column<T>& input, const request& asked,
                              std::uint64_t segment) {
  guarded<T> keys(asked.k);
  guarded<Index> indices(asked.k);
  auto call = make_call(input, asked, keys, indices);
  zenith::top_k_statistics statistics;
  call.statistics = &statistics;
  const bool rejecting = asked.nans == zenith::nan_policy::reject;
  try {
    const auto& settings = on.on.settings();
    zenith::top_k_detail::run_in_parts(settings, *zenith::find_kernel(*settings.target, "top_k", on.strategy), call,
                                       rejecting, segment);
  } catch (const zenith::error& thrown) {
    if (!rejecting || !input.has_nan()) return std::string{"threw: "} + thrown.what();
    if (thrown.code() != zenith::error_code::invalid_argument) return "threw with another code";
    return keys.is_unwritten() && indices.is_unwritten() ? "" : "an output was written by a call that threw";
  }
  if (rejecting && input.has_nan()) return "NaN was not rejected";
  if (!keys.guards_stand() || !indices.guards_stand()) return "an output was written outside its span";
  if (!input.is_untouched()) return "the input was written";
  if (statistics.variant.empty()) return "no statistics were passed on";
  return difference<T, Index>(input, asked, keys.span(), indices.span());
}

}  // namespace

TEMPLATE_TEST_CASE("segments give what one call gives", "", float, double, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  std::uint64_t number = 0;
  for (const std::uint64_t segment : {1, 2, 63, 1000, 2999, 3000, 3001}) {
    random_source random{zenith_test::seed_of("segments", number++)};
    const auto all = distributions<TestType>();
    for (std::uint64_t repeat = 0; repeat < 3; ++repeat) {
      if (!zenith_test::is_drawn("segments", 3 * number + repeat)) continue;
      const auto which = all[random() % all.size()];
      column<TestType> input(std::string{name_of(which)}, make_keys<TestType>(which, 3000, random), 0);
      for (const std::size_t k : {std::size_t{1}, std::size_t{70}, std::size_t{3000}}) {
        request asked;
        asked.k = k;
        asked.select = random() % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
        asked.order = random() % 2 == 0 ? zenith::ordering::sorted : zenith::ordering::any;
        asked.nans = static_cast<zenith::nan_policy>(std::is_floating_point_v<TestType> ? random() % 3 : random() % 2);
        for (const auto& on : zenith_test::targets("top_k")) {
          if (segment < 63 && on.on.backend() != "reference" && on.on.threads() > 1) continue;
          INFO(on.name() << " " << input.name() << " " << describe(asked) << " segment " << segment << " seed "
                         << zenith_test::seed());
          const bool narrow = random() % 2 == 0;
          CHECK((narrow ? fault_of_segments<TestType, std::uint32_t>(on, input, asked, segment)
                        : fault_of_segments<TestType, std::uint64_t>(on, input, asked, segment)) == "");
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("segments of packed columns give what one call gives", "", std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  std::uint64_t number = 0;
  for (const std::uint64_t segment : {1, 2, 3}) {
    random_source random{zenith_test::seed_of("packed segments", number++)};
    const auto all = distributions<TestType>();
    for (const auto kind : zenith::packed_encodings) {
      if (!zenith_test::is_drawn("packed segments", 16 * number + static_cast<std::uint64_t>(kind))) continue;
      const auto which = all[random() % all.size()];
      column<TestType> input(std::string{name_of(which)}, make_keys<TestType>(which, 9001, random), 0);
      const auto packed = zenith::pack(zenith::reference(), input.keys(), kind);
      for (const std::size_t k : {std::size_t{1}, std::size_t{70}, std::size_t{3000}, std::size_t{9001}}) {
        request asked;
        asked.k = k;
        asked.select = random() % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
        for (const auto& on : zenith_test::executors("packed_top_k", {"cpu", "kokkos"})) {
          INFO(on.name() << " " << zenith::to_string(kind) << " " << input.name() << " " << describe(asked)
                         << " segment " << segment << " seed " << zenith_test::seed());
          guarded<TestType> keys(k);
          guarded<std::uint32_t> indices(k);
          zenith::packed_top_k_call call;
          call.column = packed.layout();
          call.segment = segment * zenith::packed_group_items;
          call.top_k = make_call(input, asked, keys, indices);
          call.top_k.keys = nullptr;
          zenith::find_kernel(*on.on.settings().target, call.operation, "filter")->run(on.on.settings(), &call);
          CHECK(keys.guards_stand());
          CHECK(indices.guards_stand());
          CHECK(difference<TestType, std::uint32_t>(input, asked, keys.span(), indices.span()) == "");
        }
      }
    }
  }
}

TEST_CASE("a NaN in any segment is rejected") {
  for (const std::size_t where : {0, 9, 10, 55, 99}) {
    std::vector<float> keys(100, 1.0F);
    keys[where] = std::numeric_limits<float>::quiet_NaN();
    column<float> input("one NaN at " + std::to_string(where), keys, 0);
    request asked;
    asked.k = 2;
    asked.nans = zenith::nan_policy::reject;
    for (const auto& on : zenith_test::targets("top_k")) {
      INFO(on.name() << " " << input.name());
      CHECK(fault_of_segments<float, std::uint32_t>(on, input, asked, 10) == "");
    }
  }
}

TEST_CASE("segments of device memory") {
  const auto on = zenith::make_executor(unit::pretend_device().name);
  const auto live = unit::the_device_log().live_allocations;
  for (const bool nan : {false, true}) {
    random_source random{zenith_test::seed_of("device segments", 0)};
    auto values = make_keys<double>(distribution::few_values, 500, random);
    if (nan) values[333] = std::numeric_limits<double>::quiet_NaN();
    column<double> input("few_values", values, 0);
    const zenith::array<double> keys(on, input.keys());
    zenith::array<double> best(on, 50);
    zenith::array<std::uint64_t> indices(on, 50);
    zenith::top_k_call call;
    call.type = zenith::key_type::float64;
    call.space = zenith::memory_space::device;
    call.keys = keys.device().data();
    call.count = 500;
    call.k = 50;
    call.out_keys = best.device().data();
    call.out_indices = indices.device().data();
    call.nan_first = true;
    const auto& by = *zenith::find_kernel(*on.settings().target, "top_k", "pretended");
    const auto run = [&] { zenith::top_k_detail::run_in_parts(on.settings(), by, call, true, 7); };
    if (nan) {
      zenith_test::expect_error(zenith::error_code::invalid_argument, {"keys", "NaN"}, run);
    } else {
      run();
      std::vector<double> seen(50);
      std::vector<std::uint64_t> seen_indices(50);
      best.copy_to(seen);
      indices.copy_to(seen_indices);
      request asked;
      asked.k = 50;
      CHECK(difference<double, std::uint64_t>(input, asked, seen, seen_indices) == "");
    }
  }
  CHECK(unit::the_device_log().live_allocations == live);
  CHECK(unit::the_device_log().fault == "");
}
