#pragma once

/// \file
/// A call of "pack" or "pack_on_device": every group is measured, placed and written on the device. The host learns the
/// sizes of the whole, for which it waits once, and chooses the encoding.

#include <algorithm>
#include <optional>

#include <algorithms/packed_column/layout.hpp>
#include <backends/cuda/kernels/packed_column/pack.hpp>
#include <backends/cuda/kernels/packed_column/pack_checksum.hpp>
#include <backends/cuda/kernels/packed_column/pack_measure.hpp>
#include <backends/cuda/kernels/packed_column/pack_values.hpp>
#include <backends/cuda/packed_column/call.hpp>
#include <backends/cuda/primitives/library.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// One call whose values lie on the device.
template <class U>
class packing_on_device {
 public:
  packing_on_device(const execution& on, const pack_call& call, const U* values, CUstream_st* stream)
      : on_(on),
        call_(call),
        with_{values, call.count, packed::is_signed(call.type), call.patches, static_cast<unsigned>(call.lanes)},
        stream_(stream),
        workspace_(on, stream) {
    packed_layout shape;
    shape.count = call.count;
    groups_ = shape.groups();
    workspace_.request(sizes_, is_measured() ? groups_ : 0);
    workspace_.request(payload_, is_measured() ? groups_ + 1 : 0);
    workspace_.request(patch_, is_measured() ? groups_ + 1 : 0);
    workspace_.request(total_, 1);
    workspace_.request(sums_, 1);
    workspace_.allocate();
  }

  /// Where everything will stand. Waits for the sizes of the whole, where they depend on the values.
  [[nodiscard]] packed_layout measure() {
    column_sizes total{};
    total.groups.fixed_bytes = 1;
    if (is_measured()) {
      simt::fill_zero(total_, sizeof(column_sizes), stream_);
      switch (call_.kind) {
        case encoding::frame_of_reference: launch_measure<encoding::frame_of_reference>(); break;
        case encoding::delta: launch_measure<encoding::delta>(); break;
        case encoding::null_suppression_fixed: launch_measure<encoding::null_suppression_fixed>(); break;
        case encoding::null_suppression_variable: launch_measure<encoding::null_suppression_variable>(); break;
        case encoding::run_length: launch_measure<encoding::run_length>(); break;
        case encoding::vertical: launch_measure<encoding::vertical>(); break;
        default: launch_measure<encoding::automatic>();
      }
      simt::copy(&total, total_, sizeof(column_sizes), stream_);
      simt::synchronize(stream_);
    }
    auto made =
        *packed::lay_out(packed::choose(call_.type, call_.count, call_.kind, call_.patches, call_.lanes, total.groups));
    if (made.kind == encoding::frame_of_reference && groups_ > 0) {
      const unsigned patched = made.patches > 0 ? 1 : 0;
      const std::uint64_t widest = total.widest[patched];
      if (widest == ~total.narrowest[patched]) made.one_width = static_cast<std::uint8_t>(widest);
    }
    return made;
  }

  /// Enqueues every byte of the column but the header's, and the sums of its checksum.
  void write(const packed_layout& made, std::byte* bytes) {
    if (groups_ > 0) write_sections(made, bytes);
    simt::launch(clear_gaps{packed::padding_of(made), bytes}, {.stream = stream_});
    simt::fill_zero(sums_, sizeof(digest_sums), stream_);
    const std::uint64_t rows = made.total_bytes / packed_alignment;
    constexpr std::uint64_t rows_of_block = digest_rows::block_size * 2 / digest_sums::lanes;
    simt::launch(digest_rows{bytes, rows_of_header, rows, sums_},
                 {.grid = resident_grid_of<digest_rows>(rows / rows_of_block + 1), .stream = stream_});
  }

  /// Enqueues the header.
  void seal(const packed_layout& made, std::byte* bytes) const {
    simt::launch(write_header{packed::header_of(made), made.total_bytes / packed_alignment, sums_, bytes},
                 {.stream = stream_});
  }

  /// The sums, once the stream is waited for.
  void enqueue_sums(digest_sums& to) const { simt::copy(&to, sums_, sizeof(digest_sums), stream_); }
  [[nodiscard]] static packed_digest digest_of(const digest_sums& sums) {
    packed_digest digest;
    digest.first_row = rows_of_header;
    for (unsigned i = 0; i < digest_sums::lanes; ++i) {
      digest.sum[i] = sums.sum[i];
      digest.weighted[i] = 0 - sums.of_rows[i];
    }
    return digest;
  }

 private:
  static constexpr std::uint64_t rows_of_header = sizeof(packed_header) / packed_alignment;

  /// What takes the same whatever the values are need not be measured.
  [[nodiscard]] bool is_measured() const { return groups_ > 0 && call_.kind != encoding::plain; }

