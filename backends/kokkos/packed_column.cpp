#include <backends/kokkos/packed_column.hpp>

#include <memory>
#include <type_traits>
#include <utility>

#include <algorithms/packed_column/pack.hpp>
#include <backends/kokkos/packed_blocks.hpp>
#include <backends/kokkos/runtime.hpp>
#include <core/with_key_type.hpp>

namespace zenith::kokkos_backend {
namespace {

// The caller's memory for results, and where the space writes them.
template <class T>
class call_results {
 public:
  call_results(void* to, std::uint64_t count)
      : caller_(static_cast<T*>(to), static_cast<std::size_t>(count)),
        mirror_(allocating("results", [&] { return Kokkos::create_mirror_view(memory{}, caller_); })) {}

  [[nodiscard]] borrowed<T> view() const { return borrowed<T>(mirror_.data(), mirror_.extent(0)); }
  /// Waits for the space, and hands over.
  void finish() const {
    space{}.fence();
    Kokkos::deep_copy(caller_, mirror_);
  }

 private:
  host_view<T> caller_;
  decltype(Kokkos::create_mirror_view(memory{}, std::declval<host_view<T>>())) mirror_;
};

// Calls function(type_identity<T>) with the type of the values, inside Kokkos.
template <class Function>
void run(key_type type, packed_statistics* statistics, const Function& function) {
  const session kokkos;
  reporting([&] {
    detail::with_key_type(type, [&]<class T>(std::type_identity<T> one) {
      if constexpr (std::is_integral_v<T>) function(one);
    });
  });
  if (statistics != nullptr) *statistics = {space::name(), is_host_space ? concurrency() : 0};
}

template <class T>
void unpack_to(const packed_layout& column, std::uint64_t first, const borrowed<T>& out) {
  const std::uint64_t last = first + out.extent(0);
  const auto blocks = team_blocks::of(column, first / packed_block_items, (last - 1) / packed_block_items + 1);
  Kokkos::parallel_for("zenith::packed_column::unpack", blocks.policy(), unpack_blocks<T>{blocks, first, out});
}

template <class Index>
void write_indices(const packed_select_call& call, const borrowed<const std::uint64_t>& words, std::uint64_t matches) {
  if (matches == 0) return;
  const call_results<Index> indices(call.indices, matches);
  Kokkos::parallel_scan("zenith::packed_column::select indices", range(words.extent(0)),
                        write_matches<Index>{words, indices.view()});
  indices.finish();
}

}  // namespace

void unpack(const execution& /*on*/, const unpack_call& call) {
  run(call.column.type, call.statistics, [&]<class T>(std::type_identity<T>) {
    const call_column column(call.column);
    const call_results<T> out(call.out, call.count);
    unpack_to(column.layout(), call.first, out.view());
    out.finish();
  });
}

void packed_sum(const execution& /*on*/, const packed_sum_call& call) {
  run(call.column.type, call.statistics, [&]<class T>(std::type_identity<T>) {
    const call_column column(call.column);
    const auto blocks = team_blocks::of(column.layout());
    std::uint64_t sum = 0;
    Kokkos::parallel_reduce("zenith::packed_column::sum", blocks.policy(), sum_blocks<T>{blocks}, sum);
    *call.sum = sum;
  });
}

void packed_extremes(const execution& /*on*/, const packed_extremes_call& call) {
  run(call.column.type, call.statistics, [&]<class T>(std::type_identity<T>) {
    const call_column column(call.column);
    const auto blocks = team_blocks::of(column.layout());
    Kokkos::MinMaxScalar<T> found;
    Kokkos::parallel_reduce("zenith::packed_column::extremes", blocks.policy(), extremes_of_blocks<T>{blocks},
                            Kokkos::MinMax<T>(found));
    *call.minimum = static_cast<std::make_unsigned_t<T>>(found.min_val);
    *call.maximum = static_cast<std::make_unsigned_t<T>>(found.max_val);
  });
}

// The bitmap first; indices are a scan over it.
void packed_select(const execution& /*on*/, const packed_select_call& call) {
  run(call.column.type, call.statistics, [&]<class T>(std::type_identity<T>) {
    const call_column column(call.column);
    const auto blocks = team_blocks::of(column.layout());
    const auto select = [&](const borrowed<std::uint64_t>& words) {
      std::uint64_t matches = 0;
      Kokkos::parallel_reduce("zenith::packed_column::select", blocks.policy(),
                              select_blocks<T>{blocks, static_cast<T>(call.low), static_cast<T>(call.high), words},
                              matches);
      return matches;
    };
    const std::uint64_t words = (call.column.count + 63) / 64;
    if (call.bitmap != nullptr) {
      const call_results<std::uint64_t> bitmap(call.bitmap, words);
      *call.matches = select(bitmap.view());
      bitmap.finish();
      return;
    }
    const auto bitmap = make_buffer<std::uint64_t>("zenith::packed_column::select bitmap", words);
    const std::uint64_t matches = select(borrowed<std::uint64_t>(bitmap.data(), bitmap.extent(0)));
    *call.matches = matches;
    if (matches > call.capacity) return;
    const borrowed<const std::uint64_t> bits(bitmap.data(), bitmap.extent(0));
    call.index_bytes == 4 ? write_indices<std::uint32_t>(call, bits, matches)
                          : write_indices<std::uint64_t>(call, bits, matches);
  });
}

// On the host's space: values and column lie in its memory.
void pack(const execution& /*on*/, const pack_call& call) {
  run(call.type, call.statistics, [&]<class T>(std::type_identity<T>) {
    using host = Kokkos::DefaultHostExecutionSpace;
    const auto for_groups = [](std::uint64_t groups, const auto& work) {
      Kokkos::parallel_for(
          "zenith::packed_column::pack",
          Kokkos::RangePolicy<host, Kokkos::IndexType<std::int64_t>>(0, static_cast<std::int64_t>(groups)),
          [&work](std::int64_t group) { work(static_cast<std::uint64_t>(group)); });
      host{}.fence();
    };
    packed::pack_groups(call, packed::plain_encoder<std::make_unsigned_t<T>>(call), for_groups);
  });
}

}  // namespace zenith::kokkos_backend
