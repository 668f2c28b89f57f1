#pragma once

#include <perf/study/sweep.hpp>

namespace zenith_study {

/// Which of an operation's lines a study has where no option names them.
struct series_choice {
  std::string_view operation;
  bool host_and_device = true;              ///< on a device also lines whose data come from the host
  bool every_strategy = false;              ///< whichever are named
  std::string_view why_no_reference = "-";  ///< leaves the reference out, and says why unless it is "-"
};

/// Every series that the options ask for. What is left out is said in `notes`. Throws `backend_unavailable` or
/// `invalid_argument` for a backend or strategy that was named and cannot be had.
[[nodiscard]] std::vector<series> list_series(const series_choice& choice, const sweep_options& options,
                                              std::vector<std::string>& notes);

/// What a figure of one thread, all threads and a GPU compares: executor strings, CUDA's where it can be used.
[[nodiscard]] std::vector<std::string> compared_backends();

}  // namespace zenith_study
