// Packed bytes from outside: cut short, damaged, or forged with a right checksum.

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <packed_bytes.hpp>
#include <settings.hpp>
#include <zenith/backend.hpp>
#include <zenith/packed_column.hpp>

using namespace zenith;
using unit::bytes;
using unit::header_of;
using unit::seal;
using zenith_test::expect_error;

namespace {

constexpr auto corrupt = error_code::corrupt_data;

template <class Function>
void for_every_type(Function&& function) {
  function(std::type_identity<std::int32_t>{});
  function(std::type_identity<std::uint32_t>{});
  function(std::type_identity<std::int64_t>{});
  function(std::type_identity<std::uint64_t>{});
}

// Something for every encoding to do: runs, outliers, values of either sign, and a tail.
template <class T>
std::vector<T> some_values(std::size_t count) {
  std::mt19937_64 random{zenith_test::seed_of("parse", count)};
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = i % 5 == 0 || i == 0 ? static_cast<T>(random() % 900 - 400) : values[i - 1];
    if (random() % 64 == 0) values[i] = static_cast<T>(random());
  }
  return values;
}

template <class T>
bytes packed_bytes_of(const std::vector<T>& values, encoding kind, const pack_options& options = {}) {
  const auto column = pack(reference(), values, kind, options);
  return {column.bytes().begin(), column.bytes().end()};
}

// Decodes all of what parse took, in both ways; the address sanitizer looks on.
template <class T>
void decode(const packed_view<T>& view) {
  using word = detail::packed_word<T>;
  bool same = true;
  word out[packed_block_items];
  for (std::uint64_t block = 0; block < view.layout().blocks(); ++block) {
    const unsigned items = packed::unpack_block(view.layout(), block, out);
    for (unsigned i = 0; i < items; ++i) {
      same &= static_cast<T>(out[i]) == view.get(block * packed_block_items + i);
    }
  }
  if (!same) FAIL_CHECK("a value alone is another than in its block");
}

// Parses a copy that ends with its allocation. What is taken can be decoded; all else is corrupt_data.
template <class T>
bool takes(const bytes& column) {
  const bytes copy(column);
  try {
    decode(packed_view<T>::parse(copy));
    return true;
  } catch (const error& refused) {
    if (refused.code() != corrupt && refused.code() != error_code::invalid_argument) FAIL_CHECK(refused.what());
    return false;
  }
}

template <class T>
void refuses(const bytes& column, std::string_view why) {
  expect_error(corrupt, {why}, [&] { (void)packed_view<T>::parse(bytes(column)); });
}

// The bytes after `change`, with a right checksum.
template <class Change>
bytes changed(bytes column, Change&& change) {
  change(column);
  seal(column);
  return column;
}

}  // namespace

TEST_CASE("a packed column that is cut short, or longer, is corrupt") {
  for_every_type([]<class T>(std::type_identity<T>) {
    for (const auto kind : packed_encodings) {
      const auto whole = packed_bytes_of(some_values<T>(300), kind);
      INFO(to_string(kind) << " of " << to_string(key_type_of<T>));
      REQUIRE(takes<T>(whole));
      for (std::size_t size = 0; size < whole.size(); ++size) {
        if (takes<T>(bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)))) FAIL_CHECK(size);
      }
      for (const std::size_t more : {1, 8, 64, 4096}) {
        auto longer = whole;
        longer.insert(longer.end(), more, std::byte{0});
        CHECK_FALSE(takes<T>(longer));
        seal(longer);
        CHECK_FALSE(takes<T>(longer));
      }
    }
  });
}