  template <class Kernel>
  [[nodiscard]] static unsigned resident_grid_of(std::uint64_t blocks) {
    const int resident = simt::limits().multiprocessors * simt::resident_blocks<Kernel>();
    return static_cast<unsigned>(std::min<std::uint64_t>(static_cast<std::uint64_t>(resident), blocks));
  }
  [[nodiscard]] simt::launch_shape grid_of(unsigned groups_of_block) const {
    return {.grid = static_cast<unsigned>((groups_ + groups_of_block - 1) / groups_of_block), .stream = stream_};
  }

  template <encoding Asked>
  void launch_measure() const {
    using kernel = measure_column<U, Asked>;
    simt::launch(kernel{with_, groups_, sizes_, total_},
                 {.grid = resident_grid_of<kernel>((groups_ + kernel::warps - 1) / kernel::warps), .stream = stream_});
  }

  void write_sections(const packed_layout& made, std::byte* bytes) {
    if (made.kind == encoding::plain) {
      simt::copy(bytes + made.payload_at, with_.values, call_.count * sizeof(U), stream_);
      return;
    }
    if (made.kind == encoding::null_suppression_fixed) {
      const auto blocks = write_fixed<U>::blocks(call_.count, made.parameter);
      simt::launch(write_fixed<U>{with_, made.parameter, bytes + made.payload_at},
                   {.grid = static_cast<unsigned>(blocks), .stream = stream_});
      return;
    }
    const bool patched = made.patches > 0;
    simt::launch(take_sizes{sizes_, groups_, made.kind, patched, payload_, patch_}, grid_of(take_sizes::block_size));
    call_memory memory(on_);
    library::exclusive_scan(memory, payload_, groups_, payload_);
    if (patched) library::exclusive_scan(memory, patch_, groups_, patch_);
    const group_places places{payload_, patched ? patch_ : nullptr};
    switch (made.kind) {
      case encoding::run_length: launch_groups<write_runs<U>>(made, bytes, places); break;
      case encoding::null_suppression_variable:
        launch_groups<write_variable<U>>(made, bytes, places, write_variable<U>::shared_bytes);
        break;
      case encoding::vertical:
        launch_groups<write_blocks<U, true>>(made, bytes, places, write_blocks<U, true>::shared_bytes);
        break;
      default: launch_groups<write_blocks<U, false>>(made, bytes, places, write_blocks<U, false>::shared_bytes);
    }
  }

  /// A warp a group.
  template <class Kernel>
  void launch_groups(const packed_layout& made, std::byte* bytes, const group_places& places,
                     unsigned shared_bytes = 0) const {
    auto shape = grid_of(Kernel::warps);
    shape.shared_bytes = shared_bytes;
    simt::launch(Kernel{with_, groups_, made, bytes, places}, shape);
  }

  const execution& on_;
  const pack_call& call_;
  packed::encoder<U> with_;
  CUstream_st* stream_;
  scratch workspace_;
  std::uint64_t groups_ = 0;
  packed::group_sizes* sizes_ = nullptr;
  std::uint64_t* payload_ = nullptr;
  std::uint64_t* patch_ = nullptr;
  column_sizes* total_ = nullptr;
  digest_sums* sums_ = nullptr;
};

/// `column_space` says where the column is to lie.
template <class U>
void run_pack(const execution& on, const pack_call& call, memory_space column_space) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  scratch workspace(on, stream);
  U* copied = nullptr;
  const bool is_on_host = call.space == memory_space::host;
  if (is_on_host) workspace.request(copied, call.count);
  workspace.allocate();
  const auto* const values = is_on_host ? copied : static_cast<const U*>(call.values);
  packing_on_device<U> packing(on, call, values, stream);
  std::optional<settled_at_end> wait;
  if (is_on_host || column_space == memory_space::host) wait.emplace(stream);
  if (is_on_host && call.count > 0) simt::copy(copied, call.values, call.count * sizeof(U), stream);

  packed_layout made = packing.measure();
  if (column_space == memory_space::device) {
    std::byte* const out = call.allocate(call.context, made.total_bytes);
    packing.write(made, out);
    packing.seal(made, out);
    made.bytes = out;
  } else {
    scratch column(on, stream);
    std::byte* bytes = nullptr;
    column.request(bytes, made.total_bytes);
    column.allocate();
    packing.write(made, bytes);
    digest_sums sums{};
    packing.enqueue_sums(sums);
    simt::synchronize(stream);
    std::byte* const out = call.allocate(call.context, made.total_bytes);
    // the header is the caller's work
    simt::copy(out + sizeof(packed_header), bytes + sizeof(packed_header), made.total_bytes - sizeof(packed_header),
               stream);
    simt::synchronize(stream);
    made.bytes = out;
    if (call.digest != nullptr) *call.digest = packing.digest_of(sums);
  }
  *call.result = made;
  if (call.statistics != nullptr) {
    *call.statistics = {"a warp a group", 0};
  }
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM
