/// \file
/// Planted faults: each kernel here is wrong in one way, and the emulation must say which, where, and who, whatever the
/// seed. The line that it reports must be one that ends in "// fault".

#include "simt_test.hpp"

#include <fstream>
#include <set>

using namespace simt_test;

namespace {

constexpr unsigned seeds = 20;

// The lines of this file that are marked as faults.
const std::set<unsigned>& marked_lines() {
  static const std::set<unsigned> lines = [] {
    std::ifstream text(ZENITH_SIMT_SOURCE_ROOT "/tests/simt/tests/faults.cpp");
    std::set<unsigned> marked;
    std::string line;
    for (unsigned number = 1; std::getline(text, line); ++number) {
      if (line.ends_with("// fault")) marked.insert(number);
    }
    return marked;
  }();
  return lines;
}

// Every seed must find `kind`, on a marked line of the test that calls, and the report must hold `words`.
template <class Body>
void require_fault(fault_kind kind, const std::vector<std::string>& words, const Body& body,
                   std::source_location test = std::source_location::current()) {
  with_seeds(seeds, [&](std::uint64_t seed) {
    INFO("seed " << seed);
    const auto found = fault_of(body);
    REQUIRE(found.has_value());
    INFO(found->what());
    CHECK(found->kind() == kind);
    CHECK(found->seed() == seed);
    // a compiler cache may have made the path relative to the build folder
    CHECK(std::string_view{found->where().file}.ends_with("tests/simt/tests/faults.cpp"));
    CHECK(marked_lines().contains(found->where().line));
    CHECK(found->where().line + 1 >= test.line());
    CHECK(found->where().line <= test.line() + 12);
    for (const auto& word : words) CHECK_THAT(found->what(), Catch::Contains(word));
  });
}

}  // namespace

TEST_CASE("a missing block barrier is a race that names both sides", "[faults]") {
  const buffer<std::uint32_t> out(128);
  std::uint32_t* const to = out.data();
  require_fault(fault_kind::race, {"shared memory", "of the same block", "no barrier"}, [=] {
    launch<128>(2, [=] {
      ZENITH_STATIC_SHARED(std::uint32_t, exchange, 128);
      const unsigned thread = simt::thread_index();
      exchange.write(thread, thread);  // fault
      // block_barrier() belongs here
      const std::uint32_t other = exchange.read(127 - thread);  // fault
      simt::block_barrier();
      if (simt::block_index() == 0) simt::store(to + thread, other);
    });
  });
}

TEST_CASE("a missing warp barrier is a race, in spite of a shuffle between", "[faults]") {
  require_fault(fault_kind::race, {"shared memory"}, [=] {
    launch<64>(1, [=] {
      ZENITH_STATIC_SHARED(std::uint32_t, exchange, 64);
      exchange.write(simt::thread_index(), 1);  // fault
      const unsigned neighbour = simt::shuffle_xor(simt::full_warp, simt::thread_index(), 1);
      static_cast<void>(exchange.read(neighbour));  // fault
    });
  });
}

TEST_CASE("a missing barrier before memory is reused is a race", "[faults]") {
  require_fault(fault_kind::race, {"read", "shared memory"}, [=] {
    launch<64>(1, [=] {
      ZENITH_STATIC_SHARED(std::uint32_t, exchange, 64);
      for (std::uint32_t round = 0; round < 3; ++round) {
        exchange.write(simt::thread_index(), round);  // fault
        simt::block_barrier();
        static_cast<void>(exchange.read(simt::thread_index() ^ 32U));  // fault
      }
    });
  });
}

TEST_CASE("a barrier that some threads skip", "[faults]") {
  require_fault(fault_kind::barrier, {"thread 77 returned from the kernel", "127 of 128"}, [=] {
    launch<128>(2, [=] {
      if (simt::thread_index() == 77) return;
      simt::block_barrier();  // fault
    });
  });
}

