// The suite of spatial indexes over the backends of this build.

#include <index_suite.hpp>

namespace conformance::spatial_index {

const suite& the_suite() {
  // the reference has no build of its own: asked for it, it would be said to be skipped, and CTest takes that for the
  // run
  static const suite whole{.ranges = zenith_test::targets("top_k_range"),
                           .joins = zenith_test::targets("top_k_index_join"),
                           .all_pairs = zenith_test::targets("index_join"),
                           .builds = zenith_test::executors("index_build", {"cpu", "cuda", "kokkos"}),
                           .most_items = zenith_test::scale() < 0.3 ? 300U : 2000U};
  return whole;
}

}  // namespace conformance::spatial_index
