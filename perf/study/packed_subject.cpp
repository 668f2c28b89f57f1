#include <perf/study/packed_subject.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <utility>

#include <perf/study/check.hpp>
#include <perf/study/placed.hpp>

namespace zenith_study {
namespace {

using zenith::encoding;

// Names the measurement of all operations, of which each has one strategy: calibration asks for it, since every backend
// unpacks.
constexpr std::string_view measured_as = "block_decode";
constexpr std::array all_operations{zenith::unpack_call::operation,          zenith::packed_sum_call::operation,
                                    zenith::packed_extremes_call::operation, zenith::packed_select_call::operation,
                                    zenith::packed_top_k_call::operation,    zenith::pack_call::operation,
                                    zenith::device_pack_call::operation};
constexpr std::uint64_t k = 128;
// What is selected; about half of the twelve-bit values that calibration packs.
constexpr int low = 100;
constexpr int high = 2000;

bool offers_any(const zenith::executor& on, std::string_view operation) {
  return std::ranges::any_of(on.settings().target->kernels,
                             [&](const zenith::kernel& one) { return one.operation == operation; });
}

template <class T>
class packed_input final : public input {
 public:
  packed_input(std::vector<T> values, std::vector<encoding> kinds, std::vector<std::string_view> operations)
      : values_(std::move(values)),
        kinds_(std::move(kinds)),
        operations_(std::move(operations)),
        smallest_(zenith::pack(packer_, values_).encoding()) {}

  [[nodiscard]] std::size_t points() const override { return kinds_.size(); }
  [[nodiscard]] std::string label(std::size_t point) const override {
    return fmt::format("{} {} in {}", values_.size(), to_string(zenith::key_type_of<T>), to_string(kinds_[point]));
  }

  [[nodiscard]] std::vector<coordinate> coordinates(std::size_t point) override {
    return {{"encoding", point, {}, std::string{to_string(kinds_[point])}}};
  }

  [[nodiscard]] std::vector<trial> place(std::size_t point, const placement& at) override {
    const auto column = pack(point);
    std::vector<trial> made;
    const auto add = [&](std::string_view operation, std::function<void()> call, std::function<std::string()> fault) {
      made.push_back({operation, std::move(call), std::move(fault), [this, column](facts& into) {
                        into.numbers["bits_per_value"] = column->bits_per_value();
                        into.numbers["smallest"] = column->encoding() == smallest_ ? 1 : 0;
                      }});
    };
    for (const auto operation : operations_) {
      if (!offers_any(at.on, operation)) continue;
      if (operation == zenith::pack_call::operation) {
        add_pack(add, at, column, kinds_[point]);
      } else if (operation == zenith::device_pack_call::operation) {
        if (at.resident) add_device_pack(add, at, column, kinds_[point]);
      } else if (kinds_[point] != encoding::automatic) {
        if (at.resident) {
          const auto there = std::make_shared<const zenith::packed_device_column<T>>(at.on, *column);
          add_query(add, operation, at, there, [](auto& out) { return out.device(); });
        } else {
          add_query(
              add, operation, at, column, [](auto& out) -> auto& { return out.host(); });
        }
      }
    }
    return made;
  }

  [[nodiscard]] std::optional<zenith::cost> cost(std::size_t point, std::string_view operation, const placement& at,
                                                 const zenith::device_profile& on) override {
    return zenith::packed_cost(problem(point, operation, at.space()), on);
  }
  [[nodiscard]] zenith::decision decide(std::size_t point, std::string_view operation, zenith::memory_space space,
                                        const zenith::machine& on) override {
    return zenith::decide(problem(point, operation, space), on);
  }

 private:
  using column_t = zenith::packed_column<T>;

  std::shared_ptr<const column_t> pack(std::size_t point) {
    if (packed_ == nullptr || packed_point_ != point) {
      packed_ = std::make_shared<const column_t>(zenith::pack(packer_, values_, kinds_[point]));
      packed_point_ = point;
    }
    return packed_;
  }

