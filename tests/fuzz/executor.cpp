// Executor strings: any text gives an executor or an error that says what is wrong with it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <core/built_backends.hpp>
#include <zenith/error.hpp>
#include <zenith/executor.hpp>

namespace {

constexpr std::string_view options[] = {"device", "threads", "isa"};
constexpr zenith::backend cpu{.name = "cpu",
                              .description = "takes every setting",
                              .needs = "nothing",
                              .options = options,
                              .configure = [](zenith::execution& settings) {
                                if (settings.device < 0 || settings.threads < 0) std::abort();
                              }};
constexpr zenith::backend reference{.name = "reference", .description = "takes none", .needs = "nothing"};
constexpr const zenith::backend* built[] = {&cpu, &reference};
constexpr zenith::detail::absent_backend absent[] = {{"cuda", "it was not built", "build it"}};

}  // namespace

std::span<const zenith::backend* const> zenith::detail::built_backends() noexcept { return built; }
std::span<const zenith::detail::absent_backend> zenith::detail::absent_backends() noexcept { return absent; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // a copy of its own size, so that a read past the end is seen
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto made = zenith::make_executor(text);
    if (!made.is_automatic() && !text.starts_with(made.backend())) std::abort();
  } catch (const zenith::error& refused) {
    if (refused.code() != zenith::error_code::invalid_argument &&
        refused.code() != zenith::error_code::backend_unavailable) {
      std::abort();
    }
  }
  return 0;
}
