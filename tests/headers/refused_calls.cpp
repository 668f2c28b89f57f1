// Calls that no overload takes, a line each, beside some that are right.

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <zenith/zenith.hpp>

namespace {

using column = zenith::packed_column<std::int32_t>;
using strings = std::vector<std::string>;
using table = zenith::threshold_table<float>;
using device_table = zenith::device_threshold_table<float>;
using changing_table = zenith::updatable_threshold_table<float>;
using tree = zenith::spatial_index<float, 2>;
using device_tree = zenith::device_spatial_index<float, 2>;

// What takes anything, to refuse it, is no better than what fits, and can be asked for.
template <class Given>
concept can_be_summed = requires(const zenith::executor& on, const Given& given) {
  zenith::sum(on, given);
};
template <class Given>
concept can_be_tested = requires(const std::vector<float>& keys, const Given& given) {
  zenith::where(keys, given, given);
};
template <class Given>
concept can_be_inserted = requires(changing_table& into, const Given& given) {
  into.insert(given);
};
static_assert(can_be_summed<column> && !can_be_summed<strings>);
static_assert(can_be_tested<int> && !can_be_tested<strings>);
static_assert(can_be_inserted<std::vector<float>> && !can_be_inserted<std::vector<double>>);
static_assert(can_be_inserted<zenith::column_set<float>> && !can_be_inserted<float>);
static_assert(!std::is_constructible_v<zenith::array<float>, strings>);
static_assert(!std::is_constructible_v<zenith::executor, std::string>);
static_assert(std::is_constructible_v<zenith::executor, const zenith::execution&>);
static_assert(!std::is_convertible_v<std::vector<float>, zenith::device_span<float>>);
static_assert(!std::is_convertible_v<strings, zenith::column_set<float>>);
static_assert(!std::is_convertible_v<strings, zenith::machine>);
static_assert(std::is_convertible_v<zenith::device_span<float>, zenith::device_span<const float>>);
static_assert(!std::is_default_constructible_v<changing_table> && std::is_default_constructible_v<table>);
static_assert(std::is_trivially_copyable_v<zenith::device_span<float>>);

struct arguments {
  const zenith::executor& on;
  const zenith::machine& here;
  const std::vector<float>& keys;
  const strings& words;
  const column& packed;
  std::vector<std::int32_t>& ints;
  changing_table& changing;
};

}  // namespace

