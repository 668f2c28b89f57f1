// A backend from outside the library: one descriptor, and everything works with it.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <catch.hpp>
#include <environment.hpp>
#include <expect_error.hpp>
#include <zenith/zenith.hpp>

using zenith::error_code;
using zenith_test::expect_error;

namespace {

struct {
  int calls = 0;
  zenith::top_k_call call;
  zenith::execution on;
} recorded;

// Writes what it was asked instead of an answer: the first keys as they stand.
void record(const zenith::execution& on, const zenith::top_k_call& call) {
  ++recorded.calls;
  recorded.call = call;
  recorded.on = on;
  for (std::uint64_t i = 0; i < call.k; ++i) {
    static_cast<std::uint32_t*>(call.out_keys)[i] = static_cast<const std::uint32_t*>(call.keys)[i];
    static_cast<std::uint32_t*>(call.out_indices)[i] = static_cast<std::uint32_t>(i);
  }
  if (call.statistics != nullptr) call.statistics->variant = "recorded";
}

void fill_in(zenith::execution& settings) {
  if (settings.threads == 0) settings.threads = 7;
  if (settings.device > 2) throw zenith::error(error_code::invalid_argument, "device must be 0 to 2", "recorder");
}

constexpr std::string_view options[] = {"device", "threads"};
constexpr zenith::kernel kernels[] = {
    zenith::make_kernel<zenith::top_k_call, record>("first"),
    {"skyline", "none", nullptr},
    {"top_k", "absent", nullptr},
};
constexpr zenith::backend recorder{.name = "recorder",
                                   .description = "writes down what it is asked",
                                   .needs = "nothing",
                                   .options = options,
                                   .kernels = kernels,
                                   .configure = fill_in};

constexpr zenith::backend never{
    .name = "never", .description = "cannot run", .needs = "the impossible", .available = [] {
      return zenith::availability{false, "the impossible is missing", "provide it"};
    }};

constexpr zenith::backend empty{.name = "empty", .description = "offers nothing", .needs = "nothing"};

void register_all() {
  static const bool done = [] {
    for (const auto* one : {&recorder, &never, &empty}) zenith::register_backend(*one);
    return true;
  }();
  (void)done;
}

}  // namespace

TEST_CASE("a registered backend is listed last and runs what it is given") {
  register_all();
  const auto all = zenith::backends();
  const auto found = std::ranges::find(all, std::string{"recorder"}, &zenith::backend_info::name);
  REQUIRE(found != all.end());
  CHECK(found->usable);
  CHECK(found->strategies == std::vector<std::string>{"top_k/first"});
  CHECK(zenith::backend_descriptors().front()->name == "cpu");

  const auto on = zenith::make_executor("recorder:2,threads=5");
  CHECK(on.backend() == "recorder");
  CHECK(on.device() == 2);
  const std::vector<std::uint32_t> keys{30, 10, 20};
  std::vector<std::uint32_t> best(2);
  std::vector<std::uint32_t> indices(2);
  zenith::top_k_statistics statistics;
  recorded = {};
  const auto run = zenith::top_k(on, keys, best, indices,
                                 {.select = zenith::selection::smallest,
                                  .order = zenith::ordering::any,
                                  .ties = zenith::tie_break::any,
                                  .nans = zenith::nan_policy::first,
                                  .statistics = &statistics});
  CHECK(run.backend == "recorder");
  CHECK(run.strategy == "first");
  CHECK(recorded.calls == 1);
  CHECK(recorded.on.threads == 5);
  CHECK(recorded.on.device == 2);
  CHECK(recorded.call.type == zenith::key_type::uint32);
  CHECK(recorded.call.space == zenith::memory_space::host);
  CHECK(recorded.call.keys == keys.data());
  CHECK(recorded.call.count == 3);
  CHECK(recorded.call.k == 2);
  CHECK(recorded.call.out_keys == best.data());
  CHECK(recorded.call.out_indices == indices.data());
  CHECK(recorded.call.index_bytes == 4);
  CHECK(recorded.call.first_index == 0);
  CHECK(recorded.call.select == zenith::selection::smallest);
  CHECK(recorded.call.order == zenith::ordering::any);
  CHECK(recorded.call.ties == zenith::tie_break::any);
  CHECK(recorded.call.nan_first);
  CHECK(statistics.variant == "recorded");
  CHECK(best == std::vector<std::uint32_t>{30, 10});
}

