// Scratch that stays from call to call.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <backends/cpu/kept_memory.hpp>
#include <backends/cpu/scratch.hpp>
#include <catch.hpp>
#include <settings.hpp>
#include <zenith/zenith.hpp>

using zenith::cpu_backend::kept_memory;

namespace {

constexpr std::size_t align = kept_memory::alignment;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

// Serves from new and delete, which it is not, and counts.
class counting_resource final : public std::pmr::memory_resource {
 public:
  [[nodiscard]] int requests() const { return requests_; }
  [[nodiscard]] std::size_t outstanding() const { return outstanding_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    ++requests_;
    outstanding_ += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
    outstanding_ -= bytes;
    std::pmr::new_delete_resource()->deallocate(at, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::atomic<int> requests_{0};
  std::atomic<std::size_t> outstanding_{0};
};

// Every sixteenth byte and the last: the address sanitizer sees a block that is too short.
void fill(void* at, std::size_t bytes, unsigned char with) {
  auto* const to = static_cast<unsigned char*>(at);
  for (std::size_t i = 0; i < bytes; i += 16) to[i] = with;
  to[bytes - 1] = with;
}
bool is_filled(const void* at, std::size_t bytes, unsigned char with) {
  const auto* const from = static_cast<const unsigned char*>(at);
  for (std::size_t i = 0; i < bytes; i += 16) {
    if (from[i] != with) return false;
  }
  return from[bytes - 1] == with;
}

}  // namespace

TEST_CASE("kept memory holds what was asked for, at every size") {
  kept_memory memory(64 * mebibyte);
  std::vector<std::size_t> sizes{1, kept_memory::least_block - 1, kept_memory::most_block + 1};
  for (std::size_t step = kept_memory::least_block / 4; step <= kept_memory::most_block / 4; step *= 2) {
    for (std::size_t steps = 4; steps <= 8; ++steps) {
      for (const std::size_t bytes : {step * steps - 1, step * steps, step * steps + 1}) {
        if (bytes <= kept_memory::most_block) sizes.push_back(bytes);
      }
    }
  }
  for (const auto bytes : sizes) {
    INFO(bytes << " bytes");
    for (int turn = 0; turn < 2; ++turn) {  // a fresh block, and one that was kept for the longest of its size
      void* const at = memory.allocate(bytes, align);
      CHECK(reinterpret_cast<std::uintptr_t>(at) % align == 0);
      fill(at, bytes, static_cast<unsigned char>(turn));
      CHECK(is_filled(at, bytes, static_cast<unsigned char>(turn)));
      memory.deallocate(at, bytes, align);
    }
    const auto kept = memory.kept_bytes();
    const bool is_kept = bytes >= kept_memory::least_block && bytes <= kept_memory::most_block;
    CHECK(kept >= (is_kept ? bytes : 0));
    CHECK(kept <= (is_kept ? bytes + bytes / 4 + 1 : 0));
    CHECK(memory.release() == kept);
    CHECK(memory.kept_bytes() == 0);
  }
}

TEST_CASE("kept memory goes to the next that wants as much") {
  kept_memory memory(64 * mebibyte);
  void* const first = memory.allocate(100'000, align);
  memory.deallocate(first, 100'000, align);
  void* const longer = memory.allocate(200'000, align);
  CHECK(memory.kept_bytes() > 0);
  void* const same = memory.allocate(99'000, align);  // of the same size when rounded
  CHECK(same == first);
  CHECK(memory.kept_bytes() == 0);
  memory.deallocate(same, 99'000, align);
  memory.deallocate(longer, 200'000, align);

  // a stricter alignment is the system's
  void* const page = memory.allocate(100'000, 4096);
  CHECK(reinterpret_cast<std::uintptr_t>(page) % 4096 == 0);
  CHECK(page != first);
  memory.deallocate(page, 100'000, 4096);
}

TEST_CASE("kept memory keeps no more than its limit") {
  constexpr std::size_t limit = 3 * mebibyte;
  kept_memory memory(limit);
  std::vector<void*> blocks(8);
  for (auto& at : blocks) at = memory.allocate(mebibyte, align);
  std::vector<std::size_t> kept;
  kept.reserve(blocks.size());
  for (void* const at : blocks) {
    memory.deallocate(at, mebibyte, align);
    kept.push_back(memory.kept_bytes() / mebibyte);
  }
  // the fourth finds no place: what was kept goes, so that blocks of a size that no one asks for do not stay
  CHECK(kept == std::vector<std::size_t>{1, 2, 3, 1, 2, 3, 1, 2});

  void* const too_long = memory.allocate(4 * mebibyte, align);
  memory.deallocate(too_long, 4 * mebibyte, align);
  CHECK(memory.kept_bytes() == 0);
}

TEST_CASE("kept memory keeps so many blocks of a size") {
  kept_memory memory(64 * mebibyte);
  std::vector<void*> blocks(kept_memory::blocks_of_size + 3);
  for (auto& at : blocks) at = memory.allocate(4096, align);
  for (void* const at : blocks) memory.deallocate(at, 4096, align);
  CHECK(memory.kept_bytes() == kept_memory::blocks_of_size * 4096);
}

TEST_CASE("kept memory that is closed keeps nothing, and still serves") {
  kept_memory memory(64 * mebibyte);
  void* const used = memory.allocate(mebibyte, align);
  void* const idle = memory.allocate(mebibyte, align);
  memory.deallocate(idle, mebibyte, align);
  memory.close();
  CHECK(memory.kept_bytes() == 0);
  memory.deallocate(used, mebibyte, align);
  CHECK(memory.kept_bytes() == 0);
  void* const late = memory.allocate(mebibyte, align);
  fill(late, mebibyte, 1);
  memory.deallocate(late, mebibyte, align);
  CHECK(memory.kept_bytes() == 0);
}

TEST_CASE("threads hand kept memory to one another") {
  constexpr std::size_t limit = mebibyte;
  constexpr int turns = 4000;
  kept_memory memory(limit);
  struct block {
    void* at;
    std::size_t bytes;
    unsigned char content;
  };
  std::vector<block> shared;  // blocks that one thread took and another gives back
  std::mutex guard;
  std::atomic<bool> is_right{true};
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (unsigned id = 0; id < 4; ++id) {
    threads.emplace_back([&, seed = zenith_test::seed_of("kept memory", id)] {
      std::mt19937_64 random(seed);
      for (int turn = 0; turn < turns; ++turn) {
        const std::size_t bytes = std::size_t{4096} + random() % 60'000;
        block mine{memory.allocate(bytes, align), bytes, static_cast<unsigned char>(random())};
        fill(mine.at, mine.bytes, mine.content);
        if (memory.kept_bytes() > limit + 4 * 65536) is_right = false;  // and what four are about to give back
        {
          const std::scoped_lock lock(guard);
          shared.push_back(mine);
          std::swap(shared[random() % shared.size()], shared.back());
          if (shared.size() < 16) continue;
          mine = shared.back();
          shared.pop_back();
        }
        if (!is_filled(mine.at, mine.bytes, mine.content)) is_right = false;
        memory.deallocate(mine.at, mine.bytes, align);
        if (random() % 256 == 0) memory.release();
      }
    });
  }
  threads.clear();
  CHECK(is_right);
  for (const auto& one : shared) {
    CHECK(is_filled(one.at, one.bytes, one.content));
    memory.deallocate(one.at, one.bytes, align);
  }
  CHECK(memory.kept_bytes() <= limit);
  memory.release();
  CHECK(memory.kept_bytes() == 0);
}

TEST_CASE("scratch is the executor's resource's, else the default one's, and is kept only of new and delete") {
  std::vector<float> keys(300'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<float>(i * 7919 % 300'007);
  std::vector<float> best(20);
  std::vector<std::uint32_t> indices(20);
  const auto call = [&](std::pmr::memory_resource* memory) {
    zenith::top_k(zenith::cpu({.threads = 2, .memory = memory}), keys, best, indices, {.strategy = "filter"});
  };

  auto* const kept = dynamic_cast<kept_memory*>(&zenith::cpu_backend::usual_scratch_resource());
  const auto kept_now = [&] { return kept == nullptr ? 0 : kept->kept_bytes(); };
  const auto before = kept_now();

  counting_resource own;
  call(&own);
  CHECK(own.requests() > 0);
  CHECK(own.outstanding() == 0);
  CHECK(kept_now() == before);

  counting_resource usual;
  auto* const replaced = std::pmr::set_default_resource(&usual);
  call(nullptr);
  std::pmr::set_default_resource(replaced);
  CHECK(usual.requests() > 0);
  CHECK(usual.outstanding() == 0);
  CHECK(kept_now() == before);

  call(std::pmr::new_delete_resource());
  CHECK(kept_now() == before);

  REQUIRE((kept != nullptr) == zenith::cpu_backend::keeps_scratch);
  if (kept == nullptr) return;
  call(nullptr);
  const auto after = kept_now();
  CHECK(after > 0);
  CHECK(after <= zenith::cpu_backend::most_kept_scratch);
  for (int turn = 0; turn < 20; ++turn) call(nullptr);
  CHECK(kept_now() <= after + after / 2);  // calls take what is there
  kept->release();
  CHECK(kept_now() == 0);
}
