#pragma once

/// \file
/// What each round of a skyline found, and how long it took, for who asks for statistics.

#include <chrono>
#include <vector>

#include <algorithms/skyline/points.hpp>
#include <zenith/skyline_call.hpp>

namespace zenith::skyline_family {

/// Rows of the skyline are counted by their flags, and the clock is the host's once the device has nothing left to do.
/// Where nobody asks, nothing is launched and nothing waits.
template <class Context>
class round_log {
 public:
  /// Nobody asks.
  round_log() = default;
  /// The call begins.
  round_log(Context& on, const skyline_input& call) : rows_(call.rows) {
    if (call.statistics == nullptr) return;
    to_ = &call.statistics->by_round;
    listed_ = on.template buffer<u32>(rows_);
    found_ = on.template zeroed<u32>(1);
    since_ = clock::now();
  }

  [[nodiscard]] bool is_on() const { return to_ != nullptr; }

  /// Rounds begin, again if they did not end, with so many rows that are left. `members` are flags that say `marked` of
  /// rows of the skyline.
  void begin(Context& on, const u8* members, u64 left) {
    if (!is_on()) return;
    to_->clear();
    members_ = members;
    known_ = 0;
    add(on, rows_ - left);
  }
  /// A round decided about so many points.
  void add(Context& on, u64 decided) {
    if (!is_on()) return;
    (void)on.read(static_cast<const u32*>(found_));  // waits
    const auto now = clock::now();
    on.compact(rows_, is_marked{members_}, listed_, found_);
    const u64 all = on.read(static_cast<const u32*>(found_));
    append(all - known_, decided, now);
    known_ = all;
    since_ = clock::now();
  }
  /// All was decided before there was a round.
  void end_without_rounds(u64 members) {
    if (!is_on()) return;
    to_->clear();
    append(members, rows_, clock::now());
  }

 private:
  using clock = std::chrono::steady_clock;

  void append(u64 members, u64 decided, clock::time_point now) {
    to_->push_back({members, decided - members, std::chrono::duration<double>(now - since_).count()});
  }

  u64 rows_ = 0;
  std::vector<skyline_round>* to_ = nullptr;
  const u8* members_ = nullptr;
  u32* listed_ = nullptr;
  u32* found_ = nullptr;
  u64 known_ = 0;
  clock::time_point since_;
};

}  // namespace zenith::skyline_family
