// The conformance suite of spatial indexes over the emulated CUDA backend, at sizes that lanes of fibers get through.

#include <cstdlib>

#include <index_suite.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace conformance::spatial_index {

const suite& the_suite() {
  static const suite small = [] {
    zenith_test::register_emulated_cuda();
    if (std::getenv("ZENITH_SIMT_SEED") == nullptr) zenith::simt_engine::set_seed(zenith_test::seed());
    return suite{.ranges = zenith_test::targets("top_k_range", {"cuda-emulated"}),
                 .joins = zenith_test::targets("top_k_index_join", {"cuda-emulated"}),
                 .all_pairs = zenith_test::targets("index_join", {"cuda-emulated"}),
                 .builds = zenith_test::executors("index_build", {"cuda-emulated"}),
                 .most_items = 64,
                 .effort = 0.4};
  }();
  return small;
}

}  // namespace conformance::spatial_index
