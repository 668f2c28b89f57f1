// The CPU packs in one pass where it can: into buffers of every size, with whatever the memory held.

#include <catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <algorithms/packed_column/layout.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <zenith/backend.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith::encoding;
namespace packed = zenith::packed;

// Memory as a kernel may get it: every bit set, and guarded by the address sanitizer.
class filled {
 public:
  explicit filled(std::uint64_t size)
      : size_(size), bytes_(static_cast<std::byte*>(::operator new (size, std::align_val_t{64}))) {
    std::memset(bytes_, 0xff, size);
  }
  filled(const filled&) = delete;
  filled& operator=(const filled&) = delete;
  ~filled() { ::operator delete (bytes_, std::align_val_t{64}); }
  [[nodiscard]] std::byte* bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::uint64_t size_;
  std::byte* bytes_;
};

struct memory {
  std::uint64_t capacity = 0;
  std::unique_ptr<filled> reserved;
  std::unique_ptr<filled> allocated;

  static zenith::packed_buffer reserve(void* context, std::uint64_t most) {
    auto& own = *static_cast<memory*>(context);
    own.reserved = std::make_unique<filled>(std::min(own.capacity, most));
    return {own.reserved->bytes(), own.reserved->size(), false};
  }
  static std::byte* allocate(void* context, std::uint64_t bytes) {
    auto& own = *static_cast<memory*>(context);
    own.reserved.reset();
    own.allocated = std::make_unique<filled>(bytes);
    return own.allocated->bytes();
  }
};

// The whole column, made with `capacity` bytes at hand; says whether they were enough.
template <class T>
std::vector<std::byte> packed_with(std::uint64_t capacity, const zenith::executor& on, const std::vector<T>& values,
                                   encoding kind, bool patches, bool& was_enough) {
  memory own;
  own.capacity = capacity;
  zenith::packed_layout made;
  zenith::packed_digest digest;
  zenith::pack_call call;
  call.type = zenith::key_type_of<T>;
  call.values = values.data();
  call.count = values.size();
  call.kind = kind;
  call.patches = patches;
  call.reserve = memory::reserve;
  call.allocate = memory::allocate;
  call.context = &own;
  call.result = &made;
  call.digest = &digest;
  const auto settings = on.settings();
  zenith::find_kernel(*settings.target, zenith::pack_call::operation, "group_encode")->run(settings, &call);

  was_enough = own.allocated == nullptr;
  std::byte* const bytes = was_enough ? own.reserved->bytes() : own.allocated->bytes();
  REQUIRE(made.bytes == bytes);
  REQUIRE(made.total_bytes <= (was_enough ? own.reserved->size() : own.allocated->size()));
  packed::clear_padding(made, bytes);
  auto header = packed::header_of(made);
  std::memcpy(bytes, &header, sizeof header);
  const std::uint64_t rows = made.total_bytes / 64;
  packed::add_bytes(digest, bytes, 0, std::min(rows, digest.first_row) * 64);
  header.checksum = packed::finish(digest, rows);
  std::memcpy(bytes, &header, sizeof header);
  return {bytes, bytes + made.total_bytes};
}

enum class outliers { none, few, late, everywhere };

template <class T>
std::vector<T> some_values(std::size_t count, unsigned width, outliers where, std::mt19937_64& random) {
  using U = std::make_unsigned_t<T>;
  std::vector<T> values(count);
  const U origin = static_cast<U>(random() >> 2) / 4;  // so that outliers lie above
  const std::size_t few = 1 + random() % 8;            // some pay for their metadata, hardly
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_one = where == outliers::few    ? i % 32 == 7 && i / 32 < few
                        : where == outliers::late ? i > count / 2 && random() % 64 == 0
                                                  : where == outliers::everywhere && random() % 64 == 0;
    const U bits = width == 0 ? U{0} : static_cast<U>(static_cast<U>(random()) >> (sizeof(U) * 8 - width));
    values[i] = static_cast<T>(static_cast<U>(origin + (is_one ? static_cast<U>(random()) : bits)));
  }
  return values;
}

