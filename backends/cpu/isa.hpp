#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include <backends/cpu/isa/packed_table.hpp>
#include <backends/cpu/isa/table.hpp>

namespace zenith::cpu_backend {

/// The instruction sets that this build has, the narrowest first.
[[nodiscard]] std::span<const isa_table* const> built_isas() noexcept;

/// Whether this CPU has the set and the operating system saves its registers.
[[nodiscard]] bool is_usable(const isa_table& isa) noexcept;

/// The table called `name`; an empty name is ZENITH_FORCE_ISA, or the widest usable. Throws `invalid_argument` for a
/// name that is none, `unsupported` for a set that this CPU lacks.
[[nodiscard]] const isa_table& find_isa(std::string_view name);

/// Where a table stands among `built_isas()`.
[[nodiscard]] std::size_t position_of(const isa_table& isa) noexcept;

/// What `name` stands for under the rules of `find_isa`: a table's name, or "avx512bw", which is AVX-512 without VBMI.
[[nodiscard]] std::string isa_name(std::string_view name);

/// Of one thing for each built set, the narrowest first, the one for `find_isa(name)`.
template <class T>
[[nodiscard]] T by_isa(std::string_view name, std::initializer_list<T> each) {
  return each.begin()[position_of(find_isa(name))];
}

/// What the set that `isa_name` returned offers over packed columns.
[[nodiscard]] const packed_table& find_packed(std::string_view name);

}  // namespace zenith::cpu_backend
