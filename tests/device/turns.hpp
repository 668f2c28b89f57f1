#pragma once

/// \file
/// for_teams_in_turn: every team of a turn sees what all teams of the turns before it wrote.

#include <algorithm>

#include <tests/device/support.hpp>

namespace zenith::device_suite {

/// Turns of a chain that begins with `first` and in which a turn has teams[r] teams. A turn without a team leaves the
/// words of the one before to the next.
template <class Context>
class relay_chain {
 public:
  relay_chain(Context& on, const std::vector<u64>& teams) : on_(on), teams_(teams) {
    words_.push_back(upload(on, std::vector<u64>{first}));
    for (const u64 n : teams) words_.push_back(zeros<u64>(on, n));
    arrived_ = zeros<u32>(on, teams.size());
    wrong_ = zeros<u32>(on, 1);
  }

  template <u32 Bytes>
  [[nodiscard]] device::turn<relay<Bytes>> turn(std::size_t r) const {
    std::size_t before = r;
    while (before > 0 && teams_[before - 1] == 0) --before;
    const u64 count = before == 0 ? 1 : teams_[before - 1];
    return device::turn{teams_[r], relay<Bytes>{words_[before], count, before == 0 ? nullptr : arrived_ + (before - 1),
                                                words_[r + 1], arrived_ + r, wrong_}};
  }
  /// Compares the words of every turn with those that they are to have where `ran`, and with zeros where not.
  template <class Examiner>
  void check(Examiner& see, bool ran) {
    std::vector<std::vector<u64>> got;
    for (const u64 n : teams_) got.emplace_back(n);
    for (std::size_t r = 0; r < got.size(); ++r) deliver(on_, words_[r + 1], got[r]);
    see.same("teams that saw others still at work", on_.read(static_cast<const u32*>(wrong_)), 0);
    on_.finish();
    std::vector<u64> before{first};
    for (std::size_t r = 0; r < got.size(); ++r) {
      u64 sum = 0;
      for (const u64 word : before) sum += word;
      std::vector<u64> wanted;
      for (u64 i = 0; i < teams_[r]; ++i) wanted.push_back(ran ? mixed(sum, i) : 0);
      see.same("words of turn " + std::to_string(r), got[r], wanted);
      if (!wanted.empty()) before = wanted;
    }
  }

 private:
  static constexpr u64 first = 12345;

  Context& on_;
  std::vector<u64> teams_;
  std::vector<u64*> words_;
  u32* arrived_ = nullptr;
  u32* wrong_ = nullptr;
};
template <class Context>
relay_chain(Context&, const std::vector<u64>&) -> relay_chain<Context>;

template <class Context>
void take_six_turns(Context& on, const relay_chain<Context>& chain) {
  on.for_teams_in_turn(chain.template turn<0>(0), chain.template turn<few_bytes>(1), chain.template turn<many_bytes>(2),
                       chain.template turn<0>(3), chain.template turn<many_bytes>(4),
                       chain.template turn<few_bytes>(5));
}

template <class Examiner>
void check_turns(Examiner& see) {
  // a turn of one team, and none, in every place; and many more teams than run at once
  const u64 many = see.limits().brief ? 29 : 3000;
  const std::vector<std::vector<u64>> shapes{
      {3, 7, 2, 5, 4, 6}, {1, 7, 1, 1, 5, 1},    {many, 1, many, 2, 0, many}, {0, 0, 9, 1, 1, 1},
      {1, 1, 1, 1, 1, 1}, {1, 1, many, 0, 1, 0}, {2, 0, 1, 0, 2, 0},          {0, 0, 0, 0, 0, 0},
  };
  for (const auto& teams : shapes) {
    std::string name = "turns of";
    for (const u64 n : teams) name += " " + std::to_string(n);
    see.trial(name, [&](auto& on) {
      relay_chain chain(on, teams);
      take_six_turns(on, chain);
      chain.check(see, true);
    });
  }
  for (const u32 set : {0U, 1U}) {
    see.trial("turns inside when " + std::to_string(set), [&](auto& on) {
      relay_chain chain(on, {3, many, 1, 2, 1, 1});
      u32* const test = upload(on, std::vector<u32>{set});
      on.when(is_set{test}, [&] { take_six_turns(on, chain); });
      chain.check(see, set != 0);
    });
  }
  see.trial("one turn, and launches around it", [&](auto& on) {
    const u64 n = 17;
    relay_chain chain(on, {n});
    u32* const word = zeros<u32>(on, 1);
    on.for_each(1, then{word, 4});
    on.for_teams_in_turn(chain.template turn<few_bytes>(0));
    on.for_each(1, then{word, 5});
    see.same("the word of the launches", on.read(static_cast<const u32*>(word)), 17);
    chain.check(see, true);
  });
}

}  // namespace zenith::device_suite
