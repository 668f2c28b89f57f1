#include <zenith/array.hpp>

#include <cstring>
#include <limits>
#include <memory_resource>
#include <new>
#include <string>

#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

constexpr std::size_t alignment = 64;

// Host arrays come from new: an executor's memory resource is for scratch.
void* allocate_host(std::size_t bytes) {
  void* pointer = ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
  if (pointer == nullptr) {
    throw error(error_code::out_of_memory,
                "array: " + std::to_string(bytes) + " bytes of host memory are not to be had");
  }
  return pointer;
}

}  // namespace

raw_array::raw_array(const executor& on, std::size_t bytes) : on_(on.settings()), bytes_(bytes) {
  if (on_.target != nullptr) space_ = on_.target->memory;
  if (bytes == 0) return;
  data_ = space_ == memory_space::host ? allocate_host(bytes) : on_.target->allocate(on_, bytes);
}

raw_array::raw_array(raw_array&& other) noexcept
    : on_(std::move(other.on_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      space_(other.space_) {}

raw_array& raw_array::operator=(raw_array&& other) noexcept {
  std::swap(on_, other.on_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(space_, other.space_);
  return *this;
}

raw_array::~raw_array() {
  if (data_ == nullptr) return;
  if (space_ == memory_space::host) {
    ::operator delete (data_, std::align_val_t{alignment});
  } else {
    on_.target->deallocate(on_, data_, bytes_);
  }
}

bool raw_array::is_of(const execution& on) const noexcept {
  return on_.target == on.target && on_.device == on.device && on_.stream == on.stream && on_.memory == on.memory;
}

void raw_array::require(memory_space space) const {
  if (space_ == space) return;
  throw error(error_code::invalid_argument,
              space == memory_space::host
                  ? "array: host() of an array in device memory; use copy_to or device()"
                  : "array: device() of an array in host memory; use host(), or an executor of a device");
}

void raw_array::write(const void* from) {
  if (bytes_ == 0) return;
  if (space_ == memory_space::host) {
    std::memcpy(data_, from, bytes_);
  } else {
    on_.target->copy(on_, data_, memory_space::device, from, memory_space::host, bytes_);
    on_.target->synchronize(on_);
  }
}

void raw_array::read(void* to, std::size_t bytes) const {
  if (bytes == 0) return;
  if (space_ == memory_space::host) {
    std::memcpy(to, data_, bytes);
  } else {
    on_.target->copy(on_, to, memory_space::host, data_, memory_space::device, bytes);
    on_.target->synchronize(on_);
  }
}

std::size_t bytes_of(std::size_t count, std::size_t element) {
  if (count <= std::numeric_limits<std::size_t>::max() / element) return count * element;
  throw error(error_code::out_of_memory, "array: " + std::to_string(count) + " elements of " + std::to_string(element) +
                                             " bytes are more than any memory holds");
}

void require_same_length(std::string_view argument, std::size_t has, std::string_view other, std::size_t needs) {
  if (has == needs) return;
  throw error(error_code::invalid_argument, std::string{argument} + " has " + std::to_string(has) + " elements, " +
                                                std::string{other} + " has " + std::to_string(needs));
}

}  // namespace zenith::detail