  zenith::packed_problem problem(std::size_t point, std::string_view operation, zenith::memory_space space) {
    zenith::packed_problem of;
    of.operation = operation;
    of.count = values_.size();
    of.type = zenith::key_type_of<T>;
    of.kind = kinds_[point];
    of.space = operation == zenith::pack_call::operation ? zenith::memory_space::host : space;
    of.bits_per_value = 8 * sizeof(T);
    if (operation == zenith::pack_call::operation || operation == zenith::device_pack_call::operation) return of;
    of.bits_per_value = pack(point)->bits_per_value();
    if (operation == zenith::packed_top_k_call::operation) of.k = most_k();
    return of;
  }
  [[nodiscard]] std::size_t most_k() const { return std::min<std::size_t>(k, values_.size()); }

  static std::string unless(bool holds, std::string_view what) { return holds ? "" : fmt::format("{} is wrong", what); }

  template <class Add>
  void add_pack(const Add& add, const placement& at, const std::shared_ptr<const column_t>& right, encoding kind) {
    const auto made = std::make_shared<column_t>();
    add(
        zenith::pack_call::operation, [=, this] { *made = zenith::pack(at.on, values_, kind); },
        [=] { return unless(std::ranges::equal(made->bytes(), right->bytes()), "the packed column"); });
  }
  template <class Add>
  void add_device_pack(const Add& add, const placement& at, const std::shared_ptr<const column_t>& right,
                       encoding kind) {
    const auto from = std::make_shared<const zenith::array<T>>(at.on, std::span<const T>(values_));
    const auto made = std::make_shared<zenith::packed_device_column<T>>();
    add(
        zenith::device_pack_call::operation,
        [=] {
          zenith::pack_into(at.on, from->device(), *made, kind);
          at.on.synchronize();
        },
        [=] { return unless(std::ranges::equal(made->to_host().bytes(), right->bytes()), "the packed column"); });
  }

  // `place_of` gives the place of an output.
  template <class Add, class Column, class PlaceOf>
  void add_query(const Add& add, std::string_view operation, const placement& at,
                 const std::shared_ptr<const Column>& column, const PlaceOf& place_of) {
    const auto size = values_.size();
    const auto on = at.on;
    if (operation == zenith::unpack_call::operation) {
      const auto to = std::make_shared<output<T>>(at, size);
      add(
          operation,
          [=] {
            zenith::unpack(on, *column, place_of(*to));
            on.synchronize();
          },
          [=, this] { return unless(std::ranges::equal(to->read(), values_), "the decoding"); });
    } else if (operation == zenith::packed_sum_call::operation) {
      using sum_t = zenith::detail::sum_t<T>;
      const auto to = std::make_shared<sum_t>();
      add(
          operation, [=] { *to = zenith::sum(on, *column); },
          [=, this] {
            std::uint64_t right = 0;
            for (const auto value : values_) right += static_cast<std::uint64_t>(value);
            return unless(*to == static_cast<sum_t>(right), "the sum");
          });
    } else if (operation == zenith::packed_extremes_call::operation) {
      const auto to = std::make_shared<T>();
      add(
          operation, [=] { *to = zenith::minimum(on, *column); },
          [=, this] { return unless(*to == std::ranges::min(values_), "the minimum"); });
    } else if (operation == zenith::packed_select_call::operation) {
      const auto to = std::make_shared<output<std::uint64_t>>(at, (size + 63) / 64);
      add(
          operation,
          [=] {
            zenith::select_bitmap(on, *column, static_cast<T>(low), static_cast<T>(high), place_of(*to));
            on.synchronize();
          },
          [=, this] {
            std::vector<std::uint64_t> right(to->host().size());
            for (std::size_t i = 0; i < size; ++i) {
              const bool in = values_[i] >= static_cast<T>(low) && values_[i] <= static_cast<T>(high);
              right[i / 64] |= std::uint64_t{in} << (i % 64);
            }
            return unless(std::ranges::equal(to->read(), right), "the selection");
          });
    } else if (operation == zenith::packed_top_k_call::operation) {
      const auto best = std::make_shared<output<T>>(at, most_k());
      const auto rows = std::make_shared<output<std::uint32_t>>(at, most_k());
      add(
          operation,
          [=] {
            zenith::top_k(on, *column, place_of(*best), place_of(*rows));
            on.synchronize();
          },
          [=, this] {
            const auto right = best_positions<T>(values_, most_k(), false);
            return find_fault<T>(values_, right, best->read(), rows->read());
          });
    }
  }

