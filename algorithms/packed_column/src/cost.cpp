#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <algorithms/top_k/filter_cost.hpp>
#include <zenith/packed_column.hpp>

namespace zenith {
namespace {

constexpr std::array operations{pack_call::operation,          unpack_call::operation,
                                packed_sum_call::operation,    packed_extremes_call::operation,
                                packed_select_call::operation, packed_top_k_call::operation,
                                device_pack_call::operation};
constexpr std::size_t encodings = static_cast<std::size_t>(encoding::automatic) + 1;

// Seconds of a core near 3 GHz, or of a multiprocessor, for one 32-bit value of each encoding, in order of their
// numbers; the last stands for the measuring of all of them.
struct estimates {
  std::array<double, encodings> decode;
  std::array<double, encodings> pack;
};
constexpr estimates of_a_core{{0.02e-9, 0.03e-9, 0.2e-9, 0.11e-9, 1e-9, 0.45e-9, 0.5e-9, 0.07e-9},
                              {0.15e-9, 0.35e-9, 0.7e-9, 2.5e-9, 5.5e-9, 2e-9, 4e-9, 10e-9}};
constexpr estimates of_a_multiprocessor{{0.03e-9, 0.03e-9, 0.04e-9, 0.03e-9, 0.2e-9, 0.2e-9, 0.06e-9, 0.06e-9},
                                        {0.1e-9, 0.5e-9, 0.5e-9, 0.2e-9, 1e-9, 1e-9, 1e-9, 3e-9}};

// How many times as long a 64-bit value takes a core.
constexpr estimates times_for_wide{{1.8, 1.8, 1.8, 1.4, 1, 1.1, 1.2, 1.8}, {1.8, 1.8, 1.8, 1.4, 1.1, 1, 1.1, 1.3}};

// One value alone, as a sample reads it: of deltas and words of any length its block, and among runs it searches.
constexpr std::array<double, encodings> lone_value{0, 8e-9, 50e-9, 2e-9, 110e-9, 60e-9, 12e-9, 8e-9};

std::size_t place_of(std::string_view operation) {
  return static_cast<std::size_t>(std::ranges::find(operations, operation) - operations.begin());
}

// "packed_sum.delta/4": names of static storage, as the profile's rates are looked up by.
std::string_view rate_of(std::string_view operation, encoding kind, std::size_t width) {
  static const auto names = [] {
    std::array<std::array<std::array<std::string, 2>, encodings>, operations.size()> all;
    for (std::size_t o = 0; o < operations.size(); ++o) {
      for (std::size_t e = 0; e < encodings; ++e) {
        for (const std::size_t wide : {0, 1}) {
          all[o][e][wide] = std::string{operations[o]} + "." + std::string{to_string(static_cast<encoding>(e))} +
                            (wide == 1 ? "/8" : "/4");
        }
      }
    }
    return all;
  }();
  return names[std::min(place_of(operation), operations.size() - 1)][static_cast<std::size_t>(kind)]
              [width == 8 ? 1 : 0];
}

// How often packing reads the plain values: to measure and to write them, where a group is not still in a core's cache
// when it is written, and once where there is nothing to measure.
int pack_reads(encoding kind, const device_profile& on) {
  if (kind == encoding::plain) return 1;
  const bool in_one_pass = kind == encoding::frame_of_reference || kind == encoding::delta;
  return in_one_pass && on.kind == device_kind::cpu ? 1 : 2;
}

// A host's top-k is the filter over values that are decoded.
cost host_top_k_cost(const packed_problem& problem, double decode, const device_profile& on) {
  const auto n = static_cast<double>(problem.count);
  const std::size_t width = size_of(problem.type);
  auto found = top_k_detail::filter_cost({problem.count, problem.k, problem.type, ordering::sorted, problem.space}, on);
  for (auto& one : found.phases) {
    if (one.name == "sample") {
      const double samples = one.operations.front().count;
      one.operations.push_back({"packed_top_k.sample", samples, lone_value[static_cast<std::size_t>(problem.kind)]});
    } else if (one.name == "scan") {
      const double bytes = n * problem.bits_per_value / 8;
      auto& moved = one.memory.front();
      moved = {std::min(moved.working_set, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes))), bytes, 0};
      one.operations.push_back({rate_of(problem.operation, problem.kind, width), n, decode});
    }
  }
  return found;
}

}  // namespace

