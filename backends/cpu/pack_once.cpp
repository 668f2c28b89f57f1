#include <backends/cpu/pack_once.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include <algorithms/packed_column/layout.hpp>
#include <algorithms/packed_column/pack.hpp>
#include <backends/cpu/for_blocks.hpp>
#include <backends/cpu/fresh_pages.hpp>
#include <backends/cpu/unit_groups.hpp>
#include <core/host_memory.hpp>

namespace zenith::cpu_backend {
namespace {

/// Values from whose size on their column will leave the caches before anybody reads it, if it takes a quarter of them.
constexpr std::uint64_t past_caches_bytes = 128 * 1024 * 1024;

constexpr std::uint64_t row_bytes = packed_alignment;

/// What the groups before a step take.
struct taken {
  packed::group_sizes sizes;
  bool stopped = false;       ///< nothing more is written: it does not fit, or patches gain
  std::uint64_t touched = 0;  ///< bytes of the buffer that a worker has cleared or is about to
};

/// Hands the groups' places from one step to the next: a worker that has measured its groups waits for those before.
class ordered_steps {
 public:
  /// Waits for step `step`, calls take(what was taken before it) and passes on.
  template <class Take>
  void in_order(std::uint64_t step, const Take& take) {
    for (unsigned waited = 0; next_.load(std::memory_order_acquire) != step; ++waited) {
      if (waited > 1000) std::this_thread::yield();
    }
    take(so_far_);
    next_.store(step + 1, std::memory_order_release);
  }
  /// Before all steps.
  void begin_with_touched(std::uint64_t bytes) { so_far_.touched = bytes; }
  /// After all steps.
  [[nodiscard]] const taken& all() const { return so_far_; }

 private:
  std::atomic<std::uint64_t> next_{0};
  taken so_far_;
};

template <class U>
class once {
 public:
  once(const pack_call& call, const packed_table& isa, const packed_buffer& buffer, const packed_layout& to,
       int workers)
      : call_(call),
        unit_(call, isa),
        plain_(packed::plain_encoder<U>(call)),
        to_(to),
        out_(buffer.bytes),
        workers_(workers),
        past_caches_(!buffer.is_fresh && call.count * sizeof(U) >= past_caches_bytes),
        whole_groups_(call.count / packed_group_items),
        likely_bytes_(buffer.is_fresh && workers > 1 ? std::min(buffer.size, likely_bytes()) : 0),
        most_words_((buffer.size / row_bytes * row_bytes - row_bytes - to.payload_at) / 4) {}

  /// Of several workers each measures a chunk before it writes any: 64 K values, of 32 bits in its L2 cache meanwhile.
  /// A single worker writes group after group, from its L1 cache.
  bool run() {
    const std::uint64_t at_once = workers_ == 1 ? 1 : chunk_groups;
    std::atomic<std::uint64_t> next{0};
    const std::uint64_t at_first = std::min(likely_bytes_, static_cast<std::uint64_t>(workers_) * fresh_page);
    steps_.begin_with_touched(at_first);
    fresh_pages pages(out_, at_first);
    run_workers(workers_, [&](int) {
      if (at_first > 0) pages.clear();
      packed_rows rows;
      packed_group_shape shapes[chunk_groups];
      std::uint64_t end = 0;  // of what `rows` holds, a word of the payload
      begin_rows(rows, to_, out_, end, past_caches_);
      // a chunk is taken as a whole: what the workers share waits for all stores, also those on their way to memory
      const auto pack_chunk = [&](std::uint64_t first) {
        const std::uint64_t chunk_end = std::min(first + chunk_groups, whole_groups_);
        for (; first < chunk_end; first += at_once) {
          if (!pack_groups(first / at_once, first, std::min(at_once, chunk_end - first), shapes, rows, end))
            return false;
        }
        return true;
      };
      for (auto chunk = next++; chunk * chunk_groups < whole_groups_; chunk = next++) {
        if (!pack_chunk(chunk * chunk_groups)) break;
      }
      finish(rows, end);
    });
    taken all = steps_.all();
    if (all.stopped) return false;
    return pack_tail(all.sizes) && decide(all.sizes);
  }

