// The suite over the backends of this build.

#include <algorithm>

#include <suite.hpp>

namespace conformance {

const suite& the_suite() {
  static const suite whole = [] {
    const double scale = zenith_test::scale();
    return suite{.targets = zenith_test::targets("top_k"),
                 .most_items = static_cast<std::size_t>(scale * (1 << 21)),
                 // two strategies on nine executors each: each run draws other cases, and stays within minutes
                 .share = std::clamp(0.3 * scale, 0.03, 1.0),
                 .random_seconds = 2 * scale};
  }();
  return whole;
}

}  // namespace conformance
