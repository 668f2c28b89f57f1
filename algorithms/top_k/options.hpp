#pragma once

#include <core/message.hpp>
#include <zenith/top_k.hpp>

namespace zenith::top_k_detail {

/// Refuses values that no enumerator has. Backends would take them for one or another.
inline void check_options(const top_k_options& options) {
  detail::require_known("top_k", "options.select", options.select, selection::smallest);
  detail::require_known("top_k", "options.order", options.order, ordering::any);
  detail::require_known("top_k", "options.ties", options.ties, tie_break::any);
  detail::require_known("top_k", "options.nans", options.nans, nan_policy::reject);
}

}  // namespace zenith::top_k_detail
