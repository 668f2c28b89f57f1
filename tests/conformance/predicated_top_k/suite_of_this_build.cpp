// The suite of predicated top-k over the backends of this build.

#include <predicated_suite.hpp>

namespace conformance::predicated {

const suite& the_suite() {
  static const suite whole{.targets = zenith_test::targets("predicated_top_k"),
                           .most_rows = static_cast<std::size_t>(zenith_test::scale() * 200003),
                           .most_packed_rows = static_cast<std::size_t>(zenith_test::scale() * 70001)};
  return whole;
}

}  // namespace conformance::predicated
