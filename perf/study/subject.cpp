#include <perf/study/subject.hpp>

#include <cmath>

namespace zenith_study {

std::vector<std::unique_ptr<subject>> subjects() {
  std::vector<std::unique_ptr<subject>> all;
  for (const auto make :
       {top_k_subject, packed_column_subject, skyline_subject, threshold_table_subject, spatial_join_subject}) {
    all.push_back(make());
  }
  return all;
}

std::optional<double> predict(input& of, std::size_t point, std::string_view operation, const placement& at,
                              const zenith::machine& on) {
  const auto* profile = on.find(at.on.backend(), at.on.device());
  if (profile == nullptr) return {};
  const auto cost = of.cost(point, operation, at, *profile);
  if (!cost) return {};
  const double time = zenith::seconds(*cost, *profile);
  return std::isfinite(time) ? std::optional{time} : std::nullopt;
}

}  // namespace zenith_study
