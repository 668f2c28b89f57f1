#pragma once

/// \file
/// Checks of the arguments of a top-k query by weights. Messages name the argument.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <zenith/error.hpp>
#include <zenith/types.hpp>

namespace zenith::scored_top_k_detail {

[[noreturn]] inline void reject(const std::string& message) {
  throw error(error_code::invalid_argument, "top_k: " + message);
}

struct query_sizes {
  std::string_view given;  ///< the argument that has rows and columns
  std::size_t rows;
  std::size_t columns;
  std::size_t weights;
  std::size_t out_scores;
  std::size_t out_indices;
  int index_bytes;
  bool index_signed;
};

inline void check_sizes(const query_sizes& of) {
  const std::string given{of.given};
  if (of.weights != of.columns) {
    reject("weights has " + std::to_string(of.weights) + " elements and " + given + " " + std::to_string(of.columns) +
           " columns; they must be as many");
  }
  if (of.out_scores != of.out_indices) {
    reject("out_scores has " + std::to_string(of.out_scores) + " elements and out_indices " +
           std::to_string(of.out_indices) + "; both must have k");
  }
  if (of.out_scores > of.rows) {
    reject("k is " + std::to_string(of.out_scores) + ", but " + given + " has only " + std::to_string(of.rows) +
           " rows");
  }
  if (of.index_bytes == 4 && of.rows > 0) {
    const std::uint64_t most =
        of.index_signed ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::uint32_t>::max();
    if (of.rows - 1 > most) {
      reject(given + " has " + std::to_string(of.rows) +
             " rows, more than out_indices of 32 bits can tell apart; use 64-bit indices");
    }
  }
}

/// The columns that have a weight, and the weights in both widths.
struct weighted_columns {
  std::vector<std::uint32_t> columns;
  std::vector<float> floats;
  std::vector<double> doubles;

  weighted_columns(std::string_view given, key_type score_type, const void* weights, std::size_t count,
                   std::size_t most) {
    for (std::size_t j = 0; j < count; ++j) {
      const double weight = score_type == key_type::float32 ? double{static_cast<const float*>(weights)[j]}
                                                            : static_cast<const double*>(weights)[j];
      if (!std::isfinite(weight)) {
        reject("weights[" + std::to_string(j) + "] is " + (std::isnan(weight) ? "NaN" : "infinite") +
               "; a weight must be a number");
      }
      if (weight == 0) continue;
      columns.push_back(static_cast<std::uint32_t>(j));
      floats.push_back(static_cast<float>(weight));
      doubles.push_back(weight);
    }
    if (columns.empty()) {
      reject(count == 0 ? std::string{given} + " has no column" : "weights has only zeros; at least one must not be 0");
    }
    if (columns.size() > most) {
      reject("weights has " + std::to_string(columns.size()) + " elements that are not 0; the most is " +
             std::to_string(most));
    }
  }

  [[nodiscard]] const void* weights(key_type score_type) const {
    return score_type == key_type::float32 ? static_cast<const void*>(floats.data())
                                           : static_cast<const void*>(doubles.data());
  }
};

}  // namespace zenith::scored_top_k_detail
