#include <zenith/backend.hpp>

#include <thread>

namespace zenith::cpu_backend {
namespace {

constexpr std::string_view options[] = {"threads", "isa"};

void configure(execution& settings) {
  if (settings.threads == 0) settings.threads = static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

extern constinit const backend descriptor;
constinit const backend descriptor{
    .name = "cpu",
    .description = "TBB over tiles, SIMD by the widest instruction set of this CPU",
    .needs = "nothing; TBB for more than one thread",
    .options = options,
    .configure = configure,
};

}  // namespace zenith::cpu_backend
