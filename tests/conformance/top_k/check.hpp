#pragma once

/// \file
/// One call of top_k on one target, held against the reference: results bit by bit, and what must not be touched.

#include <span>
#include <string>

#include <column.hpp>
#include <guarded.hpp>
#include <targets.hpp>

namespace conformance {

enum class index_kind { int32, uint32, int64, uint64 };

struct request {
  std::size_t k = 0;
  zenith::selection select = zenith::selection::largest;
  zenith::ordering order = zenith::ordering::sorted;
  zenith::tie_break ties = zenith::tie_break::lowest_index;
  zenith::nan_policy nans = zenith::nan_policy::last;
  index_kind indices = index_kind::uint64;
  bool on_device = false;  // through device spans
};

[[nodiscard]] std::string describe(const request& asked);

using zenith_test::guarded;

/// The first difference between what was written and the reference; empty when there is none.
template <class T, class Index>
[[nodiscard]] std::string difference(const column<T>& input, const request& asked, std::span<const T> keys,
                                     std::span<const Index> indices);

/// What is wrong with `asked` on `on`; empty when nothing is.
template <class T>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, column<T>& input, const request& asked);

}  // namespace conformance
