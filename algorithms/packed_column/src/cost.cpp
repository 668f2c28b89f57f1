#include <zenith/packed_column.hpp>

namespace zenith {

// One pass over the packed bytes beside the results, whichever is slower: memory, or decoding.
cost packed_cost(const packed_problem& problem, const device_profile& on) {
  const auto n = static_cast<double>(problem.count);
  const double packed_bytes = n * problem.bits_per_value / 8;
  const double plain_bytes = n * static_cast<double>(size_of(problem.type));
  traffic moved{static_cast<std::uint64_t>(packed_bytes), packed_bytes, 0};
  if (problem.operation == unpack_call::operation) moved.written = plain_bytes;
  if (problem.operation == packed_select_call::operation) moved.written = n / 8;
  moved.working_set += static_cast<std::uint64_t>(moved.written);
  cost found;
  found.phases.push_back({"tiles", {moved}, {{"packed.decode", n, 0.05e-9}}, 1, 0});
  if (problem.space == memory_space::host && on.host_to_device > 0) {
    found.to_device_bytes = packed_bytes;
    found.to_host_bytes = moved.written;
  }
  return found;
}

}  // namespace zenith