// NOLINTNEXTLINE(readability-function-size)
void calls(const arguments& given) {
  const auto& [on, here, keys, words, packed, ints, changing] = given;
  const zenith::column_set<float> points{keys, keys};
  [[maybe_unused]] const auto best = zenith::top_k(on, keys, 7);
  [[maybe_unused]] const auto other_ids = zenith::top_k<std::uint32_t>(on, keys, zenith::where(ints, 1, 2), 7);
  // points go to the join of points, unless the options are those of boxes
  [[maybe_unused]] const auto near = zenith::spatial_join(on, points, points, {.predicate = {2}});
  [[maybe_unused]] const auto equal = zenith::spatial_join(on, points, points, {.predicate = zenith::intersects{}});
  [[maybe_unused]] const auto of_one = table::build({keys});
  [[maybe_unused]] const auto of_two = table::build(on, {keys, keys}, {.block_rows = 8});
  [[maybe_unused]] const auto of_points = tree::build({{keys, keys}, keys});
  changing.insert(keys);
  changing.insert({keys, keys});
  changing.erase(3);
  changing.update(1, std::array{1.F, 2.F});
  zenith::save_packed_table("file", {{"name", packed}});
  packed.gather(std::vector<int>{1}, ints);
  zenith::array<std::int32_t> owned(on, ints);
  owned.copy_from(ints);
  owned = zenith::array<std::int32_t>(on, 4);
  [[maybe_unused]] const zenith::machine one_device({here.devices().front()});
  [[maybe_unused]] const zenith::column_set<float> in_brackets({keys, keys});
  [[maybe_unused]] const zenith::executor configured(zenith::execution{});
  [[maybe_unused]] const zenith::array<float> of_brackets({on, 4});
  [[maybe_unused]] const auto seconds = zenith::seconds(zenith::cost{}, here.devices().front());
  [[maybe_unused]] const auto choice = zenith::decide(zenith::top_k_problem{.count = 3, .k = 2}, here);
#ifdef REFUSED
  const auto text_for_k = zenith::top_k(on, keys, "7");
  const auto text_for_executor = zenith::top_k("cpu", keys, 7);
  const auto no_keys = zenith::top_k(on, words, 1);
  const auto no_pointer = zenith::top_k(on, keys.data(), 7);
  const auto no_k = zenith::top_k(on, keys);
  const auto no_such_ids = zenith::top_k<short>(on, keys, 1);
  const auto no_such_option = zenith::top_k(on, keys, 1, {.largest = true});
  const auto other_results = zenith::top_k(on, keys, ints, ints);
  const auto other_weights = zenith::top_k(on, points, std::vector<double>{1, 2}, 3);
  const auto points_of_ints = zenith::column_set<float>{keys, ints};
  const auto no_table = table::build(keys);
  const auto option_of_none = table::build(points, {.blocks = 3});
  const auto built_by_constructor = table(points);
  const auto no_host_table = device_table(on, points);
  const auto no_device_table = device_table::build(on, keys);
  const auto no_bytes = table::parse(words);
  const changing_table no_columns;
  changing.insert(std::vector<double>{1, 2});
  changing.insert({1.F, 2.F});
  changing.erase(ints);
  changing.update(1, 2.F);
  const auto no_points = zenith::skyline(on, keys);
  const auto no_preference = zenith::skyline(on, points, {.preference = {}});
  const auto no_mask = zenith::skyline_mask(on, points, ints);
  const auto no_band = zenith::skyband(on, keys, 2);
  const auto no_layers = zenith::skyline_layers(on, "x");
  const auto no_problem = zenith::skyline_problem_of(keys);
  const auto no_sides = zenith::spatial_join(on, keys, keys);
  const auto no_predicate = zenith::spatial_join(on, points, points, {.distance = 2});
  const auto no_use = zenith::spatial_join_batches(on, points, points, 3);
  const auto no_scores = zenith::top_k_spatial_join(on, keys, keys, 4);
  const auto box_without_scores = zenith::top_k_spatial_join(on, zenith::boxes<float>{}, zenith::boxes<float>{}, 4);
  const auto other_type = zenith::count_spatial_join(on, zenith::boxes<float>{}, zenith::boxes<double>{});
  const auto no_tree = tree::build(points);
  const auto no_device_tree = device_tree::build(on, points);
  const auto not_of_a_tree = device_tree(on, points);
  const auto no_index = zenith::top_k_range(on, keys, 4);
  const auto not_packed = zenith::pack(on, keys);
  const auto text_for_encoding = zenith::pack(on, ints, "delta");
  const auto other_column = zenith::packed_device_column<std::int32_t>::pack(on, keys);
  const auto no_device_column = zenith::packed_device_column<std::int32_t>(packed);
  zenith::pack_into(on, ints, column{});
  zenith::unpack(on, packed, words);
  const auto not_a_column = zenith::sum(on, words);
  const auto no_executor = zenith::sum(packed);
  const auto text_for_options = zenith::minimum(on, packed, "fast");
  const auto no_extremes = zenith::maximum(on, ints);
  const auto no_bitmap = zenith::select_bitmap(on, packed, 1, 2, ints);
  const auto no_indices = zenith::select_indices(on, packed, "1", 2, ints);
  packed.gather(words, ints);
  const zenith::named_packed_column not_named("name", ints);
  zenith::save_packed_table("file", ints);
  const auto of_fractions = zenith::packed_table::open("file").column<float>("name");
  const auto fractions_of_ints = zenith::where(ints, 1.5, 2.5);
  const auto fractions_of_packed = zenith::where(packed, 1.5, 2.5);
  const auto tested_words = zenith::where(words, "a", "b");
  const auto text_for_low = zenith::where(ints, "a", "b");
  const auto no_high = zenith::where(ints, 1);
  const auto no_values = zenith::where(ints.data(), 1, 2);
  const auto where_with_executor = zenith::where(on, ints, 1, 2);
  const auto decide_nothing = zenith::decide();
  const auto decide_words = zenith::decide(words, here);
  const auto decide_elsewhere = zenith::decide(zenith::top_k_problem{}, on);
  const auto decide_turned = zenith::decide(here, zenith::top_k_problem{});
  const auto no_machine = zenith::decide(zenith::top_k_problem{});
  const auto no_cost = zenith::seconds(3, here);
  const auto named_executor = zenith::executor("cpu");
  const auto no_device_memory = zenith::device_span<const float>(keys);
  const auto array_of_none = zenith::array<float>(keys);
  const auto array_by_name = zenith::array<float>("cpu", 3);
  zenith::array<float>(on, 3).copy_from(ints);
  zenith::array<float>(on, 3).copy_to(ints);
#endif
}
