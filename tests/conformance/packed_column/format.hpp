#pragma once

/// \file
/// Parts of FORMAT.md written once more, from the page and not from the library's code.

#include <cstddef>
#include <cstdint>
#include <span>

#include <packed_forgery.hpp>
#include <values.hpp>

namespace conformance::packed {

using zenith_test::checksum_by_the_page;

/// Writes random bits wherever no value has any: into the padding, between the sections, and in blocks behind the last
/// value. Makes the checksum right again. `column` is a whole column; decoding it must give the same values.
void scribble(std::span<std::byte> column, random_source& random);

}  // namespace conformance::packed
