// The conformance suite of predicated top-k over the emulated CUDA backend, at sizes that lanes of fibers get through.

#include <cstdlib>

#include <predicated_suite.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace conformance::predicated {

const suite& the_suite() {
  static const suite small = [] {
    zenith_test::register_emulated_cuda();
    if (std::getenv("ZENITH_SIMT_SEED") == nullptr) zenith::simt_engine::set_seed(zenith_test::seed());
    return suite{.targets = zenith_test::targets("predicated_top_k", {"cuda-emulated"}),
                 .most_rows = 300,
                 .most_packed_rows = 4999};
  }();
  return small;
}

}  // namespace conformance::predicated
