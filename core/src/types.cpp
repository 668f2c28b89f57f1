#include <zenith/types.hpp>

namespace zenith {

std::string_view to_string(key_type type) noexcept {
  switch (type) {
    case key_type::float32: return "float32";
    case key_type::float64: return "float64";
    case key_type::int32: return "int32";
    case key_type::uint32: return "uint32";
    case key_type::int64: return "int64";
    case key_type::uint64: return "uint64";
  }
  return "unknown";
}

}  // namespace zenith
