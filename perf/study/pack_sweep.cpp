#include <perf/study/pack_sweep.hpp>

#include <fmt/format.h>

#include <iterator>

#include <perf/study/series.hpp>
#include <zenith/error.hpp>

namespace zenith_study {
namespace {

const std::vector<std::string_view> operations{zenith::packed_sum_call::operation, zenith::unpack_call::operation};

}  // namespace

zenith::encoding encoding_of(const measurement& of) { return zenith::packed_encodings[of.point]; }
double bits_per_value(const measurement& of) { return of.seen.numbers.find("bits_per_value")->second; }
bool is_smallest(const measurement& of) { return of.seen.numbers.find("smallest")->second == 1; }

pack_sweep::pack_sweep(const pack_options& given) {
  options_.backends = given.backends;
  options_.limits = time_limits{.most_repeats = 1000, .enough_seconds = given.time_limit};
  std::vector<std::string> ignored;
  all_series_ = list_series({zenith::packed_sum_call::operation, false, "-"}, options_, ignored);
}

template <class T>
sweep pack_sweep::run(std::vector<T> values, progress& shown) const {
  const std::vector<zenith::encoding> kinds(std::begin(zenith::packed_encodings), std::end(zenith::packed_encodings));
  const auto from = make_packed_input<T>(std::move(values), kinds, operations);
  auto found = run_sweep(*from, operations, all_series_, options_, shown);
  for (const auto& point : found.points) {
    if (point.result == outcome::measured) continue;
    throw zenith::error(zenith::error_code::device_failure,
                        fmt::format("{} of a column in {} on {}: {}", point.operation, to_string(encoding_of(point)),
                                    all_series_[point.series].executor, point.note));
  }
  return found;
}
template sweep pack_sweep::run(std::vector<std::int32_t>, progress&) const;
template sweep pack_sweep::run(std::vector<std::int64_t>, progress&) const;
template sweep pack_sweep::run(std::vector<std::uint64_t>, progress&) const;

std::vector<report_column> pack_sweep::columns(std::string_view unit,
                                               const std::function<std::string(double)>& show) const {
  // of the lines of an encoding, the first names it
  const auto of_first = [](const std::string& text, const row& one) { return one[0].series == 0 ? text : ""; };
  std::vector<report_column> all{
      {"encoding", align::left,
       [=](const row& one) { return of_first(std::string{to_string(encoding_of(one[0]))}, one); }},
      {"", align::left, [=](const row& one) { return of_first(is_smallest(one[0]) ? "*" : "", one); }},
      {"bits/value", align::right,
       [=](const row& one) { return of_first(fmt::format("{:.2f}", bits_per_value(one[0])), one); }},
      {"backend", align::left, [this](const row& one) { return all_series_[one[0].series].executor; }}};
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    all.push_back({fmt::format("{}{}", i == 0 ? "sum" : "unpack", unit), align::right,
                   [=](const row& one) { return show(one[i].time); }});
    all.push_back(
        {"predicted", align::right, [=](const row& one) { return one[i].predicted ? show(*one[i].predicted) : "-"; }});
  }
  return all;
}

}  // namespace zenith_study
