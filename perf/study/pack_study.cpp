#include <perf/study/pack_study.hpp>

#include <fmt/format.h>

#include <iterator>

#include <perf/study/packed_subject.hpp>

namespace zenith_study {
namespace {

const std::vector<std::string_view> operations{zenith::packed_sum_call::operation, zenith::unpack_call::operation};

}  // namespace

pack_study::pack_study(std::string_view title, const std::vector<std::string>& backends, double time_limit)
    : family_study(title,
                   {.limits = time_limits{.most_repeats = 1000, .enough_seconds = time_limit}, .backends = backends}),
      all_(lines({zenith::packed_sum_call::operation, false})) {}

template <zenith::packable T>
study_part& pack_study::measure_column(std::string_view kind, std::vector<T> values,
                                       const std::vector<coordinate>& of_input) {
  const std::vector<zenith::encoding> kinds(std::begin(zenith::packed_encodings), std::end(zenith::packed_encodings));
  return measure(kind, 0, *make_packed_input<T>(std::move(values), kinds, operations), operations, all_, of_input);
}
template study_part& pack_study::measure_column(std::string_view, std::vector<std::int32_t>,
                                                const std::vector<coordinate>&);
template study_part& pack_study::measure_column(std::string_view, std::vector<std::int64_t>,
                                                const std::vector<coordinate>&);
template study_part& pack_study::measure_column(std::string_view, std::vector<std::uint64_t>,
                                                const std::vector<coordinate>&);

study_columns pack_study::columns(std::string_view unit,
                                  const std::function<std::string(const study_row&, double)>& show) const {
  auto all = question_columns();
  // the encoding, which is the question
  all.back().rows = shown_in::each_question;
  all.push_back({"", align::left, [](const study_row& of) { return of.number("smallest") == 1 ? "*" : ""; },
                 shown_in::each_question});
  all.push_back({"bits/value", align::right,
                 [](const study_row& of) { return fmt::format("{:.2f}", of.number("bits_per_value")); },
                 shown_in::each_question});
  all.push_back({"backend", align::left, [](const study_row& of) { return of.line().executor; }});
  for (std::size_t i = 0; i < operations.size(); ++i) {
    all.push_back(
        {fmt::format("{}{}", i == 0 ? "sum" : "unpack", unit), align::right, [=](const study_row& of) {
           return of.seconds(i) > 0 ? show(of, of.seconds(i)) : time_cell({of.part, of.operations.subspan(i)});
         }});
    all.push_back({"predicted", align::right, [=](const study_row& of) {
                     const auto predicted = of.operations[i].predicted;
                     return predicted ? show(of, *predicted) : "-";
                   }});
  }
  return all;
}

}  // namespace zenith_study