TEST_CASE("threads of a block that meet at different barriers", "[faults]") {
  require_fault(fault_kind::barrier, {"different barriers"}, [=] {
    launch<64>(1, [=] {
      if (simt::thread_index() < 32) {
        simt::block_barrier();  // fault
      } else {
        simt::block_barrier();  // fault
      }
    });
  });
}

TEST_CASE("a mask that names lanes that never arrive", "[faults]") {
  require_fault(fault_kind::warp_mask, {"lane 16-31 waits at the block barrier", "0xffffffff"}, [=] {
    launch<64>(1, [=] {
      if (simt::lane_index() < 16) {
        static_cast<void>(simt::shuffle_xor(simt::full_warp, simt::lane_index(), 1));  // fault
      }
      simt::block_barrier();
    });
  });
}

TEST_CASE("a mask that names lanes that returned", "[faults]") {
  require_fault(fault_kind::warp_mask, {"lane 31 returned from the kernel"}, [=] {
    launch<32>(3, [=] {
      if (simt::lane_index() == 31) return;
      static_cast<void>(simt::ballot(simt::full_warp, true));  // fault
    });
  });
}

TEST_CASE("a mask that leaves out a lane that calls", "[faults]") {
  require_fault(fault_kind::warp_mask, {"with mask 0x7fffffff, which leaves it out", "lane 31"},
                [=] { launch<64>(1, [=] { static_cast<void>(simt::reduce_add(0x7fffffffU, 1)); }); });  // fault
}

TEST_CASE("lanes that give different masks to one operation", "[faults]") {
  require_fault(fault_kind::warp_mask, {"never arrive", "waits in any"}, [=] {
    launch<32>(1, [=] {
      const std::uint32_t mask = simt::lane_index() < 16 ? simt::full_warp : 0xffff0000U | 1U;
      static_cast<void>(simt::any(mask, true));  // fault
    });
  });
}

TEST_CASE("a shuffle from a lane outside its mask", "[faults]") {
  require_fault(fault_kind::warp_mask, {"lane 0 reads in shuffle_xor from lane 16"}, [=] {
    launch<32>(1, [=] {
      if (simt::lane_index() >= 16) return;
      static_cast<void>(simt::shuffle_xor(0xffffU, 1U, simt::lane_index() == 0 ? 16 : 1));  // fault
    });
  });
}

TEST_CASE("an off-by-one store", "[faults]") {
  const buffer<std::uint32_t> out(1000);
  std::uint32_t* const to = out.data();
  require_fault(fault_kind::out_of_bounds, {"0 bytes past the end of an allocation of 4000 bytes"}, [=] {
    launch<128>(8, [=] {
      const unsigned at = simt::block_index() * 128 + simt::thread_index();
      // at < 1000 is right
      if (at <= 1000) simt::store(to + at, at);  // fault
    });
  });
}

TEST_CASE("an off-by-one load, in front", "[faults]") {
  const buffer<std::uint64_t> in(std::vector<std::uint64_t>(64, 1));
  const std::uint64_t* const from = in.data();
  require_fault(fault_kind::out_of_bounds, {"8 bytes before the start of an allocation of 512 bytes"}, [=] {
    launch<64>(1, [=] { static_cast<void>(simt::load(from + simt::thread_index() - 1)); });  // fault
  });
}

TEST_CASE("a store behind shared memory", "[faults]") {
  require_fault(fault_kind::out_of_bounds, {"element 32 of a shared span of 32 elements"}, [=] {
    launch<64>(
        1,
        [=] {
          const auto part = simt::dynamic_shared<std::uint32_t>(0, 32);
          part.write(simt::warp_index() == 0 ? simt::lane_index() : 32, 0);  // fault
        },
        128);
  });
}

TEST_CASE("more dynamic shared memory than the launch gave", "[faults]") {
  require_fault(fault_kind::out_of_bounds, {"bytes 64 to 192", "the launch gave 128"}, [=] {
    launch<32>(
        1, [=] { static_cast<void>(simt::dynamic_shared<std::uint32_t>(64, 32)); }, 128);  // fault
  });
}

