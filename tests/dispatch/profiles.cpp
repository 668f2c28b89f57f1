#include <fstream>
#include <limits>
#include <string>

#include <catch.hpp>

#include <zenith/error.hpp>
#include <zenith/top_k.hpp>
#include "scenes.hpp"

using namespace zenith;

namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

void check_same(const machine& a, const machine& b) {
  REQUIRE(a.devices().size() == b.devices().size());
  for (std::size_t i = 0; i < a.devices().size(); ++i) {
    const auto& x = a.devices()[i];
    const auto& y = b.devices()[i];
    CHECK(x.backend == y.backend);
    CHECK(x.device == y.device);
    CHECK(x.name == y.name);
    CHECK(x.kind == y.kind);
    CHECK(x.memory == y.memory);
    CHECK(x.cores == y.cores);
    CHECK(x.simd_bytes == y.simd_bytes);
    CHECK(x.grain_bytes == y.grain_bytes);
    CHECK(x.launch_overhead == y.launch_overhead);
    CHECK(x.host_to_device == y.host_to_device);
    CHECK(x.device_to_host == y.device_to_host);
    CHECK(x.link_latency == y.link_latency);
    CHECK(x.rates == y.rates);
    CHECK(x.offers == y.offers);
    CHECK(x.origin == y.origin);
    CHECK(x.date == y.date);
    CHECK(x.version == y.version);
    REQUIRE(x.levels.size() == y.levels.size());
    for (std::size_t j = 0; j < x.levels.size(); ++j) {
      CHECK(x.levels[j].name == y.levels[j].name);
      CHECK(x.levels[j].bytes == y.levels[j].bytes);
      CHECK(x.levels[j].read == y.levels[j].read);
      CHECK(x.levels[j].write == y.levels[j].write);
      CHECK(x.levels[j].copy == y.levels[j].copy);
    }
  }
}

device_profile sound() {
  device_profile one;
  one.backend = "cpu";
  one.name = "a chip with \"quotes\" and umlauts: ä";
  one.cores = 3;
  one.simd_bytes = 64;
  one.grain_bytes = 4096;
  one.levels = {{"L1", 100, 3e11, 1.0 / 3, 2e11}, {"memory", 200, 3e10, 1e10, 2e10}};
  one.launch_overhead = 1.2345678901234567e-6;
  one.rates = {{"top_k.filter.scan/4", 1e-10}, {"a rate", 0}};
  one.offers = {"top_k/filter"};
  one.origin = "calibrated";
  one.date = "2026-01-02T03:04:05Z";
  one.version = "0.1.0";
  return one;
}

// The message, which must be that of a damaged profile.
std::string damage_of(const std::string& text) {
  try {
    (void)machine::parse(text);
  } catch (const error& fault) {
    CHECK(fault.code() == error_code::corrupt_data);
    return fault.what();
  }
  FAIL("a damaged profile was accepted: " << text.substr(0, 2000));
  return {};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a machine written and read is the same machine") {
  const zenith_test::temporary_folder folder;
  const machine made{{sound()}};
  check_same(made, machine::parse(made.to_json()));
  check_same(machine{}, machine::parse(machine{}.to_json()));
  check_same(machine::defaults(), machine::parse(machine::defaults().to_json()));
  made.write(folder.file("deep/er/profile.json"));
  check_same(made, machine::read(folder.file("deep/er/profile.json")));
  for (const auto& file : zenith_test::fixture_files()) {
    INFO(file);
    const auto here = machine::read(file);
    CHECK_FALSE(here.devices().empty());
    check_same(here, machine::parse(here.to_json()));
  }
}

TEST_CASE("writing replaces the file at once, or leaves it") {
  const zenith_test::temporary_folder folder;
  const auto file = folder.file("profile.json");
  machine{{sound()}}.write(file);
  machine{}.write(file);
  CHECK(machine::read(file).devices().empty());
  CHECK(folder.count() == 1);

  auto broken = sound();
  broken.levels.clear();
  CHECK_THROWS_AS(machine{{broken}}.write(file), error);
  CHECK(machine::read(file).devices().empty());
  CHECK_THROWS_AS(machine{}.write(file / "below a file.json"), error);
  CHECK_THROWS_AS(machine{}.write(""), error);
  std::filesystem::create_directory(folder.file("folder.json"));
  CHECK_THROWS_AS(machine{}.write(folder.file("folder.json")), error);
  CHECK(folder.count() == 2);
}

