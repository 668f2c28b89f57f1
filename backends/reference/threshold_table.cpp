#include <backends/reference/threshold_table.hpp>

#include <type_traits>
#include <vector>

#include <backends/reference/scored_top_k.hpp>

namespace zenith::reference_backend {
namespace {

template <class Index>
void number_by_id(const top_k_call& result, const std::vector<std::uint32_t>& ids) {
  auto* const indices = static_cast<Index*>(result.out_indices);
  for (std::uint64_t i = 0; i < result.k; ++i) indices[i] = static_cast<Index>(ids[indices[i]]);
}

/// The columns that the table was built from, of the rows that are left by rising id, and then what "scored_top_k"
/// does.
template <class T>
void restore_and_score(const execution& on, const threshold_table_call& call) {
  const auto& layout = *call.layout;
  const auto* const positions = reinterpret_cast<const std::uint32_t*>(call.table + layout.positions);
  std::vector<std::uint32_t> ids;
  for (std::uint64_t id = 0; id < layout.id_limit; ++id) {
    if (positions[id] != ~std::uint32_t{0}) ids.push_back(static_cast<std::uint32_t>(id));
  }
  std::vector<std::vector<T>> columns;
  std::vector<const void*> pointers;
  for (unsigned j = 0; j < call.column_count; ++j) {
    const auto* const values =
        reinterpret_cast<const T*>(call.table + layout.values) + call.columns[j] * layout.row_stride;
    columns.emplace_back();
    for (const auto id : ids) columns.back().push_back(values[positions[id]]);
    pointers.push_back(columns.back().data());
  }
  scored_top_k_call inner;
  inner.type = layout.type;
  inner.columns = pointers.data();
  inner.weights = call.weights;
  inner.column_count = call.column_count;
  inner.result = call.result;
  scored_top_k(on, inner);
  if (call.result.index_bytes == 4) {
    number_by_id<std::uint32_t>(call.result, ids);
  } else {
    number_by_id<std::uint64_t>(call.result, ids);
  }
  if (call.statistics != nullptr) *call.statistics = {layout.rows, layout.of_blocks.count, 0, 1};
}

}  // namespace

void threshold_table(const execution& on, const threshold_table_call& call) {
  switch (call.layout->type) {
    case key_type::float32: return restore_and_score<float>(on, call);
    case key_type::float64: return restore_and_score<double>(on, call);
    case key_type::int32: return restore_and_score<std::int32_t>(on, call);
    default: return restore_and_score<std::uint32_t>(on, call);
  }
}

}  // namespace zenith::reference_backend
