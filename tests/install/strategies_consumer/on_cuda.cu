#include <zenith/strategies/cuda.hpp>

#include "own.hpp"

int try_on_cuda();
int try_on_cuda() { return own::try_on(zenith::strategies::cuda{}); }
