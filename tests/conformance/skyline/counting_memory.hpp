#pragma once

#include <algorithm>
#include <cstddef>
#include <memory_resource>

namespace conformance::skyline {

/// Counts what is allocated.
class counting_memory : public std::pmr::memory_resource {
 public:
  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] std::size_t now() const { return now_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    now_ += bytes;
    most_ = std::max(most_, now_);
    return from_->allocate(bytes, alignment);
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
    now_ -= bytes;
    from_->deallocate(at, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::memory_resource* from_ = std::pmr::new_delete_resource();
  std::size_t now_ = 0;
  std::size_t most_ = 0;
};

}  // namespace conformance::skyline
