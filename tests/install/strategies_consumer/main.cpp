#include <cstdio>

#include <zenith/strategies/cpu.hpp>
#include <zenith/strategies/sequential.hpp>
#include <zenith/zenith.hpp>
#include "own.hpp"

int try_on_kokkos();

int main() {
  std::printf("zenith %d.%d.%d\n", ZENITH_VERSION_MAJOR, ZENITH_VERSION_MINOR, ZENITH_VERSION_PATCH);
  if (const int fault = own::try_on(zenith::strategies::sequential{}); fault != 0) return fault;
  if (const int fault = own::try_on(zenith::strategies::cpu{}); fault != 0) return fault + 10;
#if defined(WITH_KOKKOS)
  if (const int fault = try_on_kokkos(); fault != 0) return fault + 20;
#endif
  std::puts("consumer: right");
  return 0;
}
