#include <values.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace conformance::packed {

std::string_view name_of(shape one) {
  constexpr std::string_view names[] = {"width",         "whole_range",  "one_to_n",  "ascending",   "descending",
                                        "few_distinct",  "runs",         "normal",    "zipf",        "outliers",
                                        "lone_outliers", "extremes",     "all_equal", "wrapping",    "alternating",
                                        "negative",      "mixed_widths", "greatest",  "rarely_mixed"};
  return names[static_cast<std::size_t>(one)];
}

namespace {

// Values are made as the words of their width, in which arithmetic wraps.
template <class U>
class maker {
 public:
  maker(unsigned width, random_source& random) : width_(width), random_(random), base_(some_base()) {}

  U whole() { return static_cast<U>(random_()); }
  U within(unsigned width) { return width == 0 ? U{0} : static_cast<U>(whole() >> (bits - width)); }

  U of_width() { return static_cast<U>(base_ + within(width_)); }
  U few_distinct() { return static_cast<U>(base_ + (random_() % 7) * 0x01010101U * width_); }
  U normal() { return static_cast<U>(static_cast<std::int64_t>(std::normal_distribution<>{0, spread()}(random_))); }
  U zipf() {
    // the inverse of a power law
    const double u = std::uniform_real_distribution<>{1e-9, 1}(random_);
    return static_cast<U>(std::min(1 / u, 2e9));
  }
  U outlier(std::size_t one_in) { return random_() % one_in == 0 ? whole() : of_width(); }
  U extreme() {
    constexpr U top = U{1} << (bits - 1);
    const U all[] = {
        0, 1, top, static_cast<U>(top - 1), static_cast<U>(top + 1), static_cast<U>(~U{0}), static_cast<U>(~U{0} - 1)};
    return all[random_() % std::size(all)];
  }
  U below_zero() { return static_cast<U>(U{0} - 1 - within(std::min(width_, bits - 1))); }
  U step() { return within(std::min(width_, bits / 2)); }
  [[nodiscard]] U base() const { return base_; }

 private:
  static constexpr unsigned bits = sizeof(U) * 8;

  // often one from which few bits reach over zero or the type's end
  U some_base() {
    switch (random_() % 4) {
      case 0: return 0;
      case 1: return static_cast<U>(U{0} - within(std::min(width_, bits)) / 2);
      default: return whole();
    }
  }
  [[nodiscard]] double spread() const { return std::ldexp(1.0, static_cast<int>(std::min(width_, 60U))); }

  unsigned width_;
  random_source& random_;
  U base_;
};

template <class U>
std::vector<U> make_words(shape one, std::size_t count, unsigned width, random_source& random) {
  maker<U> make(width, random);
  std::vector<U> words(count);
  U running = make.base();
  std::size_t left = 0;
  for (std::size_t i = 0; i < count; ++i) {
    switch (one) {
      case shape::width: words[i] = make.of_width(); break;
      case shape::whole_range: words[i] = make.whole(); break;
      case shape::one_to_n: words[i] = static_cast<U>(i + 1); break;
      case shape::ascending: words[i] = running = static_cast<U>(running + make.step()); break;
      case shape::descending: words[i] = running = static_cast<U>(running - make.step()); break;
      case shape::few_distinct: words[i] = make.few_distinct(); break;
      case shape::runs:
        if (left-- == 0) {
          running = make.of_width();
          left = random() % (random() % 4 == 0 ? 3000 : 20);
        }
        words[i] = running;
        break;
      case shape::normal: words[i] = make.normal(); break;
      case shape::zipf: words[i] = make.zipf(); break;
      case shape::outliers: words[i] = make.outlier(40); break;
      case shape::lone_outliers: {
        const bool at_an_edge = i % 32 == 0 || i % 32 == 31;
        words[i] = at_an_edge ? make.outlier(9) : make.of_width();
        break;
      }
      case shape::extremes: words[i] = make.extreme(); break;
      case shape::all_equal: words[i] = make.base(); break;
      case shape::wrapping:
        words[i] = running;
        running = static_cast<U>(running + (~U{0} >> 3) + make.step());
        break;
      case shape::alternating: words[i] = (U{1} << (sizeof(U) * 8 - 1)) - static_cast<U>(i % 2); break;
      case shape::negative: words[i] = make.below_zero(); break;
      case shape::mixed_widths: {
        if (i % 32 == 0) left = random() % (sizeof(U) * 8 + 1);
        words[i] = make.within(static_cast<unsigned>(left));
        break;
      }
      case shape::greatest: {
        if (i % 128 == 0) left = random() % 128;
        const U all = width == 0 ? U{0} : static_cast<U>(~U{0} >> (sizeof(U) * 8 - width));
        words[i] = static_cast<U>(make.base() + (i % 128 == left ? U{0} : all));
        break;
      }
      case shape::rarely_mixed: {
        if (i % 32 == 0) left = random() % 90 == 0 ? random() % (width + 2) : width;
        const auto most = static_cast<std::size_t>(sizeof(U) * 8);
        words[i] = static_cast<U>(make.base() + make.within(static_cast<unsigned>(std::min(left, most))));
        break;
      }
    }
  }
  return words;
}

}  // namespace

template <class T>
std::vector<T> make_values(shape one, std::size_t count, unsigned width, random_source& random) {
  const auto words = make_words<std::make_unsigned_t<T>>(one, count, width, random);
  std::vector<T> values(count);
  std::ranges::transform(words, values.begin(), [](auto word) { return static_cast<T>(word); });
  return values;
}

template std::vector<std::int32_t> make_values(shape, std::size_t, unsigned, random_source&);
template std::vector<std::uint32_t> make_values(shape, std::size_t, unsigned, random_source&);
template std::vector<std::int64_t> make_values(shape, std::size_t, unsigned, random_source&);
template std::vector<std::uint64_t> make_values(shape, std::size_t, unsigned, random_source&);

}  // namespace conformance::packed
