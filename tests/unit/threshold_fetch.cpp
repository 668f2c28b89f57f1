// Queries of tables whose rows lie on the host, fetched or read there, on the sequential context: its memory is the
// host's, so what the device would not have is poisoned.

#include <algorithms/threshold_table/strategies.hpp>

#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <algorithms/threshold_table/choices.hpp>
#include <catch.hpp>
#include <core/device/sequential.hpp>
#include <zenith/backend.hpp>
#include <zenith/error.hpp>
#include <zenith/machine.hpp>
#include <zenith/threshold_table.hpp>

namespace {

/// Counts what is copied of the rows of a table.
struct watching_context : zenith::device::sequential_context {
  using base = zenith::device::sequential_context;

  explicit watching_context(std::span<const std::byte> watched) : rows(watched) {}

  template <class T>
  const T* input(const T* from, std::uint64_t n, zenith::memory_space space) {
    const auto* const at = reinterpret_cast<const std::byte*>(from);
    if (rows.data() <= at && at < rows.data() + rows.size()) ++copies;
    return base::input(from, n, space);
  }
  void fetch(std::span<const zenith::device::fetched_array> arrays, const std::uint32_t* begins, std::uint64_t n,
             std::uint64_t length) {
    ++copies;
    base::fetch(arrays, begins, n, length);
  }

  std::span<const std::byte> rows;
  int copies = 0;
};

enum class rows_are { fetched, mapped };

template <class Strategy>
void check(const zenith::threshold_table<float>& table, const std::vector<float>& weights, std::uint64_t k,
           rows_are how) {
  const auto& layout = zenith::detail::layout_of(*table.storage());
  const auto bytes = zenith::detail::bytes_of(*table.storage());
  // the directory alone: in front of it is nothing
  const auto directory = zenith::detail::directory_of(*table.storage());
  std::vector<std::byte> whole(bytes.size(), std::byte{0x5a});
  std::copy(directory.begin(), directory.end(), whole.begin() + static_cast<std::ptrdiff_t>(layout.begins));

  const auto expected = zenith::top_k(zenith::make_executor("reference"), table, weights, k);
  std::vector<std::uint32_t> columns;
  std::vector<float> used;
  for (std::uint32_t j = 0; j < weights.size(); ++j) {
    if (weights[j] == 0) continue;
    columns.push_back(j);
    used.push_back(weights[j]);
  }
  std::vector<float> scores(k);
  std::vector<std::uint64_t> ids(k);
  zenith::threshold_statistics seen;
  zenith::threshold_table_call call;
  call.layout = &layout;
  call.table = whole.data();
  call.rows = bytes.data();
  call.maps_rows = how == rows_are::mapped;
  call.columns = columns.data();
  call.weights = used.data();
  call.column_count = static_cast<unsigned>(columns.size());
  call.statistics = &seen;
  call.result.type = zenith::key_type::float32;
  call.result.count = layout.rows;
  call.result.k = k;
  call.result.out_keys = scores.data();
  call.result.out_indices = ids.data();
  call.result.index_bytes = 8;
  watching_context on(bytes.first(layout.begins));
  Strategy::run(on, call);
  CHECK((on.copies == 0) == (how == rows_are::mapped));
  CHECK(scores == expected.keys);
  CHECK(ids == expected.indices);
  CHECK(seen.rows_evaluated >= k);
  if (std::is_same_v<Strategy, zenith::threshold_table_family::blocks> && k < 100) {
    CHECK(seen.rows_evaluated < layout.rows / 2);
  }
}

bool has_memory_for_columns = true;

template <class Strategy>
void run_sequentially(const zenith::execution& /*on*/, const zenith::threshold_table_call& call) {
  if (std::is_same_v<Strategy, zenith::threshold_table_family::scan> && !has_memory_for_columns) {
    throw zenith::error(zenith::error_code::out_of_memory, "the columns do not fit");
  }
  zenith::device::sequential_context on;
  Strategy::run(on, call);
}

/// The sequential context, of which a profile says that it is a device behind a link. It is too slow to be chosen for
/// what other tests ask.
const zenith::executor& linked() {
  using call = zenith::threshold_table_call;
  namespace family = zenith::threshold_table_family;
  static constexpr zenith::kernel kernels[] = {
      zenith::make_kernel<call, run_sequentially<family::blocks>>(family::blocks::name),
      zenith::make_kernel<call, run_sequentially<family::scan>>(family::scan::name)};
  static constexpr zenith::backend backend{.name = "linked",
                                           .description = "the sequential context",
                                           .needs = "nothing",
                                           .kernels = kernels,
                                           .default_profile = [](const zenith::execution&) {
                                             zenith::device_profile one;
                                             one.name = "a chip";
                                             one.kind = zenith::device_kind::gpu;
                                             one.levels = {{"memory", std::uint64_t{1} << 40, 1e6, 1e6, 1e6}};
                                             one.host_to_device = 1e6;
                                             one.device_to_host = 1e6;
                                             one.launch_overhead = 1e-3;
                                             return one;
                                           }};
  static const zenith::executor on = [] {
    zenith::register_backend(backend);
    zenith::machine::reload_local();
    return zenith::make_executor("linked");
  }();
  return on;
}

/// Which strategy "auto" was for a table whose rows are fetched; checks the answer.
std::string taken(const zenith::threshold_table<float>& table, const std::vector<float>& weights) {
  constexpr std::size_t k = 16;
  std::vector<float> scores(k);
  std::vector<std::uint32_t> ids(k);
  auto query = zenith::detail::table_query_of(table.storage(), zenith::detail::directory_of(*table.storage()).data(),
                                              zenith::memory_space::host, std::span<const float>(weights),
                                              zenith::memory_space::host, scores.data(), k, ids.data(), k);
  query.fetches_rows = true;
  const auto run = zenith::detail::query_table(linked(), query, {});
  const auto expected = zenith::top_k<std::uint32_t>(zenith::make_executor("reference"), table, weights, k);
  CHECK(scores == expected.keys);
  CHECK(ids == expected.indices);
  return run.strategy;
}

}  // namespace

