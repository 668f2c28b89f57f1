#pragma once

/// \file
/// Where each group's share of the sections of a column begins.

#include <algorithms/packed_column/encode.hpp>
#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

struct group_places {
  const std::uint64_t* payload;  ///< nullptr: where it must, its number says
  const std::uint64_t* patch;    ///< nullptr: there are none

  [[nodiscard]] ZENITH_DEVICE packed::group_place of(std::uint64_t group) const {
    return {payload == nullptr ? 0 : simt::load(payload + group), patch == nullptr ? 0 : simt::load(patch + group)};
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