TEST_CASE("no file is an argument's fault, a damaged one names itself") {
  const zenith_test::temporary_folder folder;
  try {
    (void)machine::read(folder.file("none.json"));
    FAIL("a file that is not there was read");
  } catch (const error& fault) {
    CHECK(fault.code() == error_code::invalid_argument);
    CHECK(contains(fault.what(), folder.file("none.json").string()));
  }
  const auto file = folder.file("damaged.json");
  std::ofstream(file) << "{";
  try {
    (void)machine::read(file);
    FAIL("a damaged file was read");
  } catch (const error& fault) {
    CHECK(fault.code() == error_code::corrupt_data);
    CHECK(contains(fault.what(), file.string()));
  }
  CHECK_THROWS_AS(machine::read(folder.file(".")), error);
}

TEST_CASE("a damaged profile says what is wrong where") {
  const auto text = machine{{sound()}}.to_json();
  struct change {
    const char *from, *to, *said;
  };
  const change changes[] = {
      {"\"zenith-profile\"", "\"something\"", "format is \"something\"; it must be \"zenith-profile\""},
      {"\"format_version\": 1", "\"format_version\": 2", "format_version is 2"},
      {"\"format_version\": 1", "\"format_version\": 1.5", "format_version"},
      {"\"format_version\": 1", "\"format_version\": 1, \"format_version\": 1",
       "the text has two members \"format_version\""},
      {"\"cores\": 3", "\"cores\": 0", "devices[0].cores is 0"},
      {"\"cores\": 3", "\"cores\": -3", "devices[0].cores must be a whole number from 0 to"},
      {"\"cores\": 3", "\"cores\": 99999999999999", "devices[0].cores"},
      {"\"cores\": 3", "\"cores\": \"3\"", "devices[0].cores"},
      {"\"cores\": 3", "\"core\": 3", "devices[0].cores is missing"},
      {"\"device\": 0", "\"device\": 0, \"device\": 1", "devices[0] has two members \"device\""},
      {"\"kind\": \"cpu\"", "\"kind\": \"tpu\"", "devices[0].kind is \"tpu\"; it must be \"cpu\" or \"gpu\""},
      {"\"memory\": \"host\"", "\"memory\": \"tape\"", "devices[0].memory"},
      {"\"bytes\": 200", "\"bytes\": 100", "devices[0].levels[1].bytes"},
      {"\"bytes\": 200", "\"bytes\": 1e400", "the number 1e400 is too large"},
      {"\"bytes\": 200", "\"bytes\": 200.5", "devices[0].levels[1].bytes"},
      {"\"bytes\": 100", "\"bytes\": 0", "devices[0].levels[0].bytes is 0"},
      {"\"read\": 300000000000.0", "\"read\": -1", "devices[0].levels[0].read is -1"},
      {"\"read\": 300000000000.0", "\"read\": 0", "devices[0].levels[0].read is 0"},
      {"\"read\": 300000000000.0", "\"read\": 1e300", "devices[0].levels[0].read is 1e+300"},
      {"\"read\": 300000000000.0", "\"read\": NaN", "invalid literal at the end of '\"read\": N'; expected a value"},
      {"\"read\": 300000000000.0", "\"read\": Infinity",
       "invalid literal at the end of '\"read\": I'; expected a value"},
      {"\"read\": 300000000000.0", "\"read\": null", "devices[0].levels[0].read must be a number"},
      {"\"launch_overhead\": ", "\"launch_overhead\": -", "devices[0].launch_overhead"},
      {"\"link_latency\": 0.0", "\"link_latency\": 1e7", "devices[0].link_latency"},
      {"\"host_to_device\": 0.0", "\"host_to_device\": true", "devices[0].host_to_device"},
      {"\"a rate\": 0.0", "\"a rate\": -0.5", "devices[0].rates[\"a rate\"]"},
      {"\"a rate\": 0.0", "\"a rate\": []", "devices[0].rates.a rate"},
      {"\"a rate\": 0.0", "\"\": 0.0", "rates"},
      {"\"top_k/filter\"", "\"top_k/filter\", \"top_k/filter\"", "twice"},
      {"\"top_k/filter\"", "\"top_k\"", "devices[0].offers has \"top_k\"; an entry must be \"operation/strategy\""},
      {"\"top_k/filter\"", "7", "devices[0].offers[0] must be a string"},
      {"umlauts", "\xff\xfe", "UTF-8"},
      {"\"cores\": 3", "\"cores\" 3", "unexpected number literal at the end of '\"cores\" 3'; expected ':'"},
      {"\"cores\": 3", "\"cores\": 3 ;; expected", "at the end of '\"cores\": 3 ;'; expected"},
      {"\"backend\": \"cpu\"", "\"backend\": \"\"", "devices[0].backend is empty"},
      {"\"devices\": [", "\"devices\": 7, \"other\": [", "devices must be a list"},
      {"\"devices\": [", "\"devices\": [[],", "devices[0] must be an object"},
  };
  for (const auto& one : changes) {
    INFO(one.from << " -> " << one.to);
    const auto said = damage_of(replaced(text, one.from, one.to));
    INFO(said);
    CHECK(contains(said, one.said));
    CHECK(!contains(said, "json"));
    CHECK(!contains(said, "parse error"));
    CHECK(!contains(said, "<U+"));
    CHECK(std::ranges::all_of(said, [](char byte) { return byte >= ' ' && byte < 0x7f; }));
  }
  const auto twice = machine{{sound()}}.to_json();
  const auto begin = twice.find('{', twice.find("\"devices\""));
  const auto end = twice.rfind('}', twice.rfind(']'));
  const auto device = twice.substr(begin, end - begin + 1);
  CHECK(contains(damage_of(replaced(twice, device, device + "," + device)), "listed already"));
}

