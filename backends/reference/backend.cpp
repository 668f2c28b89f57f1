#include <array>

#include <backends/reference/top_k.hpp>
#include <zenith/backend.hpp>

namespace zenith::reference_backend {
namespace {

constexpr std::array kernels{
    make_kernel<top_k_call, top_k>("sort"),
};

std::vector<device_info> devices() { return {{0, "host", "one thread, no SIMD, no cleverness", 0}}; }

void configure(execution& settings) { settings.threads = 1; }

}  // namespace

extern constinit const backend descriptor;
constinit const backend descriptor{
    .name = "reference",
    .description = "the slowest, most obvious implementation of every algorithm: the oracle of the tests",
    .needs = "nothing",
    .kernels = kernels,
    .devices = devices,
    .configure = configure,
};

}  // namespace zenith::reference_backend
