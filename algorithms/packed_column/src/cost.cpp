#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <algorithms/top_k/filter_cost.hpp>
#include <core/core_speed.hpp>
#include <zenith/packed_column.hpp>

namespace zenith {
namespace {

constexpr std::array operations{pack_call::operation,          unpack_call::operation,
                                packed_sum_call::operation,    packed_extremes_call::operation,
                                packed_select_call::operation, packed_top_k_call::operation,
                                device_pack_call::operation};
constexpr std::size_t encodings = static_cast<std::size_t>(encoding::automatic) + 1;

// Seconds of a core near 3 GHz that works alone, or of a multiprocessor, for one 32-bit value of each encoding, in
// order of their numbers; the last stands for the measuring of all of them.
struct estimates {
  std::array<double, encodings> decode;
  std::array<double, encodings> pack;
};
constexpr estimates of_a_core{{0.02e-9, 0.034e-9, 0.21e-9, 0.095e-9, 0.72e-9, 0.18e-9, 0.48e-9, 0.07e-9},
                              {0.15e-9, 0.4e-9, 0.45e-9, 2.2e-9, 4.5e-9, 1.6e-9, 3.9e-9, 10e-9}};
constexpr estimates of_a_multiprocessor{{0.03e-9, 0.03e-9, 0.04e-9, 0.03e-9, 0.2e-9, 0.2e-9, 0.06e-9, 0.06e-9},
                                        {0.5e-9, 1e-9, 0.93e-9, 0.57e-9, 0.73e-9, 0.91e-9, 0.9e-9, 1.6e-9}};

// How many times as long a 64-bit value takes a core.
constexpr estimates times_for_wide{{1.8, 1.4, 1.7, 1.4, 1.1, 1, 1.4, 1.8}, {1.8, 3.5, 3.3, 1.25, 1.05, 1, 1.1, 1.3}};

// One value alone, as a sample reads it: of deltas and words of any length its block, and among runs it searches.
constexpr std::array<double, encodings> lone_value{0, 8e-9, 50e-9, 2e-9, 110e-9, 12e-9, 12e-9, 8e-9};

// What a GPU's packing takes whatever the count: launches and answers.
constexpr std::array<double, encodings> gpu_pack_call{15e-6, 85e-6, 80e-6, 45e-6, 65e-6, 65e-6, 75e-6, 90e-6};

// Its other operations whatever the count; what has ranges of its own in each block waits for them.
constexpr std::array<double, encodings> gpu_call{10e-6, 10e-6, 10e-6, 10e-6, 24e-6, 30e-6, 21e-6, 26e-6};
// each answer of a top-k
constexpr double gpu_wait = 14e-6;

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

// What an encoding decides, whatever the type.
enum class part : std::size_t { pack_call, pack_on_device_call, call, sample };

// "pack.call.delta", of static storage too.
std::string_view rate_of(part which, encoding kind) {
  constexpr std::array prefixes{"pack.call.", "pack_on_device.call.", "packed.call.", "packed_top_k.sample."};
  static const auto names = [&] {
    std::array<std::array<std::string, encodings>, prefixes.size()> all;
    for (std::size_t p = 0; p < prefixes.size(); ++p) {
      for (std::size_t e = 0; e < encodings; ++e)
        all[p][e] = std::string{prefixes[p]}.append(to_string(static_cast<encoding>(e)));
    }
    return all;
  }();
  return names[static_cast<std::size_t>(which)][static_cast<std::size_t>(kind)];
}

// Frames and deltas are packed in one pass by a host, which writes a group while its values are in a core's cache.
bool is_in_one_pass(encoding kind) { return kind == encoding::frame_of_reference || kind == encoding::delta; }

// How often packing reads the plain values: to measure and to write them, and once where there is nothing to measure.
int pack_reads(encoding kind, const device_profile& on) {
  if (kind == encoding::plain) return 1;
  return is_in_one_pass(kind) && on.kind == device_kind::cpu ? 1 : 2;
}

// A run ends a loop where no branch predicts it, unless there are so few that the predictor remembers them. Of `values`
// values `share` are the last ones of runs.
work run_ends(std::string_view rate, double runs, double values, double share) {
  constexpr double remembered = 6000;
  return {rate, values * share * std::clamp(runs / remembered - 1, 0.0, 1.0), 6.5e-9};
}

// Whether vectors decode, not one value after the other.
bool is_by_vectors(encoding kind) {
  return kind != encoding::null_suppression_variable && kind != encoding::run_length;
}

// What a worker takes at a time.
constexpr double chunk_values = 65536;

// Workers that find a chunk.
int workers_of(double values, int cores) {
  return std::min(cores, static_cast<int>(std::min(1e6, std::ceil(values / chunk_values))));
}

// Values that workers have time for while they decode so many: in the last round some have none, so that the others'
// count decides, and sixteen decode some twelve times as fast as one.
double shared_out(double values, int cores) {
  if (cores < 2) return values;
  const double rounds = std::ceil(std::ceil(values / chunk_values) / cores);
  return rounds * std::min(chunk_values, values) * cores * (1 + 0.09 * std::log2(cores));
}

// A host's top-k is the filter over values that are decoded.
cost host_top_k_cost(const packed_problem& problem, double decode, const work& more, const device_profile& on) {
  const auto n = static_cast<double>(problem.count);
  const std::size_t width = size_of(problem.type);
  auto found = top_k_detail::filter_cost({problem.count, problem.k, problem.type, ordering::sorted, problem.space}, on);
  for (auto& one : found.phases) {
    if (one.name == "sample") {
      const double samples = one.operations.front().count;
      one.operations.push_back(
          {rate_of(part::sample, problem.kind), samples, lone_value[static_cast<std::size_t>(problem.kind)]});
    } else if (one.name == "scan") {
      const double bytes = n * problem.bits_per_value / 8;
      auto& moved = one.memory.front();
      moved = {std::min(moved.working_set, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes))), bytes, 0};
      one.operations.push_back({rate_of(problem.operation, problem.kind, width), n, decode});
      if (more.count > 0) one.operations.push_back(more);
    }
  }
  return found;
}

