#pragma once

/// \file
/// Copies between pageable host memory and a device. The driver copies such memory on one thread of the host, at 8 to
/// 9 GB/s on a link of 55. Here several threads copy it piece by piece through pinned buffers, each beside the
/// transfers of its last two pieces.

#include <cstddef>
#include <cstdint>
#include <span>

#include <core/device/pieces.hpp>

struct CUstream_st;

namespace zenith::cuda_backend {

/// Whether a copy of `bytes` bytes between these places gains from staging: it is long, and one side is pageable memory
/// of the host and the other memory of a device.
[[nodiscard]] bool gains_from_staging(const void* to, const void* from, std::size_t bytes);

/// Enqueues the copy on `stream` once the host's bytes were read. To the host it returns when they are there.
/// Throws device_failure; where no memory can be pinned it is the driver's copy.
void copy_staged(void* to, const void* from, std::size_t bytes, CUstream_st* stream);

/// Enqueues the pieces of `length` items of arrays in the host's memory that begin at `begins`, once the host's bytes
/// were read: threads gather them in pinned buffers. Throws device_failure, out_of_memory.
void copy_pieces_staged(std::span<const device::fetched_array> arrays, std::span<const std::uint32_t> begins,
                        std::uint64_t length, CUstream_st* stream);

}  // namespace zenith::cuda_backend