TEST_CASE("freed memory", "[faults]") {
  std::uint32_t* stale = nullptr;
  {
    const buffer<std::uint32_t> gone(16);
    stale = gone.data();
  }
  require_fault(fault_kind::out_of_bounds, {"an allocation of 64 bytes that was freed"},
                [=] { launch<32>(1, [=] { simt::store(stale + 3, 1); }); });  // fault
}

TEST_CASE("an uninitialised shared read", "[faults]") {
  require_fault(fault_kind::uninitialised_read, {"byte 128 of a variable of 256 bytes", "nothing wrote"}, [=] {
    launch<64>(2, [=] {
      ZENITH_STATIC_SHARED(std::uint32_t, part, 64);
      if (simt::thread_index() != 32) part.write(simt::thread_index(), 1);
      simt::block_barrier();
      static_cast<void>(part.read(simt::thread_index()));  // fault
    });
  });
}

TEST_CASE("an uninitialised read of device memory", "[faults]") {
  const buffer<std::uint32_t> in(64);
  const std::uint32_t* const from = in.data();
  require_fault(fault_kind::uninitialised_read, {"device memory", "nothing wrote"},
                [=] { launch<64>(1, [=] { static_cast<void>(simt::load(from + simt::thread_index())); }); });  // fault
}

TEST_CASE("shared memory of the block before is not initialised for the next", "[faults]") {
  require_fault(fault_kind::uninitialised_read, {"nothing wrote"}, [=] {
    launch<32>(9, [=] {
      ZENITH_STATIC_SHARED(std::uint32_t, part, 32);
      if (simt::block_index() != 5) part.write(simt::thread_index(), 1);
      static_cast<void>(part.read(simt::thread_index()));  // fault
    });
  });
}

TEST_CASE("a racing increment, in a block and between blocks", "[faults]") {
  const buffer<std::uint32_t> counter(std::vector<std::uint32_t>(1, 0));
  std::uint32_t* const at = counter.data();
  require_fault(fault_kind::race, {"of the same block", "0 bytes into an allocation of 4 bytes"},
                [=] { launch<64>(1, [=] { simt::store(at, simt::load(at) + 1); }); });  // fault
  require_fault(fault_kind::race, {"thread 0 of block"}, [=] {
    launch<32>(4, [=] {
      if (simt::thread_index() == 0) simt::store(at, simt::load(at) + 1);  // fault
    });
  });
}

TEST_CASE("a plain access beside atomic ones", "[faults]") {
  const buffer<std::uint32_t> counter(std::vector<std::uint32_t>(1, 0));
  std::uint32_t* const at = counter.data();
  require_fault(fault_kind::race, {"atomically"}, [=] {
    launch<64>(1, [=] {
      simt::atomic_add(at, 1);            // fault
      static_cast<void>(simt::load(at));  // fault
    });
  });
}

TEST_CASE("atomics for the block alone, used by several blocks", "[faults]") {
  const buffer<std::uint32_t> counter(std::vector<std::uint32_t>(1, 0));
  std::uint32_t* const at = counter.data();
  require_fault(fault_kind::race, {"its own block only"},
                [=] { launch<64>(2, [=] { simt::atomic_add<simt::scope::block>(at, 1); }); });  // fault
}

TEST_CASE("a ticket without fences does not publish plain stores", "[faults]") {
  const buffer<std::uint32_t> parts(8);
  const buffer<std::uint32_t> ticket(std::vector<std::uint32_t>(1, 0));
  std::uint32_t* const part = parts.data();
  std::uint32_t* const at = ticket.data();
  require_fault(fault_kind::race, {"no barrier or fence", "of block"}, [=] {
    simt::fill_zero(at, 4, nullptr);
    launch<32>(8, [=] {
      if (simt::thread_index() != 0) return;
      simt::store(part + simt::block_index(), 1);
      const bool is_last = simt::atomic_add(at, 1) == 7;
      if (is_last)
        for (unsigned i = 0; i < 8; ++i) static_cast<void>(simt::load(part + i));  // fault
    });
  });
}

