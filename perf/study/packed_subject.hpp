#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <perf/study/subject.hpp>
#include <zenith/packed_column.hpp>

namespace zenith_study {

/// Values, and a question for each encoding: some operations over the column, where the executor's memory is. Its facts
/// are "bits_per_value" and "smallest", which is 1 for the encoding that `automatic` takes.
template <zenith::packable T>
[[nodiscard]] std::shared_ptr<input> make_packed_input(std::vector<T> values, std::vector<zenith::encoding> kinds,
                                                       std::vector<std::string_view> operations);

}  // namespace zenith_study
