// The conformance suite of threshold tables over the emulated CUDA backend, at sizes that lanes of fibers get through.

#include <cstdlib>

#include <table_suite.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace conformance::tables {

const suite& the_suite() {
  static const suite small = [] {
    zenith_test::register_emulated_cuda();
    if (std::getenv("ZENITH_SIMT_SEED") == nullptr) zenith::simt_engine::set_seed(zenith_test::seed());
    return suite{.targets = zenith_test::targets("threshold_table", {"cuda-emulated"}),
                 .most_rows = 200,
                 .share = zenith_test::scaled(4) / 52.0};
  }();
  return small;
}

}  // namespace conformance::tables
