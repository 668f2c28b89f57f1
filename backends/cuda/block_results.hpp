#pragma once

/// \file
/// How a call learns what a kernel found: each block stores its share in memory of the host, which adds them up. That
/// takes neither scratch memory that must be cleared nor a copy back.

#include <cstddef>
#include <type_traits>

#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// A `Found` of each of a kernel's blocks. Outlives the kernel: whoever leaves early waits for the stream first.
template <class Found>
class block_results {
  static_assert(std::is_trivially_copyable_v<Found>);

 public:
  explicit block_results(unsigned blocks) : page_(blocks * sizeof(Found)), blocks_(blocks) {}

  /// Where block b writes element b; every block must.
  [[nodiscard]] Found* data() const noexcept { return static_cast<Found*>(page_.get()); }

  /// Once the stream was waited for: `combine` over all, one after the other.
  template <class Combine>
  [[nodiscard]] Found combined(const Combine& combine) const {
    Found all = of(0);
    for (unsigned block = 1; block < blocks_; ++block) all = combine(all, of(block));
    return all;
  }

 private:
  [[nodiscard]] Found of(unsigned block) const {
    Found one;
    page_.read(&one, block * sizeof(Found), sizeof(Found));
    return one;
  }

  simt::host_page page_;
  unsigned blocks_;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