constexpr double huge_page_bytes = 2 << 20;

// What the system clears for a host's column, of which so many bytes are asked for: smaller ones lie where the
// allocator had others before.
work cleared(double bytes, double asked_bytes) {
  constexpr double large_bytes = 4 << 20;
  return {"core.huge_page", asked_bytes >= large_bytes ? std::ceil(bytes / huge_page_bytes) : 0, 80e-6};
}

// Values are read, once or twice, and a column is made: an allocation, and pages that the system hands out one after
// the other. How many bits a value will take is not known; most that are worth packing take a dozen.
cost making_cost(const packed_problem& problem, const device_profile& on) {
  constexpr double likely_bytes = 1.5;
  constexpr double page_bytes = 4096;
  const auto n = static_cast<double>(problem.count);
  const std::size_t width = size_of(problem.type);
  const auto kind = static_cast<std::size_t>(problem.kind);
  const double plain_bytes = n * static_cast<double>(width);
  const double packed_bytes = problem.kind == encoding::plain ? plain_bytes : std::min(plain_bytes, n * likely_bytes);
  const bool stays = problem.operation == device_pack_call::operation;
  const bool is_gpu = on.kind == device_kind::gpu;
  const auto rate = rate_of(problem.operation, problem.kind, width);

  traffic moved;
  moved.read = pack_reads(problem.kind, on) * plain_bytes;
  moved.written = packed_bytes;
  moved.working_set = static_cast<std::uint64_t>(plain_bytes + packed_bytes);
  const double wider = width == 8 ? (is_gpu ? 1.8 : times_for_wide.pack[kind]) : 1;
  const double estimate = (is_gpu ? of_a_multiprocessor : of_a_core).pack[kind] * wider;
  const bool goes_back = !stays && problem.space == memory_space::host && on.host_to_device > 0;

  cost found;
  if (is_gpu) {
    const double pages = goes_back ? packed_bytes / page_bytes : 0;
    const auto called = rate_of(stays ? part::pack_on_device_call : part::pack_call, problem.kind);
    found.phases.push_back({"call", {}, {{called, 1, gpu_pack_call[kind]}, {"pack.page", pages, 0.3e-6}}, 0, 1});
    found.phases.push_back({"tiles", {moved}, {{rate, n, estimate}}, 1, 0});
  } else {
    const int cores = workers_of(n, cores_for(plain_bytes, on));
    found.phases.push_back({"call", {}, {{"pack.call", 1, 1e-6}}, 0, 1});
    // one pass asks for memory before it knows the size, and sums the checksum on the way
    const bool is_once = is_in_one_pass(problem.kind);
    const auto pages = cleared(packed_bytes, is_once ? plain_bytes : packed_bytes);
    const bool is_large = packed_bytes >= huge_page_bytes && cores > 1;
    const double regions = is_large && !is_once ? 1 : 0;
    const auto clearing = static_cast<int>(std::clamp(pages.count, 1.0, static_cast<double>(cores)));
    found.phases.push_back({"memory", {}, {pages}, regions, clearing});
    const double summed = is_once ? 0 : packed_bytes;
    found.phases.push_back({"checksum", {}, {{"pack.checksum", summed, 0.035e-9}}, regions, is_large ? cores : 1});
    const double values = shared_out(n, cores);
    std::vector<work> done{{rate, values, estimate}};
    if (problem.kind == encoding::run_length) done.push_back(run_ends("pack.run_end", n / 16, values, 1.0 / 16));
    found.phases.push_back(
        {"tiles", {moved}, std::move(done), static_cast<double>(pack_reads(problem.kind, on)), cores});
    // a group that is not whole is packed value by value
    constexpr double group = 2048;
    if (const double rest = std::fmod(n, group); rest > 0 && is_once) {
      found.phases.push_back({"last group", {}, {{"pack.last_group", rest, 30e-9}}, 0, 1});
    }
  }
  if (problem.space == memory_space::host && on.host_to_device > 0) {
    found.to_device_bytes = plain_bytes;
    found.to_host_bytes = stays ? 0 : packed_bytes;
  }
  return found;
}

}  // namespace

