#include <zenith/structure.hpp>

#include <string>

#include <zenith/backend.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {

mapped_bytes::mapped_bytes(const executor& on, std::span<const std::byte> bytes, std::string_view who)
    : on_(on.settings()), seen_(nullptr) {
  if (on_.target == nullptr || on_.target->map_host == nullptr || on_.target->unmap_host == nullptr) {
    throw error(error_code::unsupported, std::string{who} + ": kernels of backend '" + std::string{on.backend()} +
                                             "' cannot read the host's memory");
  }
  if (!bytes.empty()) {
    seen_ = static_cast<const std::byte*>(on_.target->map_host(on_, bytes.data(), bytes.size()));
  }
}

mapped_bytes::~mapped_bytes() {
  if (seen_ != nullptr) on_.target->unmap_host(on_, seen_);
}

}  // namespace zenith::detail
