#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <algorithms/packed_column/encode.hpp>
#include <algorithms/packed_column/resolve.hpp>
#include <algorithms/top_k/options.hpp>
#include <core/message.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>

namespace zenith::detail {
namespace {

[[noreturn]] void reject(std::string_view operation, const std::string& message) {
  throw error(error_code::invalid_argument, std::string{operation} + ": " + message);
}

packed_problem problem_of(std::string_view operation, const packed_operand& column) {
  packed_problem problem;
  problem.operation = operation;
  problem.count = column.layout.count;
  problem.bits_per_value = column.layout.count == 0 ? 0
                                                    : 8 * static_cast<double>(column.layout.total_bytes) /
                                                          static_cast<double>(column.layout.count);
  problem.type = column.layout.type;
  problem.kind = column.layout.kind;
  problem.space = column.space;
  return problem;
}

// Kernels work in one memory: where the two differ, results stay on the column's side until they are whole.
class staged {
 public:
  staged(const execution& on, memory_space column, memory_space out, void* to, std::size_t bytes) : to_(to) {
    if (column == out || bytes == 0) return;
    if (out == memory_space::device) {
      throw error(error_code::invalid_argument,
                  "packed column: the output lies on a device, the column on the host; make a packed_device_column",
                  on.target->name);
    }
    held_ = raw_array(executor(on), bytes);
  }

  [[nodiscard]] void* data() const { return held_.data() != nullptr ? held_.data() : to_; }
  /// Hands over the first `bytes` bytes.
  void finish(std::size_t bytes) const {
    if (held_.data() != nullptr) held_.read(to_, bytes);
  }

