// The suite of scored top-k over the backends of this build.

#include <scored_suite.hpp>

namespace conformance::scored {

const suite& the_suite() {
  static const suite whole{.targets = zenith_test::targets("scored_top_k"),
                           .most_rows = static_cast<std::size_t>(zenith_test::scale() * 300007)};
  return whole;
}

}  // namespace conformance::scored
