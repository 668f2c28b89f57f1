#pragma once

#include <cstdint>

#include <tests/simt/engine/kernel_words.hpp>

namespace zenith::simt_engine {

/// Runs `body(seed)` for `count` seeds from the one in force on, which ZENITH_SIMT_SEED sets, and puts that one back.
template <class Body>
void with_seeds(unsigned count, const Body& body) {
  struct restore {
    std::uint64_t first = seed();
    ~restore() { set_seed(first); }
  } const kept;
  for (unsigned i = 0; i < count; ++i) {
    set_seed(kept.first + i);
    body(kept.first + i);
  }
}

}  // namespace zenith::simt_engine