// One pass over the packed bytes beside its results: the slower of memory and decoding. A device's top-k is that pass
// and the sorting of the k best; section 5.6 of the thesis has no model for it.
cost packed_cost(const packed_problem& problem, const device_profile& on) {
  const auto n = static_cast<double>(problem.count);
  const auto k = static_cast<double>(problem.k);
  const std::size_t width = size_of(problem.type);
  const double packed_bytes = n * problem.bits_per_value / 8;
  const double plain_bytes = n * static_cast<double>(width);
  const bool stays = problem.operation == device_pack_call::operation;
  const bool is_pack = problem.operation == pack_call::operation || stays;
  const auto& typical = on.kind == device_kind::gpu ? of_a_multiprocessor : of_a_core;
  const auto kind = static_cast<std::size_t>(problem.kind);

  traffic moved;
  moved.read = is_pack ? pack_reads(problem.kind, on) * plain_bytes : packed_bytes;
  if (is_pack) moved.written = packed_bytes;
  if (problem.operation == unpack_call::operation) moved.written = plain_bytes;
  if (problem.operation == packed_select_call::operation) moved.written = n / 8;
  if (problem.operation == packed_top_k_call::operation) moved.written = k * static_cast<double>(width + 8);
  moved.working_set = static_cast<std::uint64_t>((is_pack ? plain_bytes : packed_bytes) + moved.written);

  const double wider =
      on.kind == device_kind::gpu ? 1.8 : (is_pack ? times_for_wide.pack : times_for_wide.decode)[kind];
  double estimate = (is_pack ? typical.pack : typical.decode)[kind] * (width == 8 ? wider : 1);
  if (!is_pack && problem.kind == encoding::run_length && on.kind == device_kind::cpu) {
    // A run is a value and its end. One that is longer than a register ends a loop where no branch predicts it.
    const double runs = std::min(1.0, problem.bits_per_value / (8 * static_cast<double>(width) + 32));
    estimate = 0.1e-9 + runs * (1.6e-9 + 12e-9 * std::exp(-16 * runs));
  }
  if (problem.operation == packed_top_k_call::operation && on.kind == device_kind::cpu) {
    return host_top_k_cost(problem, estimate, on);
  }
  // decoding a value is worth as many workers as reading two bytes are; where it is written, that takes longer
  const bool only_decodes = !is_pack && problem.operation != unpack_call::operation;
  const double worth = moved.read + moved.written + (only_decodes ? 2 * n : 0);
  const int cores = on.kind == device_kind::gpu ? 0 : cores_for(worth, on);
  // what a host unpacks goes past its caches where it does not fit: no line is read before it is written
  constexpr double past_caches = 64 << 20;
  if (on.kind == device_kind::cpu && problem.operation == unpack_call::operation && plain_bytes > past_caches) {
    moved.written /= 2;
  }
  cost found;
  // packing makes a column: an allocation, and pages that the system hands out one after the other
  if (is_pack) {
    constexpr double kept_bytes = 128 << 10;  // what allocators hand out again and again
    constexpr double page_bytes = 4096;
    double pages = on.kind == device_kind::cpu ? std::max(0.0, packed_bytes - kept_bytes) / page_bytes : 0;
    // where a group is packed in one pass, one worker has the pages cleared ahead, which pays after the first ones
    const bool in_one_pass = pack_reads(problem.kind, on) == 1 && problem.kind != encoding::plain;
    constexpr double first_pages = 1024;
    if (in_one_pass && pages > first_pages) pages = first_pages + (pages - first_pages) / 8;
    const double of_gpu = stays ? 60e-6 : 350e-6;
    const double typical_call = on.kind == device_kind::gpu ? of_gpu : 1e-6;
    found.phases.push_back({"call", {}, {{"pack.call", 1, typical_call}, {"pack.page", pages, 0.45e-6}}, 0, 1});
  } else {
    // a device is asked several times for the k best
    const double waits = on.kind == device_kind::gpu && problem.operation == packed_top_k_call::operation ? 3 : 1;
    const double typical_call = on.kind == device_kind::gpu ? 25e-6 : 0.2e-6;
    found.phases.push_back({"call", {}, {{"packed.call", waits, typical_call}}, 0, 1});
  }
  found.phases.push_back(
      {"tiles", {moved}, {{rate_of(problem.operation, problem.kind, width), n, estimate}}, 1, cores});
  if (problem.operation == packed_top_k_call::operation) {
    found.phases.push_back({"sort", {}, {{"packed_top_k.sort", k * std::log2(std::max(k, 2.0)), 3e-9}}, 0, 1});
  }
  if (problem.space == memory_space::host && on.host_to_device > 0) {
    found.to_device_bytes = is_pack ? plain_bytes : packed_bytes;
    found.to_host_bytes = stays ? 0 : moved.written;
  }
  return found;
}

}  // namespace zenith
