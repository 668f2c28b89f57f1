#pragma once

/// \file
/// How functions that run on every processor are marked.

// Units that are compiled for one instruction set define ZENITH_FN themselves, to force inlining: an inline function
// that they share with the rest of the program could be linked into code that runs on any CPU.
#if defined(ZENITH_FN)
#elif defined(__CUDACC__) || defined(__HIPCC__)
#define ZENITH_FN __host__ __device__ inline
#else
#define ZENITH_FN inline
#endif
