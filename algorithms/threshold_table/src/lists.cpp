#include <algorithm>
#include <utility>

#include <algorithms/threshold_table/src/storage.hpp>
#include <core/key_order.hpp>
#include <core/workers.hpp>

namespace zenith::detail {

template <class T>
void sort_lists(table_storage& of, int workers) {
  const auto& layout = of.layout;
  of.lists.resize(layout.columns * layout.rows);
  share_out(workers, layout.columns, [&](int, std::uint64_t j) {
    const auto* const column = reinterpret_cast<const T*>(of.data + layout.values) + j * layout.row_stride;
    std::vector<std::pair<ordered::bits_t<T>, std::uint32_t>> order(layout.rows);
    for (std::uint32_t i = 0; i < layout.rows; ++i) order[i] = {ordered::key_order<T>{}.image(column[i]), i};
    std::ranges::sort(order);
    for (std::uint64_t i = 0; i < layout.rows; ++i) of.lists[j * layout.rows + i] = order[i].second;
  });
}
template void sort_lists<float>(table_storage& of, int workers);
template void sort_lists<double>(table_storage& of, int workers);
template void sort_lists<std::int32_t>(table_storage& of, int workers);
template void sort_lists<std::uint32_t>(table_storage& of, int workers);

}  // namespace zenith::detail
