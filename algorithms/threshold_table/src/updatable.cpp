#include <algorithms/threshold_table/src/updatable.hpp>

#include <limits>
#include <string>

#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

[[noreturn]] void reject(const std::string& message, error_code code = error_code::invalid_argument) {
  throw error(code, "updatable_threshold_table: " + message);
}

u32 least_rows_of(const updatable_table_options& options) {
  if (options.block_rows < 2 || options.block_rows > most_block_rows) {
    reject("options.block_rows is " + std::to_string(options.block_rows) + "; it must be from 2 to " +
           std::to_string(most_block_rows));
  }
  if (options.least_rows > options.block_rows / 2) {
    reject("options.least_rows is " + std::to_string(options.least_rows) + "; it must be at most half of block_rows, " +
           std::to_string(options.block_rows / 2));
  }
  return options.least_rows == 0 ? std::max(u32{1}, options.block_rows / 4) : options.least_rows;
}

template <class T>
void check_row(const updatable_storage<T>& in, std::size_t values) {
  if (values == in.columns()) return;
  reject("row has " + std::to_string(values) + " values and the table " + std::to_string(in.columns()) +
         " columns; they must be as many");
}
template <class T>
void check_rows(const updatable_storage<T>& in, const column_set<T>& rows) {
  if (rows.size() == in.columns()) return;
  reject("rows has " + std::to_string(rows.size()) + " columns and the table " + std::to_string(in.columns()) +
         "; they must be as many");
}
template <class T>
void check_id(const updatable_storage<T>& in, u64 id) {
  if (in.contains(id)) return;
  reject("id is " + std::to_string(id) +
         (id < in.id_limit() ? ", whose row was erased" : ", which no row was given yet"));
}
template <class T>
void check_ids_left(const updatable_storage<T>& in, u64 more) {
  if (more < std::numeric_limits<u32>::max() - in.id_limit()) return;
  reject("there are " + std::to_string(in.id_limit()) + " ids, and not " + std::to_string(more) +
             " more; the most is 2^32 - 2",
         error_code::unsupported);
}

template <class Call>
auto guarded(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    reject("there is no memory for more rows", error_code::out_of_memory);
  }
}

}  // namespace

template <class T>
auto updating<T>::make(std::size_t columns, const updatable_table_options& options) -> std::shared_ptr<storage> {
  const u32 least = least_rows_of(options);
  if (columns == 0 || columns > most_table_columns) {
    reject("columns is " + std::to_string(columns) + "; it must be from 1 to " + std::to_string(most_table_columns));
  }
  return guarded([&] { return std::make_shared<storage>(columns, options.block_rows, least); });
}

template <class T>
auto updating<T>::make(const table_storage* from, const updatable_table_options& options) -> std::shared_ptr<storage> {
  if (from == nullptr) reject("from has no columns; build it, if only of no rows");
  auto made = make(from->layout.columns, options);
  const auto& of = from->layout;
  const std::byte* const bytes = bytes_of(*from).data();
  const auto* const ids = reinterpret_cast<const u32*>(bytes + of.ids);
  const auto* const values = reinterpret_cast<const T*>(bytes + of.values);
  guarded([&] {
    loose_rows<T> rows;
    rows.ids.assign(ids, ids + of.rows);
    rows.values.resize(of.rows * of.columns);
    for (u64 j = 0; j < of.columns; ++j) {
      for (u64 i = 0; i < of.rows; ++i) rows.values[i * of.columns + j] = values[j * of.row_stride + i];
    }
    made->insert_all(rows, of.id_limit);
    return 0;
  });
  return made;
}

template <class T>
u64 updating<T>::insert(storage& in, std::span<const T> row) {
  const std::scoped_lock lock(in.guard);
  check_row(in, row.size());
  check_ids_left(in, 1);
  return guarded([&] {
    in.forget_snapshot();
    const u64 id = in.id_limit();
    in.insert(row.data());
    return id;
  });
}

template <class T>
u64 updating<T>::insert(storage& in, const column_set<T>& rows) {
  const std::scoped_lock lock(in.guard);
  check_rows(in, rows);
  check_ids_left(in, rows.rows());
  return guarded([&] {
    const u64 first = in.id_limit();
    loose_rows<T> all;
    all.values.resize(rows.rows() * rows.size());
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      for (std::size_t j = 0; j < rows.size(); ++j) all.values[i * rows.size() + j] = rows.data(j)[i];
      all.ids.push_back(static_cast<u32>(first + i));
    }
    in.forget_snapshot();
    in.insert_all(all, rows.rows());
    return first;
  });
}

template <class T>
void updating<T>::erase(storage& in, u64 id) {
  const std::scoped_lock lock(in.guard);
  check_id(in, id);
  guarded([&] {
    in.forget_snapshot();
    in.erase(id);
    return 0;
  });
}

template <class T>
void updating<T>::erase(storage& in, std::span<const u64> ids) {
  const std::scoped_lock lock(in.guard);
  for (const u64 id : ids) check_id(in, id);
  guarded([&] {
    std::vector<u64> sorted(ids.begin(), ids.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) reject("ids has " + std::to_string(*twice) + " twice");
    if (!sorted.empty()) in.forget_snapshot();
    in.erase(sorted);
    return 0;
  });
}

template <class T>
void updating<T>::update(storage& in, u64 id, std::span<const T> row) {
  const std::scoped_lock lock(in.guard);
  check_id(in, id);
  check_row(in, row.size());
  guarded([&] {
    in.forget_snapshot();
    in.update(id, row.data());
    return 0;
  });
}

template <class T>
std::size_t updating<T>::rows(const storage& in) {
  const std::scoped_lock lock(in.guard);
  return in.rows();
}

template <class T>
bool updating<T>::contains(const storage& in, u64 id) {
  const std::scoped_lock lock(in.guard);
  return in.contains(id);
}

template <class T>
std::vector<T> updating<T>::row(const storage& in, u64 id) {
  const std::scoped_lock lock(in.guard);
  check_id(in, id);
  std::vector<T> values(in.columns());
  in.copy_row(id, values.data());
  return values;
}

template <class T>
std::shared_ptr<const snapshot_storage<T>> updating<T>::snapshot(storage& in) {
  const std::scoped_lock lock(in.guard);
  return guarded([&] { return in.snapshot(); });
}

template struct updating<float>;
template struct updating<double>;
template struct updating<std::int32_t>;
template struct updating<u32>;

}  // namespace zenith::detail
