#pragma once

/// \file
/// What the operations on tables of points have in common before they reach a kernel: checks, and the description of
/// the table. `function` is the name that begins their errors.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zenith/error.hpp>
#include <zenith/skyline.hpp>

namespace zenith::skyline_detail {

[[noreturn]] void reject(std::string_view function, const std::string& message,
                         error_code code = error_code::invalid_argument);

void check_points(std::string_view function, const detail::skyline_points& points,
                  std::span<const preference> preferences);
/// That the options' values are among those that the enumerations name.
void check_policies(std::string_view function, std::span<const preference> preferences, nan_rows nans,
                    duplicate_rows duplicates = duplicate_rows::keep_all);
/// What a choice is to know of a call. On a GPU one strategy is the fastest whatever the points are: they are not
/// sampled.
[[nodiscard]] skyline_problem problem_of(const executor& on, const detail::skyline_points& points,
                                         std::span<const preference> preferences, std::string_view strategy);
/// Ids of signed 32 bits tell fewer rows apart than there may be.
void check_ids(std::string_view function, const detail::skyline_points& points, int index_bytes, bool index_signed);

/// The table of a call, and what the call leaves: it lives as long as the call.
class input {
 public:
  input(const detail::skyline_points& points, std::span<const preference> preferences, nan_rows nans,
        bool wants_statistics);
  input(const input&) = delete;
  input& operator=(const input&) = delete;

  void describe(skyline_input& call);
  /// Throws when the call has met a NaN that it rejects.
  void check(std::string_view function) const;
  [[nodiscard]] const skyline_outcome& outcome() const { return outcome_; }
  [[nodiscard]] skyline_statistics take_statistics() noexcept { return std::move(statistics_); }

 private:
  const detail::skyline_points& points_;
  std::vector<preference> preferences_;
  nan_rows nans_;
  bool wants_statistics_;
  skyline_outcome outcome_;
  skyline_statistics statistics_;
};

}  // namespace zenith::skyline_detail