TEST_CASE("every flipped bit of a packed column is found") {
  for_every_type([]<class T>(std::type_identity<T>) {
    for (const auto kind : packed_encodings) {
      auto column = packed_bytes_of(some_values<T>(200), kind);
      const auto name = std::string{to_string(kind)} + " of " + std::string{to_string(key_type_of<T>)};
      INFO(name);
      for (std::size_t bit = 0; bit < column.size() * 8; ++bit) {
        if (!zenith_test::is_drawn(name, bit)) continue;
        const auto mask = std::byte{1} << (bit % 8);
        column[bit / 8] ^= mask;
        try {
          (void)packed_view<T>::parse(column);
          FAIL_CHECK("bit " << bit);
        } catch (const error& refused) {
          if (refused.code() != corrupt) FAIL_CHECK("bit " << bit << ": " << refused.what());
        }
        column[bit / 8] ^= mask;
      }
    }
  });
}

TEST_CASE("every flipped bit under a right checksum is refused or decodes") {
  for_every_type([]<class T>(std::type_identity<T>) {
    for (const auto kind : packed_encodings) {
      for (const int lanes : {4, 16}) {
        if (lanes == 16 && kind != encoding::vertical) continue;
        const auto whole = packed_bytes_of(some_values<T>(140), kind, {.lanes = lanes});
        const auto name = std::string{to_string(kind)} + " of " + std::string{to_string(key_type_of<T>)};
        INFO(name);
        for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
          if (!zenith_test::is_drawn(name, bit)) continue;
          auto column = whole;
          column[bit / 8] ^= std::byte{1} << (bit % 8);
          // so that the sizes of the header, but for the whole column's, are tried too
          if (bit / 64 == offsetof(packed_header, bytes) / 8) continue;
          seal(column);
          (void)takes<T>(column);
        }
      }
    }
  });
}