// One pass over the packed bytes beside its results: the slower of memory and decoding. A device's top-k is that pass
// and the sorting of the k best; section 5.6 of the thesis has no model for it.
cost packed_cost(const packed_problem& problem, const device_profile& on) {
  if (problem.operation == pack_call::operation || problem.operation == device_pack_call::operation) {
    return making_cost(problem, on);
  }
  const auto n = static_cast<double>(problem.count);
  const auto k = static_cast<double>(problem.k);
  const std::size_t width = size_of(problem.type);
  const double packed_bytes = n * problem.bits_per_value / 8;
  const double plain_bytes = n * static_cast<double>(width);
  const bool is_gpu = on.kind == device_kind::gpu;
  const auto kind = static_cast<std::size_t>(problem.kind);
  const bool is_unpack = problem.operation == unpack_call::operation;
  const bool is_top_k = problem.operation == packed_top_k_call::operation;

  traffic moved;
  moved.read = packed_bytes;
  if (is_unpack) moved.written = plain_bytes;
  if (problem.operation == packed_select_call::operation) moved.written = n / 8;
  if (is_top_k) moved.written = k * static_cast<double>(width + 8);
  moved.working_set = static_cast<std::uint64_t>(packed_bytes + moved.written);

  const double wider = width == 8 ? (is_gpu ? 1.8 : times_for_wide.decode[kind]) : 1;
  double estimate = (is_gpu ? of_a_multiprocessor : of_a_core).decode[kind] * wider;
  if (!is_gpu && is_by_vectors(problem.kind)) estimate = detail::vector_estimate(estimate, on);
  // decoding a value is worth as many workers as reading two bytes are, and what is written as its bytes
  const int woken = cores_for(packed_bytes + 2 * n + (is_unpack ? plain_bytes : 0), on);
  const int cores = is_gpu ? 0 : workers_of(n, woken);
  work ends;
  const double decoded = is_top_k ? n : shared_out(n, cores);
  if (!is_gpu && problem.kind == encoding::run_length) {
    // a run is a value and its end
    const double share = std::min(1.0, problem.bits_per_value / (8 * static_cast<double>(width) + 32));
    estimate += 1.6e-9 * std::max(0.0, share - 0.1);
    ends = run_ends("packed.run_end", share * n, decoded * (width == 8 ? 1.5 : 1), share);
  }
  if (is_top_k && !is_gpu) return host_top_k_cost(problem, estimate, ends, on);
  std::vector<traffic> all_moved{moved};
  if (!is_gpu && is_unpack) {
    // Workers take other chunks at each call: the lines that they write are in the cache of another.
    const auto shared = set_beyond_own_caches(cores, on);
    all_moved[0].working_set = std::max(moved.working_set, shared);
    // What a host unpacks goes past its caches where it does not fit: no line is read before it is written.
    constexpr double past_caches = 32 << 20;
    if (plain_bytes >= past_caches) {
      const auto memory = on.levels.back().bytes;
      const auto packed = std::max(static_cast<std::uint64_t>(packed_bytes), shared);
      all_moved[0] = {memory, moved.read, moved.written / 2};
      if (&on.level_for(packed) != &on.levels.back()) {
        all_moved = {{packed, moved.read, 0}, {memory, 0, moved.written / 2}};
      }
    }
  }
  cost found;
  if (is_gpu && is_top_k) {
    // it is asked several times for the k best
    constexpr double times = 3;
    found.phases.push_back(
        {"call",
         {},
         {{"packed_top_k.wait", times, gpu_wait}, {rate_of(part::call, problem.kind), times, gpu_call[kind]}},
         0,
         1});
  } else if (is_gpu) {
    found.phases.push_back({"call", {}, {{rate_of(part::call, problem.kind), 1, gpu_call[kind]}}, 0, 1});
  } else {
    found.phases.push_back({"call", {}, {{"packed.call", 1, 0.13e-6}}, 0, 1});
  }
  std::vector<work> done{{rate_of(problem.operation, problem.kind, width), decoded, estimate}};
  if (ends.count > 0) done.push_back(ends);
  found.phases.push_back({"tiles", std::move(all_moved), std::move(done), is_gpu || woken > 1 ? 1.0 : 0.0, cores});
  if (is_top_k) {
    found.phases.push_back({"sort", {}, {{"packed_top_k.sort", k * std::log2(std::max(k, 2.0)), 3e-9}}, 0, 1});
  }
  if (problem.space == memory_space::host && on.host_to_device > 0) {
    found.to_device_bytes = packed_bytes;
    found.to_host_bytes = moved.written;
  }
  return found;
}

}  // namespace zenith
