#pragma once

/// \file
/// The inner nodes of an updatable table's k-d tree: which block a new row goes to.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zenith::detail {

/// Reserves memory for one more element, which then is added without an allocation.
template <class X>
void reserve_one(std::vector<X>& in) {
  if (in.size() == in.capacity()) in.reserve(std::max<std::size_t>(16, 2 * in.capacity()));
}

/// A binary tree whose leaves have numbers. Leaves come from splits, and go where their rows went.
template <class T>
class router {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// A child, or the root: a node's number, or a leaf's with the uppermost bit.
  static constexpr std::uint32_t leaf_bit = std::uint32_t{1} << 31;

  /// One leaf.
  explicit router(std::uint32_t leaf) : root_(leaf | leaf_bit), parents_(leaf + 1, none) {}

  /// The leaf for a row.
  [[nodiscard]] std::uint32_t find(const T* row) const {
    std::uint32_t at = root_;
    while ((at & leaf_bit) == 0) {
      const auto& here = nodes_[at];
      at = here.child[static_cast<unsigned>(!(row[here.column] < here.cut))];
    }
    return at & ~leaf_bit;
  }

  /// Allocates what `split` into a leaf of this number needs, and `remove` later.
  void reserve_one_for(std::uint32_t other) {
    if (free_.empty()) {
      reserve_one(nodes_);
      free_.reserve(nodes_.capacity());
    }
    while (parents_.size() <= other) {
      reserve_one(parents_);
      parents_.push_back(none);
    }
  }
  /// Puts a node in the place of `leaf`: below `cut` in the column lies `leaf`, and otherwise `other`, a new leaf.
  /// The memory for it must be reserved.
  void split(std::uint32_t leaf, std::uint32_t column, T cut, std::uint32_t other) noexcept {
    std::uint32_t at;
    if (free_.empty()) {
      at = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      at = free_.back();
      free_.pop_back();
    }
    replace(parents_[leaf], leaf | leaf_bit, at);
    nodes_[at] = {cut, column, parents_[leaf], {leaf | leaf_bit, other | leaf_bit}};
    parents_[leaf] = at;
    parents_[other] = at;
  }
  /// Takes a leaf away that is not the only one: its sibling's subtree takes its parent's place.
  void remove(std::uint32_t leaf) noexcept {
    const std::uint32_t at = parents_[leaf];
    const auto& gone = nodes_[at];
    const std::uint32_t sibling = gone.child[gone.child[0] == (leaf | leaf_bit) ? 1 : 0];
    replace(gone.parent, at, sibling);
    ((sibling & leaf_bit) != 0 ? parents_[sibling & ~leaf_bit] : nodes_[sibling].parent) = gone.parent;
    parents_[leaf] = none;
    free_.push_back(at);
  }
  /// Whether rows are sent to the leaf.
  [[nodiscard]] bool has(std::uint32_t leaf) const { return parents_[leaf] != none || is_only(leaf); }
  [[nodiscard]] bool is_only(std::uint32_t leaf) const { return root_ == (leaf | leaf_bit); }

 private:
  struct node {
    T cut{};
    std::uint32_t column = 0;
    std::uint32_t parent = none;
    std::uint32_t child[2] = {none, none};
  };

  void replace(std::uint32_t parent, std::uint32_t old, std::uint32_t by) {
    if (parent == none) {
      root_ = by;
    } else {
      nodes_[parent].child[nodes_[parent].child[0] == old ? 0 : 1] = by;
    }
  }

  std::uint32_t root_;
  std::vector<node> nodes_;
  std::vector<std::uint32_t> parents_;  ///< of leaves
  std::vector<std::uint32_t> free_;
};

}  // namespace zenith::detail
