#pragma once

#include <cstdint>

/// \file
/// Memory of operator new that runs out when a test says so.

namespace zenith_test::failing_memory {

/// Blocks of operator new that were not deleted, of all threads.
[[nodiscard]] std::int64_t live_blocks();

/// The n-th allocation from now, by whichever thread, throws `std::bad_alloc`; those after it do not.
void fail_at(std::int64_t n);
/// No allocation fails any more. Returns whether the one did that was to fail.
bool stop();

}  // namespace zenith_test::failing_memory
