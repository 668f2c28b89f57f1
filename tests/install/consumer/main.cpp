#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <zenith/zenith.hpp>

// Called with the name of a backend: its answer must be right. Always: it lists what this build has.
int main(int argc, char** argv) {
  std::printf("zenith %d.%d.%d\n", ZENITH_VERSION_MAJOR, ZENITH_VERSION_MINOR, ZENITH_VERSION_PATCH);
  for (const auto& one : zenith::backends()) {
    std::printf("%s: %s\n", one.name.c_str(), one.usable ? "usable" : one.why_not.c_str());
  }

  const std::vector<float> keys{3, 1, 4, 1, 5, 9, 2, 6};
  const auto on = zenith::make_executor(argc > 1 ? std::string_view{argv[1]} : std::string_view{"reference"});
  const auto best = zenith::top_k(on, keys, 2);
  if (best.keys != std::vector<float>{9, 6}) return 1;

  // An error of the library must be catchable here, across the boundary of a shared library.
  try {
    (void)zenith::make_executor("abacus");
    return 2;
  } catch (const zenith::error& refused) {
    if (refused.code() != zenith::error_code::backend_unavailable) return 3;
  }
  std::puts("consumer: right");
  return 0;
}
