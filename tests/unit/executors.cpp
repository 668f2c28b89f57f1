// Executors from strings and typed, and what is wrong with a malformed one.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <catch.hpp>
#include <environment.hpp>
#include <expect_error.hpp>
#include <settings.hpp>
#include <zenith/zenith.hpp>

using zenith::error_code;
using zenith_test::environment;
using zenith_test::expect_error;

namespace {

bool is_usable(std::string_view name) {
  for (const auto& info : zenith::backends()) {
    if (info.name == name) return info.usable;
  }
  return false;
}

}  // namespace

TEST_CASE("an executor from a string is what it says") {
  CHECK(zenith::make_executor("reference").backend() == "reference");
  const auto cpu = zenith::make_executor("cpu:threads=1,isa=sse2");
  CHECK(cpu.backend() == "cpu");
  CHECK(cpu.threads() == 1);
  CHECK(cpu.isa() == "sse2");
  CHECK(!cpu.is_automatic());
  CHECK(zenith::make_executor("cpu").threads() >= 1);
  CHECK(!zenith::make_executor("cpu").isa().empty());
  CHECK(zenith::make_executor("cpu:threads=64").threads() == 64);
  CHECK(zenith::make_executor("cpu:threads=1024").threads() == 1024);
  CHECK(zenith::cpu({.threads = 1024}).threads() == 1024);
  const auto copy = cpu;
  CHECK(copy.isa() == "sse2");
  CHECK_NOTHROW(copy.synchronize());
}

TEST_CASE("an automatic executor") {
  CHECK(zenith::executor{}.is_automatic());
  CHECK(zenith::executor{}.backend() == "auto");
  const environment none("ZENITH_FORCE_BACKEND", "auto");
  CHECK(zenith::make_executor("auto").is_automatic());
  CHECK(zenith::make_executor("auto").backend() == "auto");
  CHECK_NOTHROW(zenith::make_executor("auto").synchronize());
}

TEST_CASE("typed executors") {
  CHECK(zenith::reference().backend() == "reference");
  const auto cpu = zenith::cpu({.threads = 3, .isa = "sse2"});
  CHECK(cpu.backend() == "cpu");
  CHECK(cpu.threads() == 3);
  CHECK(cpu.isa() == "sse2");
  CHECK(zenith::cpu().threads() >= 1);
  expect_error(error_code::invalid_argument, {"cpu", "threads", "-1"}, [] { (void)zenith::cpu({.threads = -1}); });
  expect_error(error_code::invalid_argument, {"isa", "mmx"}, [] { (void)zenith::cpu({.isa = "mmx"}); });
  expect_error(error_code::invalid_argument, {"cuda", "device", "-1"}, [] { (void)zenith::cuda(-1); });
  if (is_usable("kokkos")) {
    CHECK(zenith::kokkos().backend() == "kokkos");
  } else {
    expect_error(error_code::backend_unavailable, {"okkos"}, [] { (void)zenith::kokkos(); });
  }
  if (is_usable("cuda")) {
    CHECK(zenith::cuda().backend() == "cuda");
  } else {
    expect_error(error_code::backend_unavailable, {"cuda"}, [] { (void)zenith::cuda(); });
  }
}

TEST_CASE("a malformed executor string is refused and quoted") {
  struct wrong {
    const char* text;
    error_code code;
    const char* word;
  };
  constexpr auto invalid = error_code::invalid_argument;
  constexpr auto unavailable = error_code::backend_unavailable;
  const wrong all[] = {
      {"", unavailable, "there is no backend ''"},
      {" ", unavailable, "there is no backend ' '"},
      {"gpu", unavailable, "'gpu'"},
      {"CPU", unavailable, "'CPU'"},
      {" cpu", unavailable, "' cpu'"},
      {"cpu ", unavailable, "'cpu '"},
      {"cpu=threads", unavailable, "'cpu=threads'"},
      {":", unavailable, "there is no backend ''"},
      {"cpu:", invalid, "colon"},
      {"auto:", invalid, "auto"},
      {"auto:threads=2", invalid, "auto"},
      {"cpu:threads", invalid, "'threads' has no value"},
      {"cpu:isa,threads=2", invalid, "'isa' has no value"},
      {"cpu:cores", invalid, "does not take 'cores'"},
      {"cpu:threads=", invalid, "threads"},
      {"cpu:threads=0", invalid, "threads is '0'"},
      {"cpu:threads=-1", invalid, "threads is '-1'"},
      {"cpu:threads=two", invalid, "threads is 'two'"},
      {"cpu:threads=2x", invalid, "threads is '2x'"},
      {"cpu:threads= 2", invalid, "threads is ' 2'"},
      {"cpu:threads=+2", invalid, "threads is '+2'"},
      {"cpu:threads=1.5", invalid, "threads is '1.5'"},
      {"cpu:threads=99999999999999999999", invalid, "threads is '99999999999999999999'"},
      {"cpu:threads=1025", invalid, "threads is 1025; it must be at most 1024"},
      {"cpu:threads=2147483647", invalid, "it must be at most 1024"},
      {"cpu:threads=2,", invalid, "a setting is missing"},
      {"cpu:,threads=2", invalid, "a setting is missing"},
      {"cpu:threads=2,,isa=sse2", invalid, ""},
      {"cpu:0", invalid, "device"},
      {"cpu:device=0", invalid, "'device'"},
      {"cpu:cores=2", invalid, "'cores'"},
      {"cpu:Threads=2", invalid, "'Threads'"},
      {"cpu:=2", invalid, "''"},
      {"cpu:=", invalid, "''"},
      {"cpu:isa=mmx", invalid, "'mmx'"},
      {"cpu:isa=AVX2", invalid, "'AVX2'"},
      {"cpu:isa=sse2=avx2", invalid, "'sse2=avx2'"},
      {"cpu:threads=2;isa=sse2", invalid, "threads"},
      {"reference:threads=1", invalid, "takes no settings"},
      {"reference:isa=sse2", invalid, "takes no settings"},
      {"reference:0", invalid, "takes no settings"},
  };
  for (const auto& one : all) {
    INFO("\"" << one.text << "\"");
    expect_error(one.code, {one.word}, [&] { (void)zenith::make_executor(one.text); });
  }
  expect_error(unavailable, {"cpu", "reference", "auto"}, [] { (void)zenith::make_executor("gpu"); });
  expect_error(invalid, {"threads", "isa"}, [] { (void)zenith::make_executor("cpu:cores=2"); });
  expect_error(invalid, {"sse2", "avx2"}, [] { (void)zenith::make_executor("cpu:isa=mmx"); });
  const std::string with_zero{"cpu\0:threads=1", 14};
  expect_error(unavailable, {}, [&] { (void)zenith::make_executor(with_zero); });
}