TEST_CASE("what is said of a damaged profile is short") {
  const auto text = machine{{sound()}}.to_json();
  const std::string name(1000, 'x');
  const auto shown = std::string(100, 'x') + "...";
  const auto wrong_rate = damage_of(replaced(text, "\"a rate\": 0.0", "\"" + name + "\": -1"));
  CHECK(contains(wrong_rate, "devices[0].rates[\"" + shown + "\"] is -1"));
  const auto no_number = damage_of(replaced(text, "\"a rate\": 0.0", "\"" + name + "\": []"));
  CHECK(contains(no_number, "devices[0].rates." + shown + " must be a number"));
  const auto twice = damage_of(replaced(text, "\"device\": 0", "\"" + name + "\": 0, \"" + name + "\": 1"));
  CHECK(contains(twice, "two members \"" + shown + "\""));
  const auto overflow = damage_of(replaced(text, "\"bytes\": 200", "\"bytes\": " + std::string(5000, '9') + "e400"));
  const auto token = damage_of(replaced(text, "\"bytes\": 200", "\"bytes\": " + std::string(5000, '9') + "x"));
  const auto controls = damage_of(replaced(text, "\"a rate\": 0.0", "\"\\u001b[2J\": -1"));
  CHECK(contains(controls, R"(rates["\x1b[2J"] is -1)"));
  for (const auto& said : {wrong_rate, no_number, twice, overflow, token, controls}) {
    INFO(said);
    CHECK(!said.empty());
    CHECK(said.size() < 400);
  }
}

TEST_CASE("a profile cut short anywhere is damaged") {
  const auto text = machine{{sound()}}.to_json();
  for (std::size_t length = 0; length + 2 < text.size(); ++length) (void)damage_of(text.substr(0, length));
}

TEST_CASE("a profile with any byte changed is read or refused") {
  const auto text = machine{{sound()}}.to_json();
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char other : {'\0', '"', '{', ']', '9', '-', 'e', '\x80', '\xff'}) {
      auto changed = text;
      changed[at] = other;
      try {
        (void)machine::parse(changed);
      } catch (const error& fault) {
        CHECK(fault.code() == error_code::corrupt_data);
      }
    }
  }
}

TEST_CASE("bombs are refused before they go off") {
  constexpr std::size_t deep = 1'000'000;
  CHECK(contains(damage_of(std::string(deep, '[')), "deep"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK(contains(damage_of(objects), "deep"));
  CHECK(contains(damage_of("{\"format\": \"" + std::string(std::size_t{8} << 20, 'x') + "\"}"), "longer"));
  CHECK(contains(damage_of(replaced(machine{{sound()}}.to_json(), "a rate", std::string(5000, 'x'))), "5000 bytes"));
  (void)damage_of("");
  (void)damage_of("null");
  (void)damage_of("[]");
  (void)damage_of(std::string(1000, '\0'));
}

TEST_CASE("what cannot be read back is not written") {
  auto named = sound();
  named.name = "\xff";
  CHECK_THROWS_AS(machine{{named}}.to_json(), error);
  auto endless = sound();
  endless.launch_overhead = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(machine{{endless}}.to_json(), error);
  CHECK_THROWS_AS((machine{{sound(), sound()}}.to_json()), error);
}
