// The suite itself is tested: backends with a planted fault each, and every fault must be found.

#include <algorithm>
#include <stdexcept>

#include <catch.hpp>
#include <packed_suite.hpp>
#include <zenith/backend.hpp>

using namespace conformance;
using namespace conformance::packed;

namespace {

enum class plant {
  none,
  change_a_byte,    // of what was packed
  leave_a_byte,     // as the memory was
  choose_another,   // encoding than the smallest
  forget_the_tail,  // of what is unpacked
  write_past_the_end,
  start_one_late,
  forget_the_sign,  // in the sum
  forget_the_last,
  compare_as_unsigned,  // in the extremes
  leave_high_out,       // of what is selected
  count_one_less,
  ignore_the_capacity,
  fall_out_of_order,
  prefer_the_last,  // of equal keys
  write_the_column,
  throw_a_stranger,
};
constexpr std::size_t plants = static_cast<std::size_t>(plant::throw_a_stranger) + 1;

template <class Call>
void run_reference(const zenith::execution& on, const Call& call) {
  const auto& kernels = zenith::find_backend("reference").kernels;
  std::ranges::find(kernels, Call::operation, &zenith::kernel::operation)->run(on, &call);
}

template <plant Fault>
void pack(const zenith::execution& on, const zenith::pack_call& call) {
  auto changed = call;
  if (Fault == plant::choose_another && call.kind == zenith::encoding::automatic) {
    changed.kind = zenith::encoding::plain;
  }
  if (Fault == plant::leave_a_byte) {
    std::vector<std::byte> bytes;
    changed.context = &bytes;
    changed.allocate = [](void* to, std::uint64_t count) {
      auto& all = *static_cast<std::vector<std::byte>*>(to);
      all.resize(count);
      return all.data();
    };
    run_reference(on, changed);
    std::byte* const out = call.allocate(call.context, bytes.size());
    const std::byte before = out[call.result->payload_at];
    std::memcpy(out, bytes.data(), bytes.size());
    out[call.result->payload_at] = before;
    call.result->bytes = out;
    if (call.statistics != nullptr) *call.statistics = {"faulty", 1};
    return;
  }
  run_reference(on, changed);
  if (Fault == plant::change_a_byte) {
    const_cast<std::byte*>(call.result->bytes)[call.result->payload_at] ^= std::byte{1};
  }
  if (call.statistics != nullptr) *call.statistics = {"faulty", 1};
}

template <plant Fault>
void unpack(const zenith::execution& on, const zenith::unpack_call& call) {
  auto changed = call;
  const auto width = zenith::size_of(call.column.type);
  if (Fault == plant::forget_the_tail) changed.count -= call.count % 32 == 0 ? 0 : 1;
  if (Fault == plant::start_one_late && call.first > 0 && call.first + call.count < call.column.count) ++changed.first;
  if (Fault == plant::throw_a_stranger) throw std::logic_error("strange");
  run_reference(on, changed);
  if (Fault == plant::write_past_the_end) static_cast<std::byte*>(call.out)[call.count * width] = {};
  if (Fault == plant::write_the_column)
    const_cast<std::byte*>(call.column.bytes)[call.column.total_bytes - 1] ^= std::byte{1};
}

template <plant Fault>
void sum(const zenith::execution& on, const zenith::packed_sum_call& call) {
  auto changed = call;
  if (Fault == plant::forget_the_sign && call.column.type == zenith::key_type::int32) {
    changed.column.type = zenith::key_type::uint32;
  }
  if (Fault == plant::forget_the_last) --changed.column.count;
  run_reference(on, changed);
}

template <plant Fault>
void extremes(const zenith::execution& on, const zenith::packed_extremes_call& call) {
  auto changed = call;
  if (Fault == plant::compare_as_unsigned && call.column.type == zenith::key_type::int32) {
    changed.column.type = zenith::key_type::uint32;
  }
  run_reference(on, changed);
}

template <plant Fault>
void select(const zenith::execution& on, const zenith::packed_select_call& call) {
  auto changed = call;
  if (Fault == plant::leave_high_out && call.high != call.low) --changed.high;
  if (Fault == plant::ignore_the_capacity && call.bitmap == nullptr) {
    std::vector<std::uint64_t> held(call.column.count + 1);
    changed.indices = held.data();
    changed.capacity = held.size();
    run_reference(on, changed);
    std::memcpy(call.indices, held.data(),
                std::min(call.capacity, *call.matches) * static_cast<std::size_t>(call.index_bytes));
    return;
  }
  run_reference(on, changed);
  if (Fault == plant::count_one_less && *call.matches > 0) --*call.matches;
  if (Fault == plant::fall_out_of_order && call.bitmap == nullptr && call.index_bytes == 4 && *call.matches > 1 &&
      *call.matches <= call.capacity) {
    std::swap(static_cast<std::uint32_t*>(call.indices)[0], static_cast<std::uint32_t*>(call.indices)[1]);
  }
}

template <plant Fault>
void top_k(const zenith::execution& on, const zenith::packed_top_k_call& call) {
  run_reference(on, call);
  if (Fault != plant::prefer_the_last || size_of(call.column.type) != 4 || call.top_k.index_bytes != 4) return;
  auto* keys = static_cast<std::uint32_t*>(call.top_k.out_keys);
  auto* indices = static_cast<std::uint32_t*>(call.top_k.out_indices);
  for (std::uint64_t i = 1; i < call.top_k.k; ++i) {
    if (keys[i] == keys[i - 1]) return std::swap(indices[i], indices[i - 1]);
  }
}

template <plant Fault>
struct faulty {
  static constexpr zenith::kernel kernels[] = {
      zenith::make_kernel<zenith::pack_call, pack<Fault>>("group_encode"),
      zenith::make_kernel<zenith::unpack_call, unpack<Fault>>("block_decode"),
      zenith::make_kernel<zenith::packed_sum_call, sum<Fault>>("fused_reduce"),
      zenith::make_kernel<zenith::packed_extremes_call, extremes<Fault>>("fused_reduce"),
      zenith::make_kernel<zenith::packed_select_call, select<Fault>>("fused_bitmap"),
      zenith::make_kernel<zenith::packed_top_k_call, top_k<Fault>>("filter"),
  };
};

template <std::size_t... Fault>
std::vector<zenith::backend> make_backends(std::index_sequence<Fault...>) {
  static constexpr std::string_view names[] = {"faulty0",  "faulty1",  "faulty2",  "faulty3",  "faulty4",  "faulty5",
                                               "faulty6",  "faulty7",  "faulty8",  "faulty9",  "faulty10", "faulty11",
                                               "faulty12", "faulty13", "faulty14", "faulty15", "faulty16"};
  static_assert(std::size(names) == plants);
  return {zenith::backend{.name = names[Fault],
                          .description = "the reference with a planted fault",
                          .needs = "nothing",
                          .kernels = faulty<static_cast<plant>(Fault)>::kernels}...};
}

std::string faults_with(plant one) {
  static const auto backends = [] {
    auto made = make_backends(std::make_index_sequence<plants>{});
    return made;
  }();
  static const bool registered = [] {
    for (const auto& each : backends) zenith::register_backend(each);
    return true;
  }();
  CHECK(registered);
  const auto& name = backends[static_cast<std::size_t>(one)].name;
  const zenith_test::target on{std::string{name}, {}, zenith::make_executor(name), {}};
  std::string all;
  random_source random{7};
  for (const auto which : {shape::width, shape::normal, shape::few_distinct}) {
    for (const auto& as : every_manner) {
      auto data = make_sample<std::int32_t>(which, 999, 12, as, random);
      all += fault_of(on, data, placement::host, random);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("the checker of packed columns finds every planted fault", "[checker]") {
  CHECK(faults_with(plant::none) == "");
  for (std::size_t one = 1; one < plants; ++one) {
    INFO("fault " << one);
    CHECK(faults_with(static_cast<plant>(one)) != "");
  }
}
