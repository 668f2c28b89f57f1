#include <perf/study/report.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include <perf/study/quantity.hpp>
#include <perf/study/statistics.hpp>
#include <perf/study/table.hpp>
#include <zenith/machine.hpp>

namespace zenith_study {
namespace {

std::string explain(const sweep& of) {
  std::string text;
  std::map<std::string, std::vector<std::string>> floors;
  for (const auto& one : of.all_series) {
    const auto line = one.floor_seconds > 0
                          ? fmt::format("{} = {}", format_seconds(one.floor_seconds), one.floor_origin)
                          : std::string{"not measured"};
    floors[line].push_back(one.label);
  }
  for (const auto& [line, labels] : floors) text += fmt::format("floor of {}: {}\n", fmt::join(labels, ", "), line);
  for (const auto& one : of.all_series) {
    text += fmt::format("{}: {}\n", one.label, one.detail.empty() ? "no details" : one.detail);
  }
  return text;
}

// How often the choice was the fastest measured line, or within a tenth of it.
std::string judge(const sweep& of) {
  std::size_t judged = 0;
  std::size_t good = 0;
  for (const auto k : of.options.ks) {
    for (const bool resident : {false, true}) {
      double fastest = 0;
      double chosen = 0;
      for (const auto& point : of.points) {
        if (point.k != k || point.result != outcome::measured || of.all_series[point.series].resident != resident)
          continue;
        if (fastest == 0 || point.time < fastest) fastest = point.time;
        if (point.is_chosen) chosen = point.time;
      }
      if (chosen == 0) continue;
      ++judged;
      if (chosen <= 1.1 * fastest) ++good;
    }
  }
  if (judged == 0) return {};
  return fmt::format("The dispatcher's choice (*) was the fastest, or within a tenth of it, in {} of {} cases.\n", good,
                     judged);
}

const char* name(outcome result) {
  switch (result) {
    case outcome::measured: return "measured";
    case outcome::skipped: return "skipped";
    case outcome::failed: return "failed";
    case outcome::wrong: return "wrong";
  }
  return "";
}

std::string now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

std::string describe(const sweep_options& options) {
  const auto count = std::has_single_bit(options.count) ? fmt::format("2^{}", std::countr_zero(options.count))
                                                        : with_commas(options.count);
  return fmt::format("{} {} values, {}, the {}", count, zenith::to_string(options.type), to_string(options.values),
                     options.smallest ? "smallest" : "largest");
}

std::string as_table(const sweep& of) {
  table shown({{"k"},
               {"backend/strategy", align::left},
               {"", align::left},
               {"time"},
               {"GB/s"},
               {"of floor"},
               {"predicted"},
               {"deviation"},
               {"", align::left}});
  const auto bytes = static_cast<double>(of.options.count * zenith::size_of(of.options.type));
  std::uint64_t last_k = 0;
  for (const auto& point : of.points) {
    const auto& one = of.all_series[point.series];
    if (last_k != 0 && last_k != point.k && of.all_series.size() > 1) shown.add_gap();
    const auto k = last_k == point.k ? std::string{} : with_commas(point.k);
    last_k = point.k;
    const auto predicted = point.predicted ? format_seconds(*point.predicted) : "-";
    if (point.result != outcome::measured) {
      shown.add({k, one.label, point.is_chosen ? "*" : "", name(point.result), "-", "-", predicted, "-", point.note});
      continue;
    }
    shown.add({k, one.label, point.is_chosen ? "*" : "", format_seconds(point.time),
               fmt::format("{:.1f}", bytes / point.time / 1e9),
               one.floor_seconds > 0 ? fmt::format("{:.0f} %", one.floor_seconds / point.time * 100) : "-", predicted,
               point.predicted ? fmt::format("{:+.0f} %", (point.time / *point.predicted - 1) * 100) : "-",
               point.note});
  }
  std::string text = fmt::format("Top-k over {}\n\n{}\n", describe(of.options), shown.text());
  text +=
      "* what zenith::decide chooses; of floor: one read of the data, as a share of the time; deviation: of the time "
      "from the prediction\n";
  text += explain(of);
  for (const auto& note : of.notes) text += note + "\n";
  const bool any_wrong = std::ranges::any_of(of.points, [](const auto& p) { return p.result == outcome::wrong; });
  text += any_wrong ? "WRONG RESULTS: see the lines marked wrong; they were not timed.\n"
                    : "Every result equals a selection by the standard library, bit by bit.\n";
  return text + judge(of);
}

std::string as_json(const sweep& of) {
  using nlohmann::json;
  const auto& options = of.options;
  json all;
  all["zenith"] = ZENITH_STUDY_VERSION;
  all["date"] = now();
  all["problem"] = {{"operation", "top_k"},
                    {"count", options.count},
                    {"type", zenith::to_string(options.type)},
                    {"distribution", to_string(options.values)},
                    {"select", options.smallest ? "smallest" : "largest"},
                    {"seed", options.seed},
                    {"repeat", options.repeat}};
  all["machine"] = json::parse(zenith::machine::local().to_json());
  all["floor"] = {{"seconds", of.floor.seconds}, {"median", median(of.floor.seconds)}, {"how", of.floor.how}};
  all["notes"] = of.notes;
  all["points"] = json::array();
  for (const auto& point : of.points) {
    const auto& one = of.all_series[point.series];
    json entry = {{"k", point.k},
                  {"backend", one.on.backend()},
                  {"strategy", one.strategy},
                  {"label", one.label},
                  {"executor", one.executor},
                  {"data", one.resident ? "device" : "host"},
                  {"detail", one.detail},
                  {"variant", point.variant},
                  {"result", name(point.result)},
                  {"chosen", point.is_chosen},
                  {"seconds", point.seconds},
                  {"floor", one.floor_seconds > 0 ? json(one.floor_seconds) : json()},
                  {"predicted", point.predicted ? json(*point.predicted) : json()}};
    entry["median"] = point.result == outcome::measured ? json(point.time) : json();
    if (!point.note.empty()) entry["note"] = point.note;
    all["points"].push_back(std::move(entry));
  }
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace zenith_study
