#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zenith_study {

/// A value of the small part of Python's syntax that .npy headers are written in.
struct python_literal {
  enum class kind : unsigned char { text, number, truth, sequence, dictionary };
  kind what = kind::number;
  std::string text;
  std::uint64_t number = 0;           ///< a truth value is 0 or 1
  std::vector<python_literal> items;  ///< of a list or tuple; of a dictionary, keys and values in turn

  /// The value of a dictionary's entry, nullptr when there is none.
  [[nodiscard]] const python_literal* find(std::string_view key) const;
};

/// Throws `corrupt_data` for anything that is not one value of strings, whole numbers, True, False, tuples, lists and
/// dictionaries, at most eight deep.
[[nodiscard]] python_literal parse_python_literal(std::string_view text);

}  // namespace zenith_study
