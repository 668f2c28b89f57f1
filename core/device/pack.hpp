#pragma once

#include <core/device/function.hpp>

namespace zenith::device {

/// Some items of a thread, as a lane of a formula (source.hpp). They lie in registers.
template <class T, unsigned Items>
struct pack {
  T item[Items];

  pack() = default;
  ZENITH_FN explicit pack(T all) {
    ZENITH_UNROLLED
    for (unsigned i = 0; i < Items; ++i) item[i] = all;
  }

  ZENITH_FN friend pack operator+(const pack& a, const pack& b) {
    return of(a, b, [](T x, T y) ZENITH_BODY { return static_cast<T>(x + y); });
  }
  ZENITH_FN friend pack operator-(const pack& a, const pack& b) {
    return of(a, b, [](T x, T y) ZENITH_BODY { return static_cast<T>(x - y); });
  }
  ZENITH_FN friend pack operator*(const pack& a, const pack& b) {
    return of(a, b, [](T x, T y) ZENITH_BODY { return static_cast<T>(x * y); });
  }
  ZENITH_FN friend pack operator/(const pack& a, const pack& b) {
    return of(a, b, [](T x, T y) ZENITH_BODY { return static_cast<T>(x / y); });
  }
  ZENITH_FN friend pack operator-(const pack& a) {
    return of(a, a, [](T x, T) ZENITH_BODY { return static_cast<T>(-x); });
  }

 private:
  template <class Operation>
  ZENITH_FN static pack of(const pack& a, const pack& b, const Operation& operation) {
    pack out;
    ZENITH_UNROLLED
    for (unsigned i = 0; i < Items; ++i) out.item[i] = operation(a.item[i], b.item[i]);
    return out;
  }
};

}  // namespace zenith::device