TEST_CASE("a streaming load of what the launch writes", "[faults]") {
  const buffer<std::uint32_t> data(std::vector<std::uint32_t>(64, 0));
  std::uint32_t* const at = data.data();
  require_fault(fault_kind::race, {"streaming"}, [=] {
    launch<64>(1, [=] {
      const std::uint32_t before = simt::load_streaming(at + simt::thread_index());
      simt::store(at + simt::thread_index(), before + 1);  // fault
    });
  });
}

TEST_CASE("an asynchronous copy that is read before the wait", "[faults]") {
  const buffer<std::uint32_t> data(std::vector<std::uint32_t>(32, 7));
  const std::uint32_t* const from = data.data();
  require_fault(fault_kind::uninitialised_read, {"asynchronous copy is under way"}, [=] {
    launch<32>(1, [=] {
      ZENITH_STATIC_SHARED(std::uint32_t, part, 32);
      simt::async_copy<1>(part, simt::thread_index(), from + simt::thread_index());
      simt::async_commit();
      static_cast<void>(part.read(simt::thread_index()));  // fault
    });
  });
}

TEST_CASE("a vector load that is not aligned", "[faults]") {
  const buffer<std::uint32_t> data(std::vector<std::uint32_t>(64, 7));
  const std::uint32_t* const from = data.data();
  require_fault(fault_kind::misaligned, {"not a multiple of 16"}, [=] {
    launch<32>(1, [=] { static_cast<void>(simt::load_vector<4>(from + simt::thread_index())); });  // fault
  });
}

TEST_CASE("host memory", "[faults]") {
  std::vector<std::uint32_t> host(32, 0);
  std::uint32_t* const at = host.data();
  require_fault(fault_kind::host_memory, {"neither device nor shared memory"},
                [=] { launch<32>(1, [=] { simt::store(at + simt::thread_index(), 1); }); });  // fault
}

TEST_CASE("a thread that waits for what never happens", "[faults]") {
  const buffer<std::uint32_t> flag(std::vector<std::uint32_t>(1, 0));
  std::uint32_t* const at = flag.data();
  const auto found = fault_of([=] {
    launch<32>(1, [=] {
      if (simt::thread_index() == 3)
        while (simt::atomic_load(at) == 0) {  // fault
        }
    });
  });
  REQUIRE(found.has_value());
  CHECK(found->kind() == fault_kind::endless);
  CHECK(marked_lines().contains(found->where().line));
  CHECK(found->thread().x == 3);
}

TEST_CASE("launches that no device takes, and wrong frees", "[faults]") {
  CHECK(fault_of([] { launch<32>(0, [] {}); })->kind() == fault_kind::launch);
  CHECK(fault_of([] {
          launch<32>(
              1, [] {}, 1 << 20);
        })->kind() == fault_kind::launch);
  const buffer<std::uint32_t> some(4);
  std::uint32_t host = 0;
  CHECK(fault_of([&] { simt::copy(some.data() + 1, &host, 20, nullptr); })->kind() == fault_kind::out_of_bounds);
  CHECK(fault_of([&] { simt::copy(&host, some.data(), 4, nullptr); })->kind() == fault_kind::uninitialised_read);
  CHECK(fault_of([&] { simt::fill_zero(&host, 4, nullptr); })->kind() == fault_kind::host_memory);
}

TEST_CASE("after a fault the device works on", "[faults]") {
  static_cast<void>(fault_of([] {
    launch<128>(3, [] {
      if (simt::thread_index() != 5) simt::block_barrier();
    });
  }));
  const auto values = by_thread<std::uint32_t, 128>([] { return simt::block_barrier_count(true); });
  CHECK(values == std::vector<std::uint32_t>(128, 128));
}
