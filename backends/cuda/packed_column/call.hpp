#pragma once

/// \file
/// What all calls over packed columns share: the launch for a column's encoding.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <backends/cuda/kernels/packed_column/sweep.hpp>
#include <backends/cuda/packed_column/column_on_device.hpp>
#include <backends/cuda/scratch.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Calls function(kind) with the encoding as a constant.
template <class Function>
void with_encoding(encoding kind, const Function& function) {
  const auto call = [&]<encoding Kind>(std::integral_constant<encoding, Kind> constant) { function(constant); };
  switch (kind) {
    case encoding::frame_of_reference: call(std::integral_constant<encoding, encoding::frame_of_reference>{}); break;
    case encoding::delta: call(std::integral_constant<encoding, encoding::delta>{}); break;
    case encoding::null_suppression_fixed:
      call(std::integral_constant<encoding, encoding::null_suppression_fixed>{});
      break;
    case encoding::null_suppression_variable:
      call(std::integral_constant<encoding, encoding::null_suppression_variable>{});
      break;
    case encoding::run_length: call(std::integral_constant<encoding, encoding::run_length>{}); break;
    case encoding::vertical: call(std::integral_constant<encoding, encoding::vertical>{}); break;
    default: call(std::integral_constant<encoding, encoding::plain>{}); break;
  }
}

/// The dynamic shared memory of a block.
template <class Kernel>
constexpr std::size_t shared_bytes_of() {
  if constexpr (requires { Kernel::shared_bytes; }) {
    return Kernel::shared_bytes;
  } else {
    return 0;
  }
}

/// As many blocks as the device holds at once, if there are groups for their warps.
template <class Kernel>
unsigned resident_grid(std::uint64_t groups) {
  const auto resident = static_cast<std::uint64_t>(simt::limits().multiprocessors *
                                                   simt::resident_blocks<Kernel>(shared_bytes_of<Kernel>()));
  return static_cast<unsigned>(std::min((groups + Kernel::warps - 1) / Kernel::warps, resident));
}

/// A visit of values [begin, end), which are some, by as many warps as the device holds at once.
template <class U, class Consumer>
class column_visit {
 public:
  column_visit(const packed_layout& column, std::uint64_t begin, std::uint64_t end)
      : column_(column), begin_(begin), end_(end) {
    const std::uint64_t groups = (end - 1) / packed_group_items - begin / packed_group_items + 1;
    with_encoding(column.kind, [&]<encoding Kind>(std::integral_constant<encoding, Kind>) {
      blocks_ = resident_grid<kernel<Kind>>(groups);
    });
  }

  [[nodiscard]] unsigned blocks() const noexcept { return blocks_; }

  /// `bytes` is where the column's bytes stand on the device.
  void enqueue(const std::byte* bytes, const Consumer& consumer, CUstream_st* stream) const {
    packed_layout column = column_;
    column.bytes = bytes;
    with_encoding(column.kind, [&]<encoding Kind>(std::integral_constant<encoding, Kind>) {
      const simt::launch_shape shape{
          .grid = blocks_, .shared_bytes = shared_bytes_of<kernel<Kind>>(), .stream = stream};
      if constexpr (Consumer::takes_words(Kind)) {
        simt::launch(kernel<Kind>{column, consumer}, shape);
      } else {
        simt::launch(kernel<Kind>{column, begin_, end_, consumer}, shape);
      }
    });
  }

 private:
  // Queries that take words are of whole columns.
  template <encoding Kind>
  using kernel =
      std::conditional_t<Consumer::takes_words(Kind), sweep_column<U, Kind, Consumer>, visit_column<U, Kind, Consumer>>;

  packed_layout column_;
  std::uint64_t begin_;
  std::uint64_t end_;
  unsigned blocks_ = 0;
};

/// Enqueues a visit by a consumer that need not know its blocks.
template <class U, class Consumer>
void enqueue_visit(const packed_layout& column, std::uint64_t begin, std::uint64_t end, const Consumer& consumer,
                   CUstream_st* stream) {
  column_visit<U, Consumer>(column, begin, end).enqueue(column.bytes, consumer, stream);
}

/// The bit that makes the order of a signed type's words that of their values; 0 for others.
template <class U>
U sign_flip(key_type type) {
  return packed::is_signed(type) ? U{1} << (sizeof(U) * 8 - 1) : U{0};
}

inline void report_visit(packed_statistics* to) {
  if (to != nullptr) *to = {"warp tiles", 0};
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
