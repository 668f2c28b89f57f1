#pragma once

/// \file
/// Values, how they are to be packed, and what the reference packed them into.

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <column.hpp>
#include <format.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>

namespace conformance::packed {

/// One way to pack.
struct manner {
  zenith::encoding kind = zenith::encoding::automatic;
  int lanes = 4;
  bool patches = true;

  [[nodiscard]] zenith::pack_options options(zenith::packed_statistics* statistics = nullptr) const {
    return {.lanes = lanes, .patches = patches, .statistics = statistics};
  }
};

inline constexpr manner every_manner[] = {
    {zenith::encoding::plain},
    {zenith::encoding::frame_of_reference},
    {zenith::encoding::frame_of_reference, 4, false},
    {zenith::encoding::delta},
    {zenith::encoding::delta, 4, false},
    {zenith::encoding::null_suppression_fixed},
    {zenith::encoding::null_suppression_variable},
    {zenith::encoding::run_length},
    {zenith::encoding::vertical, 4},
    {zenith::encoding::vertical, 8},
    {zenith::encoding::vertical, 16},
    {zenith::encoding::automatic, 16},
};

[[nodiscard]] std::string describe(const manner& one);

/// The packed bytes stand at a chosen offset in an allocation that ends with their last, so that the address sanitizer
/// sees a read past them; the same holds for the values.
template <class T>
class sample {
 public:
  /// With `scribbles`, random bits stand where no value has any: see `scribble`.
  sample(std::string name, const std::vector<T>& values, const manner& packed_as, std::size_t offset,
         random_source* scribbles = nullptr)
      : plain_(std::move(name), values, offset % 4),
        manner_(packed_as),
        offset_(offset),
        is_scribbled_(scribbles != nullptr),
        bytes_(bytes_of(values, packed_as, offset)) {
    if (is_scribbled_) scribble(std::span<std::byte>(bytes_).subspan(offset_), *scribbles);
    pristine_ = bytes_;
    view_ = zenith::packed_view<T>::parse(std::span<const std::byte>(bytes_).subspan(offset_));
  }

  /// Bytes that no encoder made, and the values that they are. Throws what `parse` throws.
  sample(std::string name, std::span<const std::byte> packed, std::size_t offset)
      : sample(std::move(name), decoded(packed), packed, offset) {}

  [[nodiscard]] const column<T>& plain() const { return plain_; }
  [[nodiscard]] std::span<const T> values() const { return plain_.keys(); }
  [[nodiscard]] const manner& packed_as() const { return manner_; }
  [[nodiscard]] const zenith::packed_view<T>& view() const { return view_; }
  /// Then the bytes are not those that packing gives.
  [[nodiscard]] bool is_scribbled() const { return is_scribbled_; }
  [[nodiscard]] std::string describe() const;

  /// Whether no one has written to values or bytes.
  [[nodiscard]] bool is_untouched() const { return plain_.is_untouched() && bytes_ == pristine_; }
  void restore() {
    plain_.restore();
    std::ranges::copy(pristine_, bytes_.begin());
  }

 private:
  sample(std::string name, const std::vector<T>& values, std::span<const std::byte> packed, std::size_t offset)
      : plain_(std::move(name), values, offset % 4),
        offset_(offset),
        is_scribbled_(true),
        bytes_(offset + packed.size()) {
    std::ranges::copy(packed, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    pristine_ = bytes_;
    view_ = zenith::packed_view<T>::parse(std::span<const std::byte>(bytes_).subspan(offset_));
    manner_.kind = view_.encoding();
  }

  // by the plain decoder, which defines what the bytes mean
  static std::vector<T> decoded(std::span<const std::byte> packed) {
    constexpr std::uint64_t most = 1 << 20;
    const auto view = zenith::packed_view<T>::parse(packed);
    if (view.size() > most) throw zenith::error(zenith::error_code::corrupt_data, "too long for a test");
    std::vector<T> values(view.size());
    for (std::uint64_t block = 0; block < view.layout().blocks(); ++block) {
      std::make_unsigned_t<T> out[zenith::packed_block_items];
      const unsigned items = zenith::packed::unpack_block(view.layout(), block, out);
      for (unsigned i = 0; i < items; ++i) values[block * zenith::packed_block_items + i] = static_cast<T>(out[i]);
    }
    return values;
  }

  static std::vector<std::byte> bytes_of(const std::vector<T>& values, const manner& as, std::size_t offset) {
    const auto packed = zenith::pack(zenith::reference(), values, as.kind, as.options());
    std::vector<std::byte> all(offset + packed.bytes().size());
    std::ranges::copy(packed.bytes(), all.begin() + static_cast<std::ptrdiff_t>(offset));
    return all;
  }

  column<T> plain_;
  manner manner_;
  std::size_t offset_;
  bool is_scribbled_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> pristine_;
  zenith::packed_view<T> view_;
};

}  // namespace conformance::packed
