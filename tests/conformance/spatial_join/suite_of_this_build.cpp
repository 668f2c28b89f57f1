// The suite of spatial joins over the backends of this build.

#include <spatial_suite.hpp>

namespace conformance::spatial {

const suite& the_suite() {
  static const suite whole{.joins = zenith_test::targets("spatial_join"),
                           .ranked = zenith_test::targets("top_k_spatial_join"),
                           .most_rows = zenith_test::scale() < 0.3 ? 300U : 4096U,
                           .asks_for_one_k = zenith_test::scale() < 0.3};
  return whole;
}

}  // namespace conformance::spatial
