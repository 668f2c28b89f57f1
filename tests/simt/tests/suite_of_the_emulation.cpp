// The conformance suite of top-k over the emulated CUDA backend, at sizes that lanes of fibers get through.

#include <algorithm>
#include <cstdlib>

#include <suite.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace conformance {

const suite& the_suite() {
  static const suite small = [] {
    zenith_test::register_emulated_cuda();
    // one number repeats a run: the suite's seed is the order of threads too, unless that is set apart
    if (std::getenv("ZENITH_SIMT_SEED") == nullptr) zenith::simt_engine::set_seed(zenith_test::seed());
    const double scale = std::clamp(zenith_test::scale(), 0.2, 5.0);
    const auto targets = zenith_test::targets("top_k", {"cuda-emulated"});
    return suite{.targets = targets, .most_items = 9000, .share = 0.12 * scale, .random_seconds = scale / 2};
  }();
  return small;
}

}  // namespace conformance