  std::vector<T> values_;
  std::vector<encoding> kinds_;
  std::vector<std::string_view> operations_;
  zenith::executor packer_ = zenith::make_executor("cpu");
  encoding smallest_;
  std::shared_ptr<const column_t> packed_;
  std::size_t packed_point_ = 0;
};

// Values for which an encoding is made: steps for delta, runs for run_length, 12 random bits for the others.
template <class T>
std::vector<T> values_for(encoding kind, std::uint64_t count, std::uint64_t seed) {
  std::vector<T> values(count);
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(kind));
  T last = 0;
  for (auto& value : values) {
    const auto bits = static_cast<T>(random() & 4095);
    if (kind == encoding::delta) {
      last = static_cast<T>(last + bits / 256);
    } else if (kind != encoding::run_length || bits % 16 == 0) {
      last = bits;
    }
    value = last;
  }
  return values;
}

template <class T>
question ask(encoding kind, std::uint64_t count, std::uint64_t seed, std::vector<std::string_view> operations) {
  const auto operation = operations.front();
  return {operation, [=](std::uint32_t variant) {
            return make_packed_input<T>(values_for<T>(kind, count, seed + variant), {kind}, operations);
          }};
}

class packed_family final : public subject {
 public:
  packed_family() : subject("packed_column", {all_operations.begin(), all_operations.end()}, {measured_as}, false) {}

  [[nodiscard]] std::vector<ladder> ladders() override {
    std::vector<ladder> all;
    for (const auto kind : kinds()) {
      ladder narrow{fmt::format("{}, int32", to_string(kind)), {}};
      ladder wide{fmt::format("{}, int64", to_string(kind)), {}};
      for (const int log_count : {14, 18, 22}) {
        narrow.rungs.push_back(ask<std::int32_t>(kind, std::uint64_t{1} << log_count, 0, operations()));
        wide.rungs.push_back(ask<std::int64_t>(kind, std::uint64_t{1} << log_count, 0, operations()));
      }
      all.push_back(std::move(narrow));
      all.push_back(std::move(wide));
    }
    return all;
  }

  // Every count of the grid is as likely as every other, with each encoding, width and operation on columns in turn.
  [[nodiscard]] std::vector<question> draw(int questions, unsigned seed, int most_log_count) override {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> log_count(10, most_log_count);
    std::vector<question> all;
    for (unsigned drawn = 0; drawn < static_cast<unsigned>(questions); ++drawn) {
      const auto kind = zenith::packed_encodings[drawn % std::size(zenith::packed_encodings)];
      const auto operation = all_operations[drawn % (all_operations.size() - 1)];
      const auto count = std::uint64_t{1} << log_count(random);
      all.push_back(random() % 2 == 0 ? ask<std::int32_t>(kind, count, seed, {operation})
                                      : ask<std::int64_t>(kind, count, seed, {operation}));
    }
    return all;
  }

 private:
  static std::vector<encoding> kinds() {
    std::vector<encoding> all(std::begin(zenith::packed_encodings), std::end(zenith::packed_encodings));
    all.push_back(encoding::automatic);
    return all;
  }
};

}  // namespace

template <zenith::packable T>
std::shared_ptr<input> make_packed_input(std::vector<T> values, std::vector<encoding> kinds,
                                         std::vector<std::string_view> operations) {
  return std::make_shared<packed_input<T>>(std::move(values), std::move(kinds), std::move(operations));
}

template std::shared_ptr<input> make_packed_input(std::vector<std::int32_t>, std::vector<encoding>,
                                                  std::vector<std::string_view>);
template std::shared_ptr<input> make_packed_input(std::vector<std::int64_t>, std::vector<encoding>,
                                                  std::vector<std::string_view>);
template std::shared_ptr<input> make_packed_input(std::vector<std::uint64_t>, std::vector<encoding>,
                                                  std::vector<std::string_view>);

std::unique_ptr<subject> packed_column_subject() { return std::make_unique<packed_family>(); }

}  // namespace zenith_study
