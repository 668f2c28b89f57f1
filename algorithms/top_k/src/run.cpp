#include <algorithms/top_k/run.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <algorithms/top_k/entry.hpp>
#include <algorithms/top_k/order.hpp>
#include <core/with_key_type.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>

namespace zenith::top_k_detail {
namespace {

// Results on their way: out of the caller's sight until nothing can fail any more.
struct held_results {
  held_results(const execution& on, const top_k_call& call, std::uint64_t most)
      : keys(where(on, call), most * size_of(call.type)),
        indices(where(on, call), most * static_cast<std::uint64_t>(call.index_bytes)) {}

  static executor where(const execution& on, const top_k_call& call) {
    return call.space == memory_space::device ? executor{on} : executor{};
  }

  detail::raw_array keys;
  detail::raw_array indices;
};

void copy_bytes(const execution& on, memory_space space, void* to, const void* from, std::size_t bytes) {
  if (space == memory_space::host) {
    std::memcpy(to, from, bytes);
  } else {
    on.target->copy(on, to, space, from, space, bytes);
  }
}

template <class T>
bool any_nan(const std::vector<std::byte>& raw) {
  for (std::size_t at = 0; at < raw.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, raw.data() + at, sizeof(T));
    if (value != value) return true;
  }
  return false;
}

// NaN comes first under the rejecting policy, so one look at the k best tells whether there is any.
void run_rejecting(const execution& on, const top_k_call& call, const rejection& reject, std::uint64_t segment,
                   const part_function& run_part) {
  held_results held(on, call, call.k);
  top_k_call inner = call;
  inner.out_keys = held.keys.data();
  inner.out_indices = held.indices.data();
  run_segments(on, inner, segment, run_part);
  std::vector<std::byte> seen(held.keys.bytes());
  held.keys.read(seen.data());
  if (call.type == key_type::float32 ? any_nan<float>(seen) : any_nan<double>(seen)) {
    throw error(error_code::invalid_argument,
                "top_k: " + std::string{reject.what} + ", which options.nans = reject does not allow", on.target->name);
  }
  copy_bytes(on, call.space, call.out_keys, held.keys.data(), held.keys.bytes());
  copy_bytes(on, call.space, call.out_indices, held.indices.data(), held.indices.bytes());
}

// The k best of each segment, then the k best of those. Positions among them rise with the index for equal keys.
template <class T, class Index>
void merge_segments(const execution& on, const top_k_call& call, std::uint64_t segment, const part_function& run_part) {
  std::vector<T> keys;
  std::vector<Index> indices;
  top_k_statistics total;
  for (std::uint64_t first = 0; first < call.count; first += segment) {
    top_k_call part = call;
    top_k_statistics seen;
    part.count = std::min(segment, call.count - first);
    part.k = std::min(call.k, part.count);
    part.first_index = call.first_index + first;
    part.order = ordering::sorted;
    part.statistics = &seen;
    held_results held(on, call, part.k);
    part.out_keys = held.keys.data();
    part.out_indices = held.indices.data();
    run_part(part, first);
    const std::size_t before = keys.size();
    keys.resize(before + part.k);
    indices.resize(before + part.k);
    held.keys.read(keys.data() + before);
    held.indices.read(indices.data() + before);
    total.variant = seen.variant;
    total.threads = seen.threads;
    total.reads = std::max(total.reads, seen.reads);
    total.survivors += seen.survivors;
  }

  using image_t = bits_t<T>;
  const auto order = order_of<T>(call);
  struct ranked {
    image_t image;
    std::size_t position;
  };
  std::vector<ranked> ranking(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) ranking[i] = {order.image(keys[i]), i};
  const auto is_better = [](const ranked& a, const ranked& b) {
    return a.image != b.image ? a.image > b.image : a.position < b.position;
  };
  const auto middle = ranking.begin() + static_cast<std::ptrdiff_t>(call.k);
  std::partial_sort(ranking.begin(), middle, ranking.end(), is_better);

  std::vector<T> best_keys(call.k);
  std::vector<Index> best_indices(call.k);
  for (std::size_t i = 0; i < call.k; ++i) {
    best_keys[i] = keys[ranking[i].position];
    best_indices[i] = indices[ranking[i].position];
  }
  if (call.space == memory_space::host) {
    std::memcpy(call.out_keys, best_keys.data(), best_keys.size() * sizeof(T));
    std::memcpy(call.out_indices, best_indices.data(), best_indices.size() * sizeof(Index));
  } else {
    on.target->copy(on, call.out_keys, memory_space::device, best_keys.data(), memory_space::host,
                    best_keys.size() * sizeof(T));
    on.target->copy(on, call.out_indices, memory_space::device, best_indices.data(), memory_space::host,
                    best_indices.size() * sizeof(Index));
    on.target->synchronize(on);
  }
  if (call.statistics != nullptr) *call.statistics = std::move(total);
}

}  // namespace

void run_segments(const execution& on, const top_k_call& call, std::uint64_t segment, const part_function& run_part) {
  if (call.count <= segment) return run_part(call, 0);
  detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    call.index_bytes == 4 ? merge_segments<T, std::uint32_t>(on, call, segment, run_part)
                          : merge_segments<T, std::uint64_t>(on, call, segment, run_part);
  });
}

void run_parts(const execution& on, const top_k_call& call, const rejection& reject, std::uint64_t segment,
               const part_function& run_part) {
  if (reject.is_asked) {
    run_rejecting(on, call, reject, segment, run_part);
  } else {
    run_segments(on, call, segment, run_part);
  }
}

void run_in_parts(const execution& on, const kernel& by, const top_k_call& call, bool reject_nan,
                  std::uint64_t segment) {
  run_parts(on, call, {reject_nan, "keys holds NaN"}, segment, [&](const top_k_call& part, std::uint64_t first) {
    auto there = part;
    there.keys = static_cast<const std::byte*>(call.keys) + first * size_of(call.type);
    by.run(on, &there);
  });
}

}  // namespace zenith::top_k_detail
