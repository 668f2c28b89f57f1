#include <zenith/strategies/kokkos.hpp>

#include "own.hpp"

int try_on_kokkos();
int try_on_kokkos() { return own::try_on(zenith::strategies::kokkos{}); }