TEST_CASE("a kernel is not called for nothing, nor for a call that is wrong") {
  register_all();
  const auto on = zenith::make_executor("recorder");
  CHECK(on.threads() == 7);
  recorded = {};
  const std::vector<std::uint32_t> keys{3, 1};
  zenith::top_k_statistics statistics{.variant = "old", .threads = 9, .reads = 9, .survivors = 9};
  (void)zenith::top_k<std::uint32_t>(on, keys, 0, {.statistics = &statistics});
  CHECK(statistics.variant.empty());
  CHECK(statistics.reads == 0);
  CHECK_THROWS_AS(zenith::top_k<std::uint32_t>(on, keys, 3), zenith::error);
  expect_error(error_code::unsupported, {"options.strategy", "'absent'", "it offers: first"},
               [&] { (void)zenith::top_k<std::uint32_t>(on, keys, 1, {.strategy = "absent"}); });
  CHECK(recorded.calls == 0);
}

TEST_CASE("the rejecting policy asks the kernel for NaN first, integers are asked plainly") {
  register_all();
  recorded = {};
  (void)zenith::top_k<std::uint32_t>(zenith::make_executor("recorder"), std::vector<std::uint32_t>{3, 1}, 1,
                                     {.nans = zenith::nan_policy::reject});
  CHECK(recorded.calls == 1);
}

TEST_CASE("what a registered backend lacks is said") {
  register_all();
  expect_error(error_code::backend_unavailable, {"never", "the impossible is missing", "provide it"},
               [] { (void)zenith::make_executor("never"); });
  expect_error(error_code::invalid_argument, {"'isa'", "device, threads"},
               [] { (void)zenith::make_executor("recorder:isa=avx2"); });
  expect_error(error_code::invalid_argument, {"device must be 0 to 2"},
               [] { (void)zenith::make_executor("recorder:3"); });
  expect_error(error_code::unsupported, {"empty", "top_k"},
               [] { (void)zenith::top_k(zenith::make_executor("empty"), std::vector<float>{1}, 1); });
  expect_error(error_code::unsupported, {"empty", "top_k", "'filter'"}, [] {
    (void)zenith::top_k(zenith::make_executor("empty"), std::vector<float>{1}, 1, {.strategy = "filter"});
  });
  CHECK(zenith::find_kernel(recorder, "top_k", "first") == &kernels[0]);
  CHECK(zenith::find_kernel(recorder, "top_k", "absent") == nullptr);
  CHECK(zenith::find_kernel(recorder, "skyline", "first") == nullptr);
}

TEST_CASE("a registered backend may be forced for automatic executors") {
  register_all();
  const zenith_test::environment forced("ZENITH_FORCE_BACKEND", "recorder");
  recorded = {};
  CHECK(zenith::top_k<std::uint32_t>(zenith::executor{}, std::vector<std::uint32_t>{3, 1}, 1).backend == "recorder");
  CHECK(recorded.calls == 1);
}

TEST_CASE("names that clash or are no plain word are refused, and nothing is added") {
  register_all();
  const auto before = zenith::backend_descriptors().size();
  for (const char* name : {"cpu", "reference", "cuda", "kokkos", "auto", "recorder"}) {
    INFO(name);
    const zenith::backend clash{.name = name, .description = "clashes", .needs = "a name"};
    expect_error(error_code::invalid_argument, {"register_backend", name}, [&] { zenith::register_backend(clash); });
  }
  for (const char* name : {"", "Mine", "my backend", "mine:1", "mine,", "a=b", "caf\xc3\xa9"}) {
    INFO("'" << name << "'");
    const zenith::backend odd{.name = name, .description = "odd", .needs = "a name"};
    expect_error(error_code::invalid_argument, {"register_backend", "descriptor.name"},
                 [&] { zenith::register_backend(odd); });
  }
  CHECK(zenith::backend_descriptors().size() == before);
}

TEST_CASE("backends are registered and looked up by many threads at once") {
  constexpr std::size_t per_thread = 8;
  static std::array<std::string, 8 * per_thread> names;
  static std::array<zenith::backend, 8 * per_thread> all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    names[i] = "crowd-" + std::to_string(i);
    all[i].name = names[i];
    all[i].description = "one of many";
  }
  const auto before = zenith::backend_descriptors().size();
  std::atomic<int> clashes{0};
  std::atomic<int> missing{0};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < per_thread; ++i) {
          const auto& mine = all[t * per_thread + i];
          zenith::register_backend(mine);
          if (&zenith::find_backend(mine.name) != &mine) ++missing;
          try {
            // the same name, from all threads
            static const zenith::backend shared{.name = "crowd-shared", .description = "wanted by all", .needs = ""};
            zenith::register_backend(shared);
          } catch (const zenith::error&) {
            ++clashes;
          }
          (void)zenith::backends();
        }
      });
    }
  }
  CHECK(missing == 0);
  CHECK(clashes == 8 * static_cast<int>(per_thread) - 1);
  CHECK(zenith::backend_descriptors().size() == before + all.size() + 1);
}
