// The strategies of the skyline on the sequential context, against a double loop.

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <algorithms/skyline/strategies.hpp>
#include <catch.hpp>
#include <core/device/list.hpp>
#include <core/device/sequential.hpp>
#include <settings.hpp>
#include <tables.hpp>

namespace {

using namespace conformance::skyline;
using zenith::device::u64;

/// Takes no kernel that is missing from the family's list.
struct listing_context : zenith::device::sequential_context {
  template <zenith::device::item_kernel K>
  void for_each(u64 n, const K& run) {
    static_assert(zenith::device::position_in<K>(zenith::skyline_family::kernels{}) <
                  zenith::skyline_family::kernels::size);
    sequential_context::for_each(n, run);
  }
  template <zenith::device::team_kernel K>
  void for_teams(u64 n, const K& run) {
    static_assert(zenith::device::position_in<K>(zenith::skyline_family::kernels{}) <
                  zenith::skyline_family::kernels::size);
    sequential_context::for_teams(n, run);
  }
};

template <class Strategy, class T>
std::vector<std::uint64_t> run(const table<T>& of, const request& asked) {
  std::vector<const void*> columns(of.columns);
  for (std::size_t c = 0; c < of.columns; ++c) columns[c] = of.values.data() + c;
  auto preferences = asked.preferences;
  preferences.resize(of.columns, zenith::preference::minimise);
  std::vector<std::uint64_t> ids;
  zenith::skyline_outcome outcome;
  zenith::skyline_call call;
  call.type = zenith::key_type_of<T>;
  call.columns = columns.data();
  call.column_count = static_cast<unsigned>(of.columns);
  call.rows = of.rows;
  call.row_stride = of.columns;
  call.preferences = preferences.data();
  call.duplicates = asked.duplicates;
  call.nans = asked.nans;
  call.provide_state = &ids;
  call.provide_ids = [](void* state, std::uint64_t count) -> void* {
    auto& to = *static_cast<std::vector<std::uint64_t>*>(state);
    to.resize(count);
    return to.data();
  };
  call.outcome = &outcome;
  listing_context on;
  Strategy::run(on, call);
  CHECK(outcome.count == ids.size());
  return ids;
}

}  // namespace

TEMPLATE_TEST_CASE("strategies on the sequential context", "[skyline]", float32, float64, int32, uint64) {
  std::uint64_t number = 0;
  for (const auto one : every_shape) {
    for (const std::size_t rows : {1, 64, 65, 700, 2500}) {
      random_source random{zenith_test::seed_of("sequential", number++)};
      const std::size_t columns = 1 + random() % 12;
      const auto made = make_table<TestType>(one, rows, columns, random);
      const auto asked = some_request(columns, random);
      const auto ids = expected(made, asked);
      zenith::device::for_each_type(
          zenith::skyline_family::strategies{}, [&]<class Strategy>(std::type_identity<Strategy>) {
            // the other operations are tested by the conformance suite
            if constexpr (!std::is_same_v<typename Strategy::call_type, zenith::skyline_call>) {
              return;
            } else {
              INFO(Strategy::name << " " << made.name << " n=" << rows << " d=" << columns << " " << asked.text()
                                  << " seed " << zenith_test::seed());
              CHECK((run<Strategy>(made, asked) == ids));
            }
          });
    }
  }
}