 private:
  raw_array held_;
  void* to_;
};

void require_indices(std::uint64_t count, int index_bytes, bool index_signed) {
  if (index_bytes != 4 || count == 0) return;
  const std::uint64_t most = index_signed ? 0x7fffffffULL : 0xffffffffULL;
  if (count - 1 > most) {
    reject("select_indices", "the column has " + std::to_string(count) +
                                 " values, more than indices of 32 bits can tell apart; use 64-bit indices");
  }
}

void clear(const execution& on, memory_space space, void* words, std::size_t bytes) {
  if (space == memory_space::host) {
    std::memset(words, 0, bytes);
    return;
  }
  const std::vector<std::byte> zeros(bytes);
  on.target->copy(on, words, memory_space::device, zeros.data(), memory_space::host, bytes);
  on.target->synchronize(on);
}

// Where no kernel is needed: its report is that of nothing.
void report_nothing(const packed_options& options) {
  if (options.statistics != nullptr) *options.statistics = {};
}

bool in_order(const packed_operand& column, std::uint64_t low, std::uint64_t high) {
  const bool with_sign = packed::is_signed(column.layout.type);
  return size_of(column.layout.type) == 4
             ? !packed::value_less(static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(low), with_sign)
             : !packed::value_less(high, low, with_sign);
}

}  // namespace

void throw_packed_index(std::uint64_t index, std::uint64_t count) {
  reject("get", "i is " + std::to_string(index) + ", but the column has " + std::to_string(count) + " values");
}

void unpack(const executor& on, const packed_operand& column, std::uint64_t first, memory_space out_space, void* out,
            std::size_t count, const packed_options& options) {
  const auto& layout = column.layout;
  if (first > layout.count || count > layout.count - first) {
    reject("unpack", "first is " + std::to_string(first) + " and out has " + std::to_string(count) +
                         " elements, but the column has " + std::to_string(layout.count));
  }
  auto problem = problem_of(unpack_call::operation, column);
  problem.count = count;
  const auto where = packed::resolve(on, problem);
  if (count == 0) return report_nothing(options);
  const std::size_t bytes = count * size_of(layout.type);
  const staged results(where.on, column.space, out_space, out, bytes);
  const unpack_call call{layout, column.space, first, count, results.data(), options.statistics};
  where.by->run(where.on, &call);
  results.finish(bytes);
}

std::uint64_t packed_sum(const executor& on, const packed_operand& column, const packed_options& options) {
  std::uint64_t sum = 0;
  const auto where = packed::resolve(on, problem_of(packed_sum_call::operation, column));
  if (column.layout.count > 0) {
    const packed_sum_call call{column.layout, column.space, &sum, options.statistics};
    where.by->run(where.on, &call);
  } else {
    report_nothing(options);
  }
  return sum;
}

packed_extremes extremes(const executor& on, const packed_operand& column, std::string_view operation,
                         const packed_options& options) {
  if (column.layout.count == 0) reject(operation, "the column has no values");
  packed_extremes found{};
  const auto where = packed::resolve(on, problem_of(packed_extremes_call::operation, column));
  const packed_extremes_call call{column.layout, column.space, &found.minimum, &found.maximum, options.statistics};
  where.by->run(where.on, &call);
  return found;
}

std::uint64_t select_bitmap(const executor& on, const packed_operand& column, std::uint64_t low, std::uint64_t high,
                            memory_space out_space, std::uint64_t* words, std::size_t word_count,
                            const packed_options& options) {
  const std::uint64_t wanted = column.layout.count / 64 + (column.layout.count % 64 != 0 ? 1 : 0);
  if (word_count != wanted) {
    reject("select_bitmap", "words has " + std::to_string(word_count) + " elements; a column of " +
                                std::to_string(column.layout.count) + " values needs " + std::to_string(wanted));
  }
  const auto problem = problem_of(packed_select_call::operation, column);
  const auto where = packed::resolve(on, problem);
  if (wanted == 0) {
    report_nothing(options);
    return 0;
  }
  std::uint64_t matches = 0;
  const std::size_t bytes = word_count * sizeof(std::uint64_t);
  const staged results(where.on, column.space, out_space, words, bytes);
  if (in_order(column, low, high)) {
    packed_select_call call;
    call.column = column.layout;
    call.space = column.space;
    call.low = low;
    call.high = high;
    call.bitmap = static_cast<std::uint64_t*>(results.data());
    call.matches = &matches;
    call.statistics = options.statistics;
    where.by->run(where.on, &call);
  } else {
    clear(where.on, column.space, results.data(), bytes);
    report_nothing(options);
  }
  results.finish(bytes);
  return matches;
}

std::uint64_t select_indices(const executor& on, const packed_operand& column, std::uint64_t low, std::uint64_t high,
                             memory_space out_space, void* indices, std::size_t capacity, int index_bytes,
                             bool index_signed, const packed_options& options) {
  require_indices(column.layout.count, index_bytes, index_signed);
  const auto problem = problem_of(packed_select_call::operation, column);
  const auto where = packed::resolve(on, problem);
  if (column.layout.count == 0 || !in_order(column, low, high)) {
    report_nothing(options);
    return 0;
  }
  std::uint64_t matches = 0;
  const std::size_t most = std::min<std::uint64_t>(capacity, column.layout.count);
  const staged results(where.on, column.space, out_space, indices, most * static_cast<std::size_t>(index_bytes));
  packed_select_call call;
  call.column = column.layout;
  call.space = column.space;
  call.low = low;
  call.high = high;
  call.indices = results.data();
  call.index_bytes = index_bytes;
  call.capacity = most;
  call.matches = &matches;
  call.statistics = options.statistics;
  where.by->run(where.on, &call);
  if (matches > capacity) {
    reject("select_indices",
           "indices has " + std::to_string(capacity) + " elements, but " + std::to_string(matches) + " values match");
  }
  results.finish(matches * static_cast<std::size_t>(index_bytes));
  return matches;
}

top_k_run packed_top_k(const executor& on, const packed_operand& column, memory_space out_space,
                       const top_k_call& result, const top_k_options& options) {
  top_k_detail::check_options(options);
  auto problem = problem_of(packed_top_k_call::operation, column);
  problem.k = result.k;
  const auto where = packed::resolve(on, problem);
  if (options.strategy != "auto" && options.strategy != where.by->strategy) {
    throw error(error_code::unsupported,
                "top_k: options.strategy is '" + shown(options.strategy) +
                    "'; over a packed column it must be 'auto' or '" + std::string{where.by->strategy} + "'",
                where.on.target->name);
  }
  top_k_run ran{std::string{where.on.target->name}, std::string{where.by->strategy}};
  if (result.k == 0) {
    if (result.statistics != nullptr) *result.statistics = {};
    return ran;
  }
  const std::size_t key_bytes = result.k * size_of(result.type);
  const std::size_t index_bytes = result.k * static_cast<std::size_t>(result.index_bytes);
  const staged keys(where.on, column.space, out_space, result.out_keys, key_bytes);
  const staged indices(where.on, column.space, out_space, result.out_indices, index_bytes);
  packed_top_k_call call;
  call.column = column.layout;
  call.top_k = result;
  call.top_k.out_keys = keys.data();
  call.top_k.out_indices = indices.data();
  where.by->run(where.on, &call);
  keys.finish(key_bytes);
  indices.finish(index_bytes);
  return ran;
}

}  // namespace zenith::detail
