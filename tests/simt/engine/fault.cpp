#include "fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace zenith::simt_engine {

std::string_view to_string(fault_kind kind) noexcept {
  switch (kind) {
    case fault_kind::barrier: return "barrier not reached by all threads";
    case fault_kind::warp_mask: return "wrong warp mask";
    case fault_kind::uninitialised_read: return "uninitialised read";
    case fault_kind::race: return "race";
    case fault_kind::out_of_bounds: return "out of bounds";
    case fault_kind::misaligned: return "misaligned access";
    case fault_kind::host_memory: return "host memory";
    case fault_kind::launch: return "wrong launch";
    case fault_kind::endless: break;
  }
  return "endless thread";
}

namespace {

std::string report(const fault::details& d) {
  std::string text = fmt::format("{}: {}", to_string(d.kind), d.sentence);
  if (!d.where.file.empty()) {
    text += fmt::format("\n  at {}:{}", d.where.file, d.where.line);
    if (!d.where.function.empty()) text += fmt::format(" in {}", d.where.function);
  }
  if (d.in_kernel) {
    text += fmt::format("\n  block ({}, {}, {}), thread ({}, {}, {})", d.block.x, d.block.y, d.block.z, d.thread.x,
                        d.thread.y, d.thread.z);
  }
  if (!d.kernel.empty()) {
    text += fmt::format("\n  kernel {}\n  again with ZENITH_SIMT_SEED={}", d.kernel, d.seed);
  }
  return text;
}

}  // namespace

fault::fault(details what) : std::runtime_error(report(what)), details_(std::move(what)) {}

}  // namespace zenith::simt_engine
