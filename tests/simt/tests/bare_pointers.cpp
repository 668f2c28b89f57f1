/// \file
/// The net under the vocabulary: the same faults through bare pointers, which kernels should not use, are found because
/// the compiler announces every access. The address sanitizer takes its place where it is on.

#include "simt_test.hpp"

#include <tests/simt/engine/sanitizer.hpp>

#ifndef ZENITH_SIMT_ASAN

using namespace simt_test;

namespace {

constexpr unsigned seeds = 10;

template <class Body>
void require_fault(fault_kind kind, const std::string& words, const Body& body) {
  with_seeds(seeds, [&](std::uint64_t seed) {
    INFO("seed " << seed);
    const auto found = fault_of(body);
    REQUIRE(found.has_value());
    INFO(found->what());
    CHECK(found->kind() == kind);
    CHECK_THAT(found->what(), Catch::Contains(words) && Catch::Contains("bare_pointers.cpp"));
  });
}

}  // namespace

TEST_CASE("an increment through a bare pointer", "[faults]") {
  const buffer<std::uint32_t> counter(std::vector<std::uint32_t>(1, 0));
  std::uint32_t* const at = counter.data();
  require_fault(fault_kind::race, "no barrier", [=] { launch<64>(1, [=] { ++*at; }); });
}

TEST_CASE("a store behind an allocation through a bare pointer", "[faults]") {
  const buffer<double> out(100);
  double* const to = out.data();
  require_fault(fault_kind::out_of_bounds, "0 bytes past the end of an allocation of 800 bytes", [=] {
    launch<128>(1, [=] {
      if (simt::thread_index() <= 100) to[simt::thread_index()] = 0;
    });
  });
}

TEST_CASE("a host variable in a kernel", "[faults]") {
  auto host = std::make_unique<int>(3);
  int* const at = host.get();
  require_fault(fault_kind::host_memory, "neither device nor shared", [=] { launch<32>(1, [=] { *at = 4; }); });
}

TEST_CASE("an uninitialised read through a bare pointer", "[faults]") {
  require_fault(fault_kind::uninitialised_read, "nothing wrote", [=] {
    launch<32>(1, [=] {
      ZENITH_STATIC_SHARED(std::uint32_t, part, 32);
      volatile std::uint32_t sink = *part.pointer(simt::thread_index());
      static_cast<void>(sink);
    });
  });
}

#endif
