// The conformance suite of spatial joins over the emulated CUDA backend, at sizes that lanes of fibers get through.

#include <cstdlib>

#include <spatial_suite.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace conformance::spatial {

const suite& the_suite() {
  static const suite small = [] {
    zenith_test::register_emulated_cuda();
    if (std::getenv("ZENITH_SIMT_SEED") == nullptr) zenith::simt_engine::set_seed(zenith_test::seed());
    return suite{.joins = zenith_test::targets("spatial_join", {"cuda-emulated"}),
                 .ranked = zenith_test::targets("top_k_spatial_join", {"cuda-emulated"}),
                 .most_rows = 16 + zenith_test::scaled(48),
                 .asks_for_one_k = true};
  }();
  return small;
}

}  // namespace conformance::spatial
