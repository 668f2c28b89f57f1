// The suite of threshold tables over the backends of this build.

#include <table_suite.hpp>

namespace conformance::tables {

const suite& the_suite() {
  static const suite whole{.targets = zenith_test::targets("threshold_table"),
                           .most_rows = static_cast<std::size_t>(zenith_test::scale() * 100003)};
  return whole;
}

}  // namespace conformance::tables
