#include <zenith/columns.hpp>

#include <string>

namespace zenith::detail {

void reject_column(std::size_t column, std::size_t length, std::size_t expected) {
  throw error(error_code::invalid_argument, "column_set: column " + std::to_string(column) + " has " +
                                                std::to_string(length) + " rows, the columns before it have " +
                                                std::to_string(expected));
}

}  // namespace zenith::detail
