#pragma once

/// \file
/// The vocabulary that every CUDA kernel of Zenith is written in, and that the host-level order of launches is written
/// in. Under nvcc each word is the intrinsic itself, with no cost. Where ZENITH_SIMT_EMULATION is defined (by the
/// tests, never in the library) the header named by ZENITH_SIMT_EMULATION_HEADER gives the same words a lane-by-lane
/// meaning on the host; that header includes <backends/cuda/simt/common.hpp> first.
///
/// The contract, for both sides:
///
/// Platform.  Everything lives in `namespace zenith::simt::inline ZENITH_SIMT_PLATFORM`; so does what is built on it,
/// in
///   `zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM`, so that one program can hold the library and the emulation.
///   Functions that run on the device are marked ZENITH_DEVICE.
///
/// Kernel.  A kernel is a trivially copyable struct: its members are its arguments, `static constexpr unsigned
///   block_size` its threads (a multiple of 32, at most 1024), perhaps `wanted_blocks` how many blocks a multiprocessor
///   is to hold, and `ZENITH_DEVICE void operator()() const` what each thread does. `launch(kernel, {.grid = …,
///   .shared_bytes = …, .stream = …})` enqueues it: one dimension, every thread runs the operator once. With
///   `.waits_within = true` all blocks, at most resident_blocks on each multiprocessor, are on the device at once and
///   may wait for each other by atomics.
///
/// Identity.  thread_index, block_index, block_size, grid_size, lane_index (thread_index % 32), warp_index.
///
/// Barriers.  block_barrier() and block_barrier_{or,and,count}(predicate) must be reached by every thread of the block.
///   Threads that returned before count as missing: a kernel may return early only when its whole block does.
///   warp_barrier(mask) orders the memory accesses of the lanes of mask among each other.
///
/// Warp operations.  Each takes a mask first; every lane of the mask must arrive at the same call with the same mask,
/// and
///   only lanes of the mask may call. shuffle, shuffle_up, shuffle_down, shuffle_xor (T: trivially copyable, whole
///   32-bit words; the whole warp is one segment; a source outside the warp yields the lane's own value for up, down
///   and xor; a source that is not in the mask is a fault), ballot, any, all, match_any (uint32/uint64), reduce_add,
///   reduce_min, reduce_max (uint32). A warp operation does not order memory accesses: warp_barrier does.
///
/// Memory.  Global memory is touched only through load, load_streaming, load_vector<N>, load_vector_streaming<N>,
/// store,
///   store_vector, the atomics and async_copy, on plain pointers into memory from simt::allocate (or host memory
///   registered by the caller). Shared memory is touched only through shared_span: read, write, pointer (for atomics
///   alone). `load_streaming` and `load_vector_streaming` promise that nobody writes there while the kernel runs.
///   load_vector<N> needs p aligned to N * sizeof(T), at most 16 bytes.
///
/// Shared memory.  dynamic_shared<T>(byte_offset, count) is a span in the launch's dynamic shared memory, aligned to 16
///   bytes at offset 0. ZENITH_STATIC_SHARED(type, name, count) declares a shared_span<type> called name; it stands at
///   block scope of a function that each thread executes at most once at a time. Neither is initialised.
///
/// Atomics.  atomic_add, atomic_max, atomic_min, atomic_exchange, atomic_compare_exchange, atomic_load, atomic_store:
///   relaxed, on global pointers or shared_span::pointer, template argument scope::{block, device, system}, device when
///   not said. T: uint32, uint64; add, max and min also int32. fence<scope>() is a full fence.
///
/// Async copies.  async_copy<N>(to, at, from) copies N elements (4, 8 or 16 bytes, aligned) to to[at …]; async_commit()
///   closes a batch; async_wait<Pending>() waits until at most Pending of this thread's batches are under way. The
///   copied elements are undefined until the wait; other threads need a block_barrier() after it.
///
/// Bits.  popcount, find_first_set (1-based, 0 for none), count_leading_zeros, funnel_shift_left (the high word of
///   high:low << shift), funnel_shift_right (the low word of high:low >> shift); shifts are taken modulo 32, but by
///   funnel_shift_right_clamped as 32 when they are more. dot_bytes(a, b, sum): sum and the products of the four bytes
///   of a, each with b's in the same place. dot_halves(a, b, sum): the same of the two halves of a and the two lower
///   bytes of b. pick_bytes(low, high, which): the bytes of high:low whose numbers, 0 to 7, stand in the four lower
///   half-bytes of `which`.
///
/// Numbers.  larger(a, b), smaller(a, b): of two floats or doubles, of which a is no NaN; a where b is one.
///
/// Compiler.  opaque(value) is the same value, a number of 4 or 8 bytes, of which the compiler knows nothing: what is
///   computed from it is computed anew.
///
/// Host side.  launch, resident_blocks<Kernel>(shared_bytes), limits(), device_guard, allocate,
///   allocate_lasting, deallocate, take_words and give_words (memory that a stream's launches hand on), host_page
///   (memory of the host that kernels store to, and the host reads once it waited), copy (any direction), fill_zero,
///   synchronize, settle, own_stream, event, with the signatures of host.hpp;
///   `guards_each_buffer`: true makes the backend allocate every scratch buffer on its own, so that an access past one
///   is seen; and `host_chunk_bytes`: an emulation sets it small, so that small host inputs take several chunks. All
///   work is ordered by its stream; an implementation that runs it at once is one, too. Nothing on the host side
///   assumes that a launch has run before synchronize.
///
/// Source locations.  An emulation may give each word a last defaulted parameter that records the caller's file and
/// line;
///   callers never pass it, and take no addresses of these functions.

#include <backends/cuda/simt/common.hpp>

#if defined(ZENITH_SIMT_EMULATION)
#include ZENITH_SIMT_EMULATION_HEADER
#else
#if defined(__CUDACC__)
#include <backends/cuda/simt/device.hpp>
#endif
#include <backends/cuda/simt/host.hpp>
#endif
