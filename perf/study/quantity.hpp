#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// Numbers as people write them on a command line, and as they like to read them.

namespace zenith_study {

/// "65536", "2^26", "1e6", "64M", "1.5G", "64Mi": k, M, G are powers of 1000, Ki, Mi, Gi of 1024. Throws
/// `invalid_argument` that names `what` for anything else, for fractions and for more than 2^63 - 1.
[[nodiscard]] std::uint64_t parse_count(std::string_view what, std::string_view text);

/// "1,16,1024" or "1..1024", which doubles from its first number and ends with its last; sorted, without repetitions.
[[nodiscard]] std::vector<std::uint64_t> parse_counts(std::string_view what, std::string_view text);

/// What stands between commas; a part may be empty.
[[nodiscard]] std::vector<std::string_view> split_at_commas(std::string_view text);
/// "336,776".
[[nodiscard]] std::string with_commas(std::uint64_t value);
/// Three digits and a unit that fits: "10.3 ms".
[[nodiscard]] std::string format_seconds(double seconds);
/// "256 MiB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace zenith_study
