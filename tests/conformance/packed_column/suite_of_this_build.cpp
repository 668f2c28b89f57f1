// The suite over the backends of this build.

#include <algorithm>

#include <packed_suite.hpp>
#include <sequential_backend.hpp>

namespace conformance::packed {

const suite& the_suite() {
  static const suite whole = [] {
    const double scale = zenith_test::scale();
    register_sequential();
    auto backends = zenith_test::every_backend;
    backends.emplace_back("sequential");
    return suite{.targets = packed_targets(backends),
                 .most_items = std::max<std::size_t>(static_cast<std::size_t>(scale * 200003), 7000),
                 // nine executors of the CPU: each run draws others, and stays within a minute
                 .share = std::min(1.0, 0.6 * scale),
                 .random_seconds = 4 * scale};
  }();
  return whole;
}

}  // namespace conformance::packed
