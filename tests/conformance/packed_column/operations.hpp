#pragma once

/// \file
/// Every operation over one packed column on one target, held against the plain values: results bit by bit, and what
/// must not be touched.

#include <string>
#include <string_view>

#include <sample.hpp>
#include <targets.hpp>
#include <values.hpp>

namespace conformance::packed {

/// The operations as backends name them.
inline constexpr std::string_view every_operation[] = {"pack",          "unpack",      "packed_sum", "packed_extremes",
                                                       "packed_select", "packed_top_k"};

enum class placement {
  host,           // of column and outputs
  device_column,  // with outputs on the host
  device          // of column and outputs
};

/// What is wrong with the operations that `on` offers, a line each; empty when nothing is. Ranges, bounds and options
/// are drawn.
template <class T>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, sample<T>& data, placement where,
                                   random_source& random);

/// The name of the strategy of an operation over packed columns that the target's backend has; empty for none.
[[nodiscard]] std::string_view strategy_of(const zenith_test::target& on, std::string_view operation);

/// Whether it has the operation.
[[nodiscard]] inline bool offers(const zenith_test::target& on, std::string_view operation) {
  return !strategy_of(on, operation).empty();
}

}  // namespace conformance::packed
