// How loops walk over packed words. Included by a unit that is compiled for one instruction set, inside its namespace.

/// Asks for the cache line two pages ahead. The hardware's prefetcher stops at the end of a page, and loops that do
/// more with a line than read it took up to a tenth longer with one page.
template <class T>
ZENITH_FN void prefetch_ahead(const T* from) {
  constexpr std::uintptr_t distance = 8192;
  _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(from) + distance), _MM_HINT_T0);
}

/// Where an unrolled loop is now: the compiler does not know, and takes its next addresses from there. Else it computes
/// all of them in front of the loop, more than there are registers, and loads them again one by one.
ZENITH_FN void keep_stepping(const std::byte*& at) { asm("" : "+r"(at)); }
