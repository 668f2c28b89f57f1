#pragma once

#include <memory>
#include <vector>

#include <perf/study/distribution.hpp>
#include <perf/study/subject.hpp>

namespace zenith_study {

/// One array of keys, and a question for each k.
struct top_k_input_options {
  zenith::key_type type = zenith::key_type::float32;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> ks;
  distribution values = distribution::uniform;
  std::uint64_t seed = 1;
  int threads = 0;
  bool smallest = false;
};

[[nodiscard]] std::shared_ptr<input> make_top_k_input(const top_k_input_options& options);

}  // namespace zenith_study