template <class T>
void check_capacities(const std::string& test) {
  std::uint64_t number = 0;
  for (const std::size_t count : {2048, 2049, 6000, 400'007}) {
    for (const auto where : {outliers::none, outliers::few, outliers::few, outliers::few, outliers::few, outliers::late,
                             outliers::everywhere}) {
      if (count > 6000 && where == outliers::few) continue;
      const auto seed = zenith_test::seed_of(test, number++);
      std::mt19937_64 random(seed);
      // a few outliers pay in narrow columns only
      const auto width = static_cast<unsigned>(random() % (where == outliers::few ? 8 : sizeof(T) * 8 - 8));
      const auto values = some_values<T>(count, width, where, random);
      for (const auto kind : {encoding::frame_of_reference, encoding::delta}) {
        for (const bool patches : {true, false}) {
          const auto expected = zenith::pack(zenith::reference(), values, kind, {.patches = patches});
          const std::uint64_t size = expected.bytes().size();
          const bool is_plain = expected.layout().patches == 0;
          for (const auto& target : zenith_test::executors("unpack", {"cpu"})) {
            const std::uint64_t capacities[] = {0, 64, size / 2, size - 64, size - 1, size, size + 63, 10 * size};
            for (const auto capacity : capacities) {
              if (count > 6000 && random() % 8 != 0) continue;
              INFO(test << " seed " << seed << ", " << count << " values of " << width << " bits, " << to_string(kind)
                        << ", patches " << patches << ", capacity " << capacity << " of " << size << ", on "
                        << target.executor_string);
              bool was_enough = false;
              const auto seen = packed_with(capacity, target.on, values, kind, patches, was_enough);
              REQUIRE(std::ranges::equal(seen, expected.bytes()));
              if (was_enough) REQUIRE((is_plain && capacity >= size));
              if (where == outliers::none) REQUIRE(was_enough == (is_plain && capacity >= size));
            }
          }
        }
      }
    }
  }
}

// So large that it goes past the caches into memory that was used before.
template <class T>
void check_large(const std::string& test, unsigned width) {
  const auto seed = zenith_test::seed_of(test, 0);
  std::mt19937_64 random(seed);
  const std::size_t count = (std::size_t{128} << 20) / sizeof(T) + 5000;
  const auto values = some_values<T>(count, width, outliers::none, random);
  INFO(test << " seed " << seed);
  zenith::packed_column<T> first;
  zenith::pack_into(zenith::cpu({.threads = 1}), values, first, encoding::frame_of_reference);
  REQUIRE_NOTHROW(zenith::packed_view<T>::parse(first.bytes()));
  std::vector<T> unpacked(count);
  zenith::unpack(zenith::cpu(), first, unpacked);
  REQUIRE(unpacked == values);
  zenith::packed_column<T> again = zenith::pack(zenith::cpu({.threads = 3}), values, encoding::frame_of_reference);
  REQUIRE(std::ranges::equal(again.bytes(), first.bytes()));
  for (const int threads : {1, 3}) {
    const auto* const memory = again.bytes().data();
    zenith::pack_into(zenith::cpu({.threads = threads}), std::vector<T>(1), again);
    zenith::pack_into(zenith::cpu({.threads = threads}), values, again, encoding::frame_of_reference);
    REQUIRE(again.bytes().data() == memory);
    REQUIRE(std::ranges::equal(again.bytes(), first.bytes()));
  }
  again.shrink_to_fit();
  REQUIRE(std::ranges::equal(again.bytes(), first.bytes()));
}

}  // namespace

TEST_CASE("the CPU packs 32 bits into buffers of every size") {
  check_capacities<std::int32_t>("capacity int32");
  check_capacities<std::uint32_t>("capacity uint32");
}

TEST_CASE("the CPU packs 64 bits into buffers of every size") {
  check_capacities<std::int64_t>("capacity int64");
  check_capacities<std::uint64_t>("capacity uint64");
}

TEST_CASE("the CPU packs large columns into used memory") {
  check_large<std::uint32_t>("large uint32", 5);
  check_large<std::int64_t>("large int64", 11);
}

TEST_CASE("several workers clear and sum a large column of any encoding") {
  const auto seed = zenith_test::seed_of("many workers", 0);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  // no whole group at the end, and 2 MiB or more in each encoding
  const auto values = some_values<std::int64_t>(1'200'003, 20, outliers::everywhere, random);
  for (const auto kind : {encoding::plain, encoding::frame_of_reference, encoding::delta, encoding::vertical,
                          encoding::null_suppression_fixed, encoding::null_suppression_variable, encoding::run_length,
                          encoding::automatic}) {
    const auto expected = zenith::pack(zenith::reference(), values, kind);
    REQUIRE(expected.bytes().size() > 2 * 1024 * 1024);
    for (const int threads : {1, 2, 4}) {
      INFO(to_string(kind) << ", " << threads << " threads");
      auto column = zenith::pack(zenith::cpu({.threads = threads}), values, kind);
      REQUIRE(std::ranges::equal(column.bytes(), expected.bytes()));
      zenith::pack_into(zenith::cpu({.threads = threads}), values, column, kind);
      REQUIRE(std::ranges::equal(column.bytes(), expected.bytes()));
    }
  }
}

TEST_CASE("shrinking gives memory back, and leaves the bytes where they are") {
  std::vector<std::int32_t> values(3'000'000, 7);
  zenith::packed_column<std::int32_t> column;
  column.shrink_to_fit();
  CHECK(column.empty());
  zenith::pack_into(zenith::cpu(), values, column, encoding::frame_of_reference);
  const auto* const memory = column.bytes().data();
  column.shrink_to_fit();
  CHECK(column.bytes().data() == memory);
  CHECK_NOTHROW(zenith::packed_view<std::int32_t>::parse(column.bytes()));
  // what was given back is asked for again
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * 2654435761U);
  zenith::pack_into(zenith::cpu(), values, column, encoding::frame_of_reference);
  CHECK_NOTHROW(zenith::packed_view<std::int32_t>::parse(column.bytes()));
  CHECK(column.get(values.size() - 1) == values.back());
  column.shrink_to_fit();
  CHECK(column.get(values.size() - 1) == values.back());
}
