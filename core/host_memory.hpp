#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <zenith/structure.hpp>

namespace zenith::detail {

/// `bytes` bytes of any content at a multiple of 64. Throws out_of_memory, in the words of `who`. Large ones come from
/// the system, which clears pages when they are first touched, by whichever thread that is, and are asked for as huge
/// pages: a pass over fresh 4 KB pages is a fault every 4 KB.
[[nodiscard]] host_bytes host_memory(std::uint64_t bytes, std::string_view who);

/// Memory of its own for a structure whose layout is there.
template <class Layout>
std::byte* allocate(owned_structure<Layout>& to, std::string_view who) {
  auto memory = host_memory(to.layout.bytes, who).data;
  std::byte* const data = memory.get();
  to.data = data;
  to.keeper = std::shared_ptr<std::byte>(memory.release(), memory.get_deleter());
  return data;
}

/// Memory for what may take anything up to `most` bytes, or none where that would cost more than address space.
[[nodiscard]] host_bytes address_space(std::uint64_t most) noexcept;

/// Has the system clear the fresh pages of [from, from + bytes) now, as far as it offers that. Changes no content.
void touch(std::byte* from, std::uint64_t bytes) noexcept;

}  // namespace zenith::detail
