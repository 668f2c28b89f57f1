#include "scenes.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include <zenith/packed_block.hpp>
#include <zenith/packed_call.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith_test {
namespace {

std::vector<std::string>& calls() {
  static std::vector<std::string> all;
  return all;
}

// Largest float keys with 32-bit indices: what the tests here ask for.
void answer(const zenith::top_k_call& call) {
  if (call.type != zenith::key_type::float32 || call.index_bytes != 4) throw std::logic_error("not what recorders do");
  const auto* keys = static_cast<const float*>(call.keys);
  std::vector<std::uint32_t> order(call.count);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  for (std::uint64_t i = 0; i < call.k; ++i) {
    static_cast<float*>(call.out_keys)[i] = keys[order[i]];
    static_cast<std::uint32_t*>(call.out_indices)[i] = order[i];
  }
}

template <int Strategy>
void record(const zenith::execution& on, const zenith::top_k_call& call) {
  constexpr const char* names[] = {"filter", "bitonic", "own"};
  calls().push_back(std::string{on.target->name} + "/" + names[Strategy]);
  answer(call);
}

void record_sum(const zenith::execution& on, const zenith::packed_sum_call& call) {
  calls().push_back(std::string{on.target->name} + "/sum");
  *call.sum = 0;
  for (std::uint64_t i = 0; i < call.column.count; ++i) {
    *call.sum += zenith::packed::value_at<std::uint32_t>(call.column, i);
  }
}

zenith::device_profile profile(double speed) {
  zenith::device_profile made;
  made.name = "recorder";
  made.levels = {{"memory", std::uint64_t{1} << 40, 1e12 * speed, 1e12 * speed, 1e12 * speed}};
  for (const auto* rate :
       {"call", "sample/4", "scan/4", "append/4", "take/4", "compare/4", "emit/4", "load/4", "select/4", "sort/4"}) {
    made.rates[std::string{"top_k.filter."} + rate] = 1e-12 / speed;
    made.rates[std::string{"top_k.bitonic."} + rate] = 1e-9 / speed;
  }
  made.rates["packed.call"] = 1e-12 / speed;
  made.rates["packed_sum.frame_of_reference/4"] = 1e-12 / speed;
  return made;
}

zenith::device_profile fast(const zenith::execution&) { return profile(100); }
zenith::device_profile slow(const zenith::execution&) { return profile(1e-6); }

constexpr zenith::kernel fast_kernels[] = {
    zenith::make_kernel<zenith::top_k_call, record<0>>("filter"),
    zenith::make_kernel<zenith::top_k_call, record<1>>("bitonic"),
    zenith::make_kernel<zenith::packed_sum_call, record_sum>("fused_reduce"),
};
constexpr zenith::kernel slow_kernels[] = {
    zenith::make_kernel<zenith::top_k_call, record<0>>("filter"),
    zenith::make_kernel<zenith::top_k_call, record<1>>("bitonic"),
    zenith::make_kernel<zenith::top_k_call, record<2>>("own"),
};

constexpr zenith::backend recorder_fast{.name = "recorder_fast",
                                        .description = "notes what ran",
                                        .needs = "nothing",
                                        .kernels = fast_kernels,
                                        .default_profile = fast};
constexpr zenith::backend recorder_slow{.name = "recorder_slow",
                                        .description = "notes what ran",
                                        .needs = "nothing",
                                        .kernels = slow_kernels,
                                        .default_profile = slow};

}  // namespace

zenith::machine fixture(std::string_view name) {
  return zenith::machine::read(std::filesystem::path{ZENITH_PROFILES} / name);
}

std::vector<std::filesystem::path> fixture_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(ZENITH_PROFILES)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  return files;
}

temporary_folder::temporary_folder()
    : path_(std::filesystem::temp_directory_path() / ("zenith-dispatch-" + std::to_string(std::random_device{}()))) {
  std::filesystem::create_directories(path_);
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::size_t temporary_folder::count() const {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
}

void register_recorders() {
  [[maybe_unused]] static const bool done = [] {
    zenith::register_backend(recorder_fast);
    zenith::register_backend(recorder_slow);
    return true;
  }();
}

std::vector<std::string> recorded() { return std::exchange(calls(), {}); }

}  // namespace zenith_test
