#include <packed_suite.hpp>

#include <algorithm>
#include <cstdio>

namespace conformance::packed {

std::vector<zenith_test::target> packed_targets(const std::vector<std::string>& backends) {
  auto all = zenith_test::targets("unpack", backends);
  std::string said;
  for (const auto& on : all) {
    if (said == on.on.backend()) continue;
    said = on.on.backend();
    for (const auto operation : every_operation) {
      if (!offers(on, operation)) {
        std::printf("zenith: not run here: %s does not offer %s\n", said.c_str(), std::string{operation}.c_str());
      }
    }
  }
  return all;
}

std::vector<std::size_t> interesting_lengths() {
  std::vector<std::size_t> lengths{0,    1,    2,    3,    7,    31,   32,   33,   61,   63,   64,   65,   97,   127,
                                   128,  129,  191,  255,  256,  257,  383,  509,  511,  512,  513,  1009, 1023, 1024,
                                   1025, 2047, 2048, 2049, 2081, 2177, 3001, 4095, 4096, 4097, 4999, 6145};
  std::erase_if(lengths, [](std::size_t length) { return length > the_suite().most_items; });
  return lengths;
}

}  // namespace conformance::packed