TEST_CASE("a forged header is refused") {
  using T = std::int32_t;
  const auto whole = packed_bytes_of(some_values<T>(300), encoding::frame_of_reference);
  const auto with = [&](auto&& change) {
    return changed(whole, [&](bytes& column) {
      auto header = header_of(column);
      change(header);
      unit::write(column, 0, header);
    });
  };
  refuses<T>(with([](auto& header) { header.magic[0] = 'z'; }), "ZPCK");
  refuses<T>(with([](auto& header) { header.version = 2; }), "version 2");
  refuses<T>(with([](auto& header) { header.kind = 7; }), "encoding");
  refuses<T>(with([](auto& header) { header.kind = 255; }), "encoding");
  for (const int type : {0, 1, 6, 255}) {
    refuses<T>(with([&](auto& header) { header.type = static_cast<std::uint8_t>(type); }), "type");
  }
  refuses<T>(with([](auto& header) { header.zero_a = 1; }), "reserved");
  refuses<T>(with([](auto& header) { header.zero_b = 1; }), "reserved");
  refuses<T>(with([](auto& header) { header.parameter = 1; }), "parameter");
  refuses<T>(with([](auto& header) { header.patches = header.count + 1; }), "patches");
  refuses<T>(with([](auto& header) { header.patches = ~std::uint64_t{0}; }), "patches");
  for (const std::uint64_t count :
       {std::uint64_t{2049}, std::uint64_t{1} << 32, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    refuses<T>(with([&](auto& header) { header.count = count; }), count > packed_most_items ? "2^56" : "sizes");
    refuses<T>(with([&](auto& header) { header.payload = count; }), "sizes");
  }
  // within the same sections, but not what is in them
  refuses<T>(with([](auto& header) { header.count = 200; }), "");
  // a section's size in whole lines of 16 words: with one word in the last line, one less is a line less
  const bool is_shorter = header_of(whole).payload % 16 == 1;
  refuses<T>(with([](auto& header) { header.payload -= 1; }), is_shorter ? "sizes" : "payload");
}

TEST_CASE("sizes that wrap around 64 bits are refused") {
  // sections that end just below 2^58, where rounding up once passed the bound, and the last one wraps to a few bytes
  for (const auto kind : {encoding::null_suppression_variable, encoding::frame_of_reference, encoding::delta}) {
    for (const std::uint64_t record : {40, 120, 232}) {
      for (const auto type : {key_type::int32, key_type::int64}) {
        for (std::uint64_t less = 0; less < 8; ++less) {
          const std::uint64_t groups = ((std::uint64_t{1} << 58) - 65) / record - less;
          packed_header header{};
          std::memcpy(header.magic, "ZPCK", 4);
          header.version = packed_version;
          header.kind = static_cast<std::uint8_t>(kind);
          header.type = static_cast<std::uint8_t>(type);
          header.count = groups * packed_group_items;
          const auto up = [](std::uint64_t at) { return (at + 63) / 64 * 64; };
          std::uint64_t end = up(64 + groups * record);
          if (kind == encoding::null_suppression_variable) end = up(end + groups * packed_group_blocks * 32);
          if (kind == encoding::delta) end = up(end + groups * packed_group_blocks * size_of(type));
          const std::uint64_t unit = kind == encoding::null_suppression_variable ? 1 : 4;
          header.payload = (std::uint64_t{0} - end + 128) / unit;
          const auto column = unit::forge(header, 192);
          expect_error(corrupt, {}, [&] {
            type == key_type::int32 ? (void)packed_view<std::int32_t>::parse(column)
                                    : (void)packed_view<std::int64_t>::parse(column);
          });
        }
      }
    }
  }
}

TEST_CASE("widths and starts that do not agree are refused") {
  using T = std::int32_t;
  using W = std::int64_t;
  const auto narrow = packed_bytes_of(some_values<T>(5000), encoding::frame_of_reference, {.patches = false});
  const auto wide = packed_bytes_of(some_values<W>(5000), encoding::frame_of_reference, {.patches = false});
  constexpr std::size_t record = sizeof(packed_header);
  constexpr std::string_view why = "widths do not add up";
  refuses<T>(changed(narrow, [&](bytes& to) { to[record + 72] |= std::byte{63}; }), why);
  refuses<T>(changed(narrow, [&](bytes& to) { unit::write(to, record, std::uint64_t{1} << 47); }), why);
  refuses<T>(changed(narrow, [&](bytes& to) { unit::write(to, record, (std::uint64_t{1} << 48) - 1); }), why);
  refuses<T>(changed(narrow,
                     [&](bytes& to) {
                       unit::write(to, record, unit::read<std::uint64_t>(to, record) ^ std::uint64_t{1} << 50);
                     }),
             why);
  refuses<T>(changed(narrow,
                     [&](bytes& to) {
                       unit::write(to, record, unit::read<std::uint64_t>(to, record) ^ std::uint64_t{1} << 63);
                     }),
             why);
  refuses<T>(changed(narrow, [&](bytes& to) { unit::write(to, record + 120, std::uint64_t{0}); }), why);
  refuses<W>(changed(wide, [&](bytes& to) { to[record + 136] = std::byte{65}; }), why);
  refuses<W>(changed(wide, [&](bytes& to) { to[record + 136] = std::byte{255}; }), why);
  refuses<W>(changed(wide, [&](bytes& to) { unit::write(to, record, ~std::uint64_t{0}); }), why);
  refuses<W>(changed(wide, [&](bytes& to) { unit::write(to, record + 202, std::uint16_t{0xffff}); }), why);
  // blocks without a value
  const std::size_t last = record + 2 * 120;
  refuses<T>(changed(narrow, [&](bytes& to) { unit::write(to, last + 8 + 15 * 4, std::uint32_t{1}); }), why);
}

TEST_CASE("the blocks of a vertical span are one") {
  using T = std::uint32_t;
  const auto whole = packed_bytes_of(some_values<T>(3000), encoding::vertical, {.lanes = 16});
  constexpr std::size_t record = sizeof(packed_header);
  constexpr std::string_view why = "widths do not add up";
  CHECK(takes<T>(whole));
  refuses<T>(changed(whole, [&](bytes& to) { unit::write(to, record + 8 + 4, std::uint32_t{12345}); }), why);
  // one block's width less, another's more
  refuses<T>(
      changed(whole,
              [&](bytes& to) { to[record + 72 + 3] = std::byte(std::to_integer<unsigned>(to[record + 72 + 3]) ^ 1U); }),
      why);
  for (const std::uint32_t lanes : {0U, 1U, 3U, 32U, 0xffffffffU}) {
    refuses<T>(changed(whole, [&](bytes& to) { unit::write(to, offsetof(packed_header, parameter), lanes); }),
               "parameter");
  }
  // other lanes, the same records: a span's blocks are others then
  CHECK_NOTHROW(takes<T>(changed(whole, [&](bytes& to) { unit::write(to, offsetof(packed_header, parameter), 8U); })));
}

TEST_CASE("patches that do not fit their blocks are refused") {
  for (const auto kind : {encoding::frame_of_reference, encoding::delta}) {
    using T = std::int32_t;
    // outliers among the values, or among the steps between them
    std::vector<T> values(1000);
    for (std::size_t i = 1; i < values.size(); ++i) {
      const T usual = static_cast<T>(i % 4) + (kind == encoding::delta ? values[i - 1] : 0);
      values[i] = i % 50 == 20 ? usual + (1 << 24) : usual;
    }
    const auto column = pack(reference(), values, kind);
    const bytes whole(column.bytes().begin(), column.bytes().end());
    const auto& layout = column.layout();
    REQUIRE(layout.patches > 0);
    refuses<T>(changed(whole, [&](bytes& to) { unit::write(to, layout.patch_index_at, std::uint64_t{1}); }), "order");
    refuses<T>(changed(whole, [&](bytes& to) { unit::write(to, layout.patch_index_at, ~std::uint64_t{0}); }), "order");
    refuses<T>(changed(whole, [&](bytes& to) { to[layout.patch_index_at + 8] = std::byte{255}; }), "more patches");
    refuses<T>(changed(whole, [&](bytes& to) { to[layout.patch_index_at + 8] = std::byte{0}; }), "patch");
    refuses<T>(changed(whole, [&](bytes& to) { to[layout.patch_index_at + 8 + 15] = std::byte{1}; }), "patch");
    refuses<T>(changed(whole, [&](bytes& to) { to[layout.patch_positions_at] = std::byte{200}; }),
               "stand in its block");
    refuses<T>(changed(whole, [&](bytes& to) { to[layout.patch_positions_at + 1] = to[layout.patch_positions_at]; }),
               "stand in its block");
    // a patch over a value that has bits of its own
    refuses<T>(changed(whole,
                       [&](bytes& to) {
                         const auto end = layout.payload_at + layout.payload_units * 4;
                         std::fill(to.begin() + static_cast<std::ptrdiff_t>(layout.payload_at),
                                   to.begin() + static_cast<std::ptrdiff_t>(end), std::byte{255});
                       }),
               "under a patch");
  }
}

TEST_CASE("codes and runs that do not add up are refused") {
  using T = std::uint32_t;
  const auto values = some_values<T>(5001);
  const auto variable = pack(reference(), values, encoding::null_suppression_variable);
  const bytes codes(variable.bytes().begin(), variable.bytes().end());
  const auto& at = variable.layout();
  refuses<T>(changed(codes, [&](bytes& to) { to[at.codes_at] ^= std::byte{3}; }), "follow each other");
  refuses<T>(changed(codes, [&](bytes& to) { unit::write(to, at.groups_at, ~std::uint64_t{0}); }), "follow each other");
  refuses<T>(changed(codes, [&](bytes& to) { unit::write(to, at.groups_at + 10, std::uint16_t{0xffff}); }), "follow");
  refuses<T>(changed(codes, [&](bytes& to) { to[at.codes_at + 5001 / 4] |= std::byte{0xc0}; }), "behind its last");

  const auto long_runs = pack(reference(), values, encoding::run_length);
  const bytes runs(long_runs.bytes().begin(), long_runs.bytes().end());
  const auto& of = long_runs.layout();
  const std::size_t last = of.codes_at + (of.payload_units - 1) * 4;
  constexpr std::string_view why = "runs do not rise";
  refuses<T>(changed(runs, [&](bytes& to) { unit::write(to, of.codes_at, 0U); }), why);
  refuses<T>(
      changed(runs, [&](bytes& to) { unit::write(to, of.codes_at + 4, unit::read<std::uint32_t>(to, of.codes_at)); }),
      why);
  refuses<T>(changed(runs, [&](bytes& to) { unit::write(to, last, 5000U); }), why);
  refuses<T>(changed(runs, [&](bytes& to) { unit::write(to, last, ~0U); }), why);
}

TEST_CASE("a run of more values than memory holds is a column") {
  using T = std::int32_t;
  const auto column_of = [](std::uint64_t count) {
    packed_header header{};
    std::memcpy(header.magic, "ZPCK", 4);
    header.version = packed_version;
    header.kind = static_cast<std::uint8_t>(encoding::run_length);
    header.type = static_cast<std::uint8_t>(key_type::int32);
    header.count = count;
    header.payload = 1;
    header.parameter = 8;
    auto column = unit::forge(header, 64 + 64 + 64 + 64);
    unit::write(column, 64, count);
    unit::write(column, 128, T{-7});
    seal(column);
    return column;
  };
  refuses<T>(column_of(~std::uint64_t{0}), "2^56");
  refuses<T>(column_of(packed_most_items + 1), "2^56");
  const auto most = column_of(packed_most_items - 1);
  const auto view = packed_view<T>::parse(most);
  CHECK(view.get(0) == -7);
  CHECK(view.get(packed_most_items - 2) == -7);
  CHECK_THROWS_AS(view.get(packed_most_items - 1), error);
  T one = 0;
  view.gather(std::vector<std::uint64_t>{packed_most_items - 2}, std::span(&one, 1));
  CHECK(one == -7);
  // of 32 bits: the column has a value of that number, but the index is negative
  CHECK_THROWS_AS(view.gather(std::vector<std::int32_t>{-1}, std::span(&one, 1)), error);
  one = 0;
  view.gather(std::vector<std::uint32_t>{~0U}, std::span(&one, 1));
  CHECK(one == -7);
  std::vector<T> tail(300);
  for (const auto& info : backends()) {
    if (!info.usable || info.name == "cuda") continue;
    const auto on = make_executor(info.name);
    if (std::ranges::none_of(info.strategies, [](const auto& offered) { return offered.starts_with("unpack/"); }))
      continue;
    INFO(info.name);
    std::ranges::fill(tail, 0);
    unpack(on, view, packed_most_items - 1 - 300, tail);
    CHECK(std::ranges::count(tail, -7) == 300);
    expect_error(error_code::invalid_argument, {"unpack"}, [&] { unpack(on, view, packed_most_items - 300, tail); });
  }
  std::vector<std::uint64_t> words(1);
  expect_error(error_code::invalid_argument, {"words"}, [&] { (void)select_bitmap(reference(), view, -7, -7, words); });

  // indices that cannot tell all values apart; one less they could
  std::vector<std::uint32_t> unsigned_indices(1, 99);
  std::vector<std::int32_t> signed_indices(1, 99);
  std::vector<T> keys(1, 99);
  const auto above_unsigned = column_of((std::uint64_t{1} << 32) + 1);
  const auto above_signed = column_of((std::uint64_t{1} << 31) + 1);
  const auto long_view = packed_view<T>::parse(above_unsigned);
  const auto shorter_view = packed_view<T>::parse(above_signed);
  const auto on = reference();
  expect_error(error_code::invalid_argument, {"64-bit indices"},
               [&] { (void)select_indices(on, long_view, 0, 1, unsigned_indices); });
  expect_error(error_code::invalid_argument, {"64-bit indices"},
               [&] { (void)top_k(on, long_view, keys, unsigned_indices); });
  expect_error(error_code::invalid_argument, {"64-bit indices"},
               [&] { (void)select_indices(on, shorter_view, 0, 1, signed_indices); });
  expect_error(error_code::invalid_argument, {"64-bit indices"},
               [&] { (void)top_k(on, shorter_view, keys, signed_indices); });
  CHECK(unsigned_indices.front() == 99);
  CHECK(signed_indices.front() == 99);
  CHECK(keys.front() == 99);
}