TEST_CASE("rows on the host are streamed where nearly all will be evaluated, and there is memory for them", "[unit]") {
  std::mt19937 random(6);
  std::vector<std::vector<float>> values(2, std::vector<float>(100'000));
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    // by the sum of both no block can be skipped
    values[0][i] = std::uniform_real_distribution<float>{}(random);
    values[1][i] = 1 - values[0][i];
  }
  const auto table = zenith::threshold_table<float>::build(zenith::column_set<float>{values[0], values[1]});
  CHECK(taken(table, {1, 1}) == "scan");
  CHECK(taken(table, {1, 0}) == "blocks");
  has_memory_for_columns = false;
  CHECK(taken(table, {1, 1}) == "blocks");
  has_memory_for_columns = true;
}

TEST_CASE("rows are mapped on request, by backends that can", "[unit]") {
  const std::vector<float> values{1, 2, 3};
  const auto table = zenith::threshold_table<float>::build(zenith::column_set<float>{values});
  // a backend says where kernels see the host's memory
  static int mapped = 0;
  static constexpr zenith::backend seeing{
      .name = "seeing",
      .description = "a device that is none",
      .needs = "nothing",
      .memory = zenith::memory_space::device,
      .allocate = [](const zenith::execution&, std::size_t bytes) { return ::operator new(bytes); },
      .deallocate = [](const zenith::execution&, void* at, std::size_t) noexcept { ::operator delete(at); },
      .copy = [](const zenith::execution&, void* to, zenith::memory_space, const void* from, zenith::memory_space,
                 std::size_t bytes) { std::memcpy(to, from, bytes); },
      .map_host =
          [](const zenith::execution&, const void* at, std::size_t) {
            ++mapped;
            return at;
          },
      .unmap_host = [](const zenith::execution&, const void*) noexcept { --mapped; },
      .synchronize = [](const zenith::execution&) {}};
  static constexpr zenith::backend blind{.name = "blind",
                                         .description = "a device that is none",
                                         .needs = "nothing",
                                         .memory = zenith::memory_space::device,
                                         .allocate = seeing.allocate,
                                         .deallocate = seeing.deallocate,
                                         .copy = seeing.copy,
                                         .synchronize = seeing.synchronize};
  zenith::register_backend(seeing);
  zenith::register_backend(blind);
  using there = zenith::device_threshold_table<float>;
  using zenith::table_residence;
  {
    const there whole(zenith::make_executor("seeing"), table);
    CHECK(whole.mapped_rows() == nullptr);
    CHECK(mapped == 0);
    const there rows(zenith::make_executor("seeing"), table, table_residence::mapped_rows);
    const auto copy = rows;
    CHECK(mapped == 1);
    CHECK(copy.mapped_rows() == zenith::detail::bytes_of(*table.storage()).data());
    const there none(zenith::make_executor("seeing"), {}, table_residence::mapped_rows);
    CHECK(none.mapped_rows() == nullptr);
  }
  CHECK(mapped == 0);
  const auto message_of = [&](const char* executor, table_residence residence) -> std::string {
    try {
      const there made(zenith::make_executor(executor), table, residence);
    } catch (const zenith::error& fault) {
      return fault.what();
    }
    return "";
  };
  CHECK(message_of("blind", table_residence::mapped_rows).find("backend 'blind' cannot read") != std::string::npos);
  CHECK(message_of("seeing", static_cast<table_residence>(9)).find("residence is 9") != std::string::npos);
}

TEST_CASE("a GPU streams the rows of which it would fetch nearly all", "[unit]") {
  zenith::device_profile on;
  on.kind = zenith::device_kind::gpu;
  on.cores = 132;
  on.levels = {{"L2", std::uint64_t{1} << 25, 9e12, 6e12, 6e12},
               {"memory", std::uint64_t{1} << 37, 4.2e12, 4e12, 4e12}};
  on.launch_overhead = 2.5e-6;
  on.link_latency = 8e-6;
  on.host_to_device = 48e9;
  const auto streams = [&](int log_count, std::uint64_t columns, std::uint64_t k, std::uint32_t share_eighths) {
    zenith::threshold_table_problem asked;
    asked.count = std::uint64_t{1} << log_count;
    asked.k = k;
    asked.columns = columns;
    asked.share_eighths = share_eighths;
    return zenith::threshold_table_detail::streams_rows(asked, on);
  };
  for (const int log_count : {22, 26, 29}) {
    for (const std::uint64_t columns : {2, 4, 8}) {
      for (const std::uint64_t k : {16, 128}) {
        INFO("2^" << log_count << " rows, " << columns << " columns, k = " << k);
        CHECK(streams(log_count, columns, k, 0));
        CHECK_FALSE(streams(log_count, columns, k, 8));  // half of the rows
        CHECK_FALSE(streams(log_count, columns, k, 48));
      }
    }
  }
  on.host_to_device = 0;  // it shares the host's memory
  CHECK_FALSE(streams(26, 8, 16, 0));
}

TEST_CASE("rows that are needed are fetched from the host, or read there", "[unit]") {
  namespace family = zenith::threshold_table_family;
  std::mt19937 random(5);
  for (const std::uint32_t block_rows : {1, 50, 64}) {
    constexpr std::size_t rows = 20003;
    std::vector<std::vector<float>> values(4, std::vector<float>(rows));
    for (auto& column : values) {
      for (auto& one : column) one = std::uniform_real_distribution<float>{}(random);
    }
    zenith::column_set<float> columns;
    for (const auto& column : values) columns.add(column);
    const auto table = zenith::threshold_table<float>::build(columns, {.block_rows = block_rows});
    for (const std::uint64_t k : {1, 16, 90, 5000}) {
      const std::vector<float> weights{1, 0, -0.5F, 2};
      for (const auto how : {rows_are::fetched, rows_are::mapped}) {
        check<family::blocks>(table, weights, k, how);
        check<family::scan>(table, weights, k, how);
        check<family::gta_shared>(table, weights, k, how);
        check<family::ta>(table, weights, k, how);
        check<family::full>(table, weights, k, how);
      }
    }
  }
}
