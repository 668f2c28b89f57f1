#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <zenith/array.hpp>
#include <zenith/executor.hpp>

namespace zenith::detail {

/// Memory of the host at a multiple of 64; often larger than what stands in it.
struct host_bytes {
  std::unique_ptr<std::byte[], void (*)(std::byte*)> data{nullptr, nullptr};
  std::size_t size = 0;
};
/// Gives back what `used` bytes leave of it, as far as nothing must be copied.
void shrink(host_bytes& bytes, std::size_t used) noexcept;

/// A built structure on the host: relocatable bytes at a multiple of 64, and where their parts stand. Immutable once it
/// is shared.
template <class Layout>
struct owned_structure {
  Layout layout{};
  const std::byte* data = nullptr;          ///< `layout.bytes` of them
  std::shared_ptr<const std::byte> keeper;  ///< owns or maps them; nullptr when they are borrowed

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data, static_cast<std::size_t>(layout.bytes)}; }
};

/// Bytes of the host's memory that kernels of an executor's device read where they lie. They are borrowed.
class mapped_bytes {
 public:
  /// Throws `unsupported` when the backend's kernels cannot, which `who` says, and `out_of_memory`.
  mapped_bytes(const executor& on, std::span<const std::byte> bytes, std::string_view who);
  ~mapped_bytes();
  mapped_bytes(const mapped_bytes&) = delete;
  mapped_bytes& operator=(const mapped_bytes&) = delete;

  /// Where kernels see them.
  [[nodiscard]] const std::byte* data() const noexcept { return seen_; }

 private:
  execution on_;
  const std::byte* seen_;
};

/// A structure and a copy of its bytes in the memory of an executor's device. Copies share both.
template <class Structure>
class device_structure {
 public:
  using value_type = typename Structure::value_type;

  device_structure() = default;
  device_structure(const executor& on, const Structure& structure)
      : device_structure(
            on, structure,
            structure.storage() == nullptr ? std::span<const std::byte>{} : bytes_of(*structure.storage())) {}
  /// With some of its bytes there.
  device_structure(const executor& on, const Structure& structure, std::span<const std::byte> some) : host_(structure) {
    if (structure.storage() == nullptr) return;
    bytes_ = std::make_shared<const array<std::byte>>(on, some);
    (void)bytes_->device();
  }

  /// The structure on the host.
  [[nodiscard]] const Structure& host() const noexcept { return host_; }
  /// Its bytes on the device.
  [[nodiscard]] const std::byte* data() const { return bytes_ ? bytes_->device().data() : nullptr; }

 protected:
  /// Of bytes that are there.
  device_structure(Structure structure, std::shared_ptr<const array<std::byte>> bytes)
      : host_(std::move(structure)), bytes_(std::move(bytes)) {}

 private:
  Structure host_;
  std::shared_ptr<const array<std::byte>> bytes_;
};

}  // namespace zenith::detail
