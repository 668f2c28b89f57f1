// The conformance suite of packed columns over the emulated CUDA backend, at sizes that lanes of fibers get through.

#include <algorithm>
#include <cstdlib>

#include <packed_suite.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace conformance::packed {

const suite& the_suite() {
  static const suite small = [] {
    zenith_test::register_emulated_cuda();
    // one number repeats a run: the suite's seed is the order of threads too, unless that is set apart
    if (std::getenv("ZENITH_SIMT_SEED") == nullptr) zenith::simt_engine::set_seed(zenith_test::seed());
    const double scale = std::clamp(zenith_test::scale(), 0.2, 5.0);
    return suite{.targets = packed_targets({"cuda-emulated"}),
                 .most_items = 5000,
                 .share = 0.1 * scale,
                 .random_seconds = scale};
  }();
  return small;
}

}  // namespace conformance::packed
