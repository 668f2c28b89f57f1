#pragma once

#include <backends/cuda/simt/vocabulary.hpp>

#include <catch.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include <tests/simt/emulation/with_seeds.hpp>
#include <tests/simt/engine/fault.hpp>

namespace simt_test {

namespace simt = zenith::simt;
using zenith::simt_engine::fault;
using zenith::simt_engine::fault_kind;
using zenith::simt_engine::with_seeds;

/// A kernel of a lambda that captures values only.
template <unsigned Block, class Body>
struct kernel_of {
  static constexpr unsigned block_size = Block;
  Body body;
  void operator()() const { body(); }
};

template <unsigned Block, class Body>
void launch(unsigned grid, const Body& body, std::size_t shared_bytes = 0) {
  simt::launch(kernel_of<Block, Body>{body}, {.grid = grid, .shared_bytes = shared_bytes});
}

/// Device memory for a scope.
template <class T>
class buffer {
 public:
  explicit buffer(std::size_t count)
      : data_(static_cast<T*>(simt::allocate(count * sizeof(T), nullptr))), count_(count) {}
  explicit buffer(const std::vector<T>& values) : buffer(values.size()) {
    simt::copy(data_, values.data(), count_ * sizeof(T), nullptr);
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { simt::deallocate(data_, count_ * sizeof(T), nullptr); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> host(count_);
    simt::copy(host.data(), data_, count_ * sizeof(T), nullptr);
    return host;
  }

 private:
  T* data_;
  std::size_t count_;
};

/// The fault that `body` ends in, none when it ends well.
template <class Body>
std::optional<fault> fault_of(const Body& body) {
  try {
    body();
    return std::nullopt;
  } catch (const fault& found) {
    return found;
  }
}

/// What every thread of a block computes, by thread.
template <class T, unsigned Block = 32, class Function>
std::vector<T> by_thread(const Function& function) {
  const buffer<T> out(Block);
  T* const to = out.data();
  launch<Block>(1, [=] { simt::store(to + simt::thread_index(), function()); });
  return out.values();
}

}  // namespace simt_test