 private:
  bool pack_groups(std::uint64_t step, std::uint64_t first, std::uint64_t groups, packed_group_shape* shapes,
                   packed_rows& rows, std::uint64_t& end) {
    packed::group_sizes sizes;
    for (std::uint64_t g = 0; g < groups; ++g) {
      sizes.add(unit_.measure(first + g, call_.kind, shapes[g]));
    }
    std::uint64_t word = 0;
    std::uint64_t touch_begin = 0;
    std::uint64_t touch_end = 0;
    bool stopped = false;
    steps_.in_order(step, [&](taken& so_far) {
      word = words(so_far.sizes);
      so_far.sizes.add(sizes);
      so_far.stopped =
          so_far.stopped || words(so_far.sizes) > most_words_ || gains_by_patches(so_far.sizes, first + groups);
      stopped = so_far.stopped;
      // a page at a time, which others may begin to write meanwhile: so one ahead
      const std::uint64_t ahead = to_.payload_at + words(so_far.sizes) * 4 + fresh_page;
      if (so_far.touched < std::min(ahead, likely_bytes_)) {
        touch_begin = so_far.touched;
        so_far.touched = touch_end = std::min(end_of_page(out_, touch_begin), likely_bytes_);
      }
    });
    if (stopped) return false;
    if (touch_begin < touch_end) detail::touch(out_ + touch_begin, touch_end - touch_begin);
    if (word != end) {
      finish(rows, end);
      begin_rows(rows, to_, out_, word, past_caches_);
    }
    for (std::uint64_t g = 0; g < groups; ++g) {
      unit_.write(first + g, to_, out_, shapes[g], rows, {word, 0});
      word += shapes[g].words;
    }
    end = word;
    return true;
  }

  // The last group, when it is not whole, by the plain encoder.
  bool pack_tail(packed::group_sizes& sizes) {
    if (whole_groups_ == to_.groups()) return true;
    const std::uint64_t begin = words(sizes);
    sizes.add(plain_.measure(whole_groups_, call_.kind));
    if (words(sizes) > most_words_) return false;
    plain_.write(whole_groups_, to_, out_, {begin, 0});
    packed::add_bytes(digest_, out_, to_.payload_at + begin * 4, to_.payload_at + words(sizes) * 4);
    return true;
  }

  bool decide(const packed::group_sizes& sizes) {
    const auto chosen = packed::choose(call_.type, call_.count, call_.kind, call_.patches, call_.lanes, sizes);
    if (chosen.patches > 0) return false;
    *call_.result = *packed::lay_out(chosen);
    call_.result->bytes = out_;
    digest_.first_row = to_.payload_at / row_bytes;
    if (call_.digest != nullptr) *call_.digest = digest_;
    return true;
  }

  // What some of the groups say of the column.
  [[nodiscard]] std::uint64_t likely_bytes() const {
    constexpr std::uint64_t samples = 8;
    packed::group_sizes sizes;
    packed_group_shape shape;
    for (std::uint64_t i = 0; i < samples; ++i) {
      sizes.add(unit_.measure(whole_groups_ * i / samples, call_.kind, shape));
    }
    return to_.payload_at + words(sizes) * 4 * whole_groups_ / samples;
  }

  [[nodiscard]] std::uint64_t words(const packed::group_sizes& of) const {
    return packed::place_in(of, call_.kind, false).payload;
  }

  // Whether patches have made up for their own metadata: what comes may step that, but then it costs a pass more, and
  // no wrong byte.
  [[nodiscard]] bool gains_by_patches(const packed::group_sizes& sizes, std::uint64_t groups) const {
    if (!call_.patches) return false;
    const auto patched = packed::place_in(sizes, call_.kind, true);
    const std::uint64_t metadata = groups * packed::patch_index_bytes + 4 * packed_alignment;
    return patched.payload * 4 + patched.patch * (1 + sizeof(U)) + metadata < words(sizes) * 4;
  }

  void finish(packed_rows& rows, std::uint64_t end) {
    unit_.finish(rows);
    if (rows.rows == 0) return;
    const std::uint64_t last = (to_.payload_at + end * 4 + row_bytes - 1) / row_bytes;
    const std::scoped_lock lock(digest_guard_);
    packed::add_rows(digest_, last - rows.rows, rows.rows, rows.sum, rows.weighted);
  }

  const pack_call& call_;
  unit_groups<U> unit_;
  packed::encoder<U> plain_;
  const packed_layout& to_;
  std::byte* out_;
  int workers_;
  bool past_caches_;
  std::uint64_t whole_groups_;
  std::uint64_t likely_bytes_;  ///< of the column, where several workers write to fresh memory; else 0
  std::uint64_t most_words_;    ///< that fit into the buffer
  ordered_steps steps_;
  std::mutex digest_guard_;
  packed_digest digest_;
};

}  // namespace

bool pack_once(const pack_call& call, const packed_table& isa, int workers) {
  if (!is_by_unit(call.kind) || call.count < packed_group_items || call.reserve == nullptr) return false;
  const std::uint64_t word_bytes = size_of(call.type);
  const auto largest =
      packed::lay_out({call.type, call.kind, call.count, (call.count / packed_miniblock_items + 1) * 8 * word_bytes});
  if (!largest) return false;
  const auto buffer = call.reserve(call.context, largest->total_bytes);
  if (buffer.size < largest->payload_at + row_bytes) return false;
  return word_bytes == 4 ? once<std::uint32_t>(call, isa, buffer, *largest, workers).run()
                         : once<std::uint64_t>(call, isa, buffer, *largest, workers).run();
}

}  // namespace zenith::cpu_backend