TEST_CASE("an instruction set that is wrong is a fault of the string") {
  expect_error(error_code::invalid_argument, {"make_executor(\"cpu:isa=avx7\"): isa is 'avx7'; it must be one of"},
               [] { (void)zenith::make_executor("cpu:isa=avx7"); });
  try {
    (void)zenith::make_executor("cpu:isa=avx7");
  } catch (const zenith::error& fault) {
    CHECK(fault.backend() == "cpu");
  }
}

TEST_CASE("a message shows no more of a value than fits, and no control character") {
  const std::string long_text(5000, 'x');
  const std::string shown = std::string(100, 'x') + "...";
  const std::string control = "a\x1b[2J\n\x7f";
  const std::string escaped = R"(a\x1b[2J\x0a\x7f)";
  const auto refused = [](error_code code, const std::string& said, const std::function<void()>& call) {
    INFO(said);
    expect_error(code, {said}, call);
    try {
      call();
    } catch (const zenith::error& fault) {
      const std::string_view all = fault.what();
      CHECK(all.size() < 700);
      CHECK(std::ranges::none_of(all, [](unsigned char one) { return one < 0x20 || one == 0x7f; }));
    }
  };
  constexpr auto invalid = error_code::invalid_argument;
  constexpr auto unavailable = error_code::backend_unavailable;
  constexpr auto unsupported = error_code::unsupported;
  const std::vector<float> keys{1, 2};
  const std::vector<std::int32_t> numbers{1, 2};
  const auto column = zenith::pack(zenith::reference(), numbers);
  for (const bool is_long : {true, false}) {
    const auto& text = is_long ? long_text : control;
    const auto& said = is_long ? shown : escaped;
    refused(unavailable, "there is no backend '" + said + "'", [&] { (void)zenith::make_executor(text); });
    refused(invalid, "does not take '" + said + "'", [&] { (void)zenith::make_executor("cpu:" + text + "=1"); });
    refused(invalid, "threads is '" + said + "'", [&] { (void)zenith::make_executor("cpu:threads=" + text); });
    refused(invalid, "isa is '" + said + "'", [&] { (void)zenith::make_executor("cpu:isa=" + text); });
    refused(invalid, "isa is '" + said + "'", [&] { (void)zenith::cpu({.isa = text}); });
    refused(unsupported, "options.strategy is '" + said + "'",
            [&] { (void)zenith::top_k(zenith::reference(), keys, 1, {.strategy = text}); });
    refused(unsupported, "options.strategy is '" + said + "'",
            [&] { (void)zenith::top_k(zenith::executor{}, keys, 1, {.strategy = text}); });
    refused(unsupported, "options.strategy is '" + said + "'",
            [&] { (void)zenith::top_k(zenith::reference(), column, 1, {.strategy = text}); });
    refused(invalid, "strategy is '" + said + "'", [&] { (void)zenith::top_k_cost(text, {}, {}); });
  }
  // what is cut is no part of a character
  refused(unavailable, "'" + std::string(99, 'x') + "...'",
          [] { (void)zenith::make_executor(std::string(99, 'x') + "\u00e9" + std::string(9, 'x')); });
}

TEST_CASE("a setting that is given twice is refused") {
  expect_error(error_code::invalid_argument, {"threads", "twice"},
               [] { (void)zenith::make_executor("cpu:threads=2,threads=3"); });
  expect_error(error_code::invalid_argument, {"isa", "twice"},
               [] { (void)zenith::make_executor("cpu:isa=sse2,isa=sse2"); });
}

TEST_CASE("an empty instruction set in a string is refused") {
  expect_error(error_code::invalid_argument, {"isa"}, [] { (void)zenith::make_executor("cpu:isa="); });
}

TEST_CASE("what cannot run says why, and what would change it") {
  for (const auto& info : zenith::backends()) {
    INFO(info.name);
    CHECK(!info.description.empty() == info.built);
    if (info.usable) {
      CHECK(info.built);
      CHECK(info.why_not.empty());
      CHECK(!info.devices.empty());
      CHECK(!info.strategies.empty());
      CHECK(zenith::make_executor(info.name).backend() == info.name);
    } else {
      CHECK(!info.why_not.empty());
      CHECK(!info.remedy.empty());
      expect_error(error_code::backend_unavailable, {info.why_not, info.remedy},
                   [&] { (void)zenith::make_executor(info.name); });
    }
  }
}

TEST_CASE("the backends that a person requires are usable") {
  const char* required = std::getenv("ZENITH_REQUIRE_BACKENDS");
  std::string_view rest = required == nullptr ? "" : required;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    INFO(rest.substr(0, comma));
    CHECK(is_usable(rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
}
