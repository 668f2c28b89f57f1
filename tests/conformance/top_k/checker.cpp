// The suite itself is tested: backends with a planted fault each, and every fault must be found.

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <catch.hpp>
#include <suite.hpp>

using namespace conformance;

namespace {

using plant = void (*)(const zenith::top_k_call&);

template <class Function>
void on_floats(const zenith::top_k_call& call, Function&& change) {
  if (call.type != zenith::key_type::float32 || call.index_bytes != 4) return;
  change(static_cast<float*>(call.out_keys), static_cast<std::uint32_t*>(call.out_indices));
}

// Runs the reference, then spoils its results or its surroundings.
template <plant Spoil>
void spoiled(const zenith::execution& on, const zenith::top_k_call& call) {
  const auto& reference = zenith::find_backend("reference");
  zenith::find_kernel(reference, "top_k", "sort")->run(on, &call);
  Spoil(call);
}

void nothing(const zenith::top_k_call&) {}
void swap_ties(const zenith::top_k_call& call) {
  on_floats(call, [&](const float* keys, std::uint32_t* indices) {
    for (std::uint64_t i = 1; i < call.k; ++i) {
      if (keys[i] == keys[i - 1]) return std::swap(indices[i], indices[i - 1]);
    }
  });
}
void forget_the_last(const zenith::top_k_call& call) {
  on_floats(call, [&](float* keys, std::uint32_t* indices) {
    if (call.k < 2) return;
    keys[call.k - 1] = keys[call.k - 2];
    indices[call.k - 1] = indices[call.k - 2];
  });
}
void lose_the_sign_of_zero(const zenith::top_k_call& call) {
  on_floats(call, [&](float* keys, const std::uint32_t*) {
    for (std::uint64_t i = 0; i < call.k; ++i) keys[i] += 0.0F;
  });
}
void lose_what_nan_carries(const zenith::top_k_call& call) {
  on_floats(call, [&](float* keys, const std::uint32_t*) {
    for (std::uint64_t i = 0; i < call.k; ++i) {
      if (keys[i] != keys[i]) keys[i] = std::numeric_limits<float>::quiet_NaN();
    }
  });
}
void write_past_the_keys(const zenith::top_k_call& call) {
  on_floats(call, [&](float* keys, const std::uint32_t*) { keys[call.k] = 1; });
}
void write_before_the_indices(const zenith::top_k_call& call) {
  on_floats(call, [&](const float*, std::uint32_t* indices) { *(indices - 1) = 1; });
}
void write_the_input(const zenith::top_k_call& call) {
  const_cast<float*>(static_cast<const float*>(call.keys))[call.count / 2] += 1;
}
void throw_a_stranger(const zenith::top_k_call&) { throw std::logic_error("strange"); }
void reverse(const zenith::top_k_call& call) {
  on_floats(call, [&](float* keys, std::uint32_t* indices) {
    std::reverse(keys, keys + call.k);
    std::reverse(indices, indices + call.k);
  });
}
void give_an_index_outside(const zenith::top_k_call& call) {
  on_floats(call, [&](const float*, std::uint32_t* indices) { indices[0] = static_cast<std::uint32_t>(call.count); });
}

constexpr zenith::kernel faulty_kernels[] = {
    zenith::make_kernel<zenith::top_k_call, spoiled<nothing>>("right"),
    zenith::make_kernel<zenith::top_k_call, spoiled<swap_ties>>("swap_ties"),
    zenith::make_kernel<zenith::top_k_call, spoiled<forget_the_last>>("forget_the_last"),
    zenith::make_kernel<zenith::top_k_call, spoiled<lose_the_sign_of_zero>>("lose_the_sign_of_zero"),
    zenith::make_kernel<zenith::top_k_call, spoiled<lose_what_nan_carries>>("lose_what_nan_carries"),
    zenith::make_kernel<zenith::top_k_call, spoiled<write_past_the_keys>>("write_past_the_keys"),
    zenith::make_kernel<zenith::top_k_call, spoiled<write_before_the_indices>>("write_before_the_indices"),
    zenith::make_kernel<zenith::top_k_call, spoiled<write_the_input>>("write_the_input"),
    zenith::make_kernel<zenith::top_k_call, spoiled<throw_a_stranger>>("throw_a_stranger"),
    zenith::make_kernel<zenith::top_k_call, spoiled<reverse>>("reverse"),
    zenith::make_kernel<zenith::top_k_call, spoiled<give_an_index_outside>>("give_an_index_outside"),
};
constexpr zenith::backend faulty{.name = "faulty",
                                 .description = "the reference with planted faults",
                                 .needs = "nothing",
                                 .kernels = faulty_kernels};

std::string fault_found(std::string_view strategy, distribution which, zenith::selection select,
                        zenith::ordering order = zenith::ordering::sorted) {
  random_source random{7};
  auto input = column<float>("checker", make_keys<float>(which, 500, random), 0);
  const zenith_test::target on{"faulty", std::string{strategy}, zenith::make_executor("faulty"), {}};
  request asked;
  asked.k = 300;
  asked.select = select;
  asked.order = order;
  asked.indices = index_kind::uint32;
  return fault_of(on, input, asked);
}

}  // namespace

TEST_CASE("the checker finds every planted fault", "[checker]") {
  static const bool registered = (zenith::register_backend(faulty), true);
  CHECK(registered);
  using enum distribution;
  constexpr auto largest = zenith::selection::largest;
  for (const auto which : every_distribution) CHECK(fault_found("right", which, largest) == "");
  CHECK(fault_found("swap_ties", few_values, largest) != "");
  CHECK(fault_found("forget_the_last", uniform, largest) != "");
  CHECK(fault_found("lose_the_sign_of_zero", specials, largest) != "");
  CHECK(fault_found("lose_what_nan_carries", all_nans, largest) != "");
  CHECK(fault_found("write_past_the_keys", uniform, largest) != "");
  CHECK(fault_found("write_before_the_indices", uniform, largest) != "");
  CHECK(fault_found("write_the_input", uniform, largest) != "");
  CHECK(fault_found("throw_a_stranger", uniform, largest) != "");
  CHECK(fault_found("reverse", uniform, largest) != "");
  CHECK(fault_found("reverse", uniform, largest, zenith::ordering::any) == "");
  CHECK(fault_found("forget_the_last", uniform, largest, zenith::ordering::any) != "");
  CHECK(fault_found("give_an_index_outside", uniform, largest) != "");
}

TEST_CASE("a share of the places is drawn: of any share one at least, and none of 0", "[checker]") {
  const std::vector<zenith_test::target> targets(3, {"reference", "sort", zenith::reference(), {}});
  const auto cases_of = [&](const auto& share) {
    random_source random{zenith_test::seed_of("shares", 0)};
    verdict seen;
    for (int question = 0; question < 100; ++question) {
      zenith_test::judge(
          seen, targets, random, share, [] { return std::string{"shares"}; },
          [](const zenith_test::place&) { return std::string{}; });
    }
    return seen.cases();
  };
  CHECK(cases_of([](const zenith_test::place&) { return 0; }) == 0);
  CHECK(cases_of([](const zenith_test::place&) { return 1e-12; }) == 1);
  CHECK(cases_of([](const zenith_test::place& at) { return at.is_first ? 1 : 0; }) == 100);
  CHECK(cases_of(zenith_test::everywhere) == 300);
}
