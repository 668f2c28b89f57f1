#pragma once

/// \file
/// The inner nodes of an updatable table's k-d tree: which block a new row goes to.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zenith::detail {

/// Reserves memory for one more element, which then is added without an allocation.
template <class X>
void reserve_one(std::vector<X>& in) {
  if (in.size() == in.capacity()) in.reserve(std::max<std::size_t>(16, 2 * in.capacity()));
}

/// A plane across one column.
template <class T>
struct router_plane {
  std::uint32_t column = 0;
  T cut{};
};

/// A binary tree whose leaves have numbers. Leaves come from splits, and go where their rows went.
///
/// Its depth is bounded as a scapegoat tree's: where a leaf lies too deep, the smallest subtree that is too deep for
/// its size gets new planes and halves at each of them. The planes only choose the leaves of rows to come, so no row
/// moves. Source: Galperin, Rivest: Scapegoat Trees, 1993.
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
    most_leaves_ = std::max(most_leaves_, ++leaves_);
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
    --leaves_;
  }
  /// Whether rows are sent to the leaf.
  [[nodiscard]] bool has(std::uint32_t leaf) const { return parents_[leaf] != none || is_only(leaf); }
  [[nodiscard]] bool is_only(std::uint32_t leaf) const { return root_ == (leaf | leaf_bit); }
  [[nodiscard]] std::uint32_t leaves() const { return leaves_; }

  /// The nodes above a leaf.
  [[nodiscard]] std::uint32_t depth(std::uint32_t leaf) const {
    std::uint32_t above = 0;
    for (std::uint32_t at = parents_[leaf]; at != none; at = nodes_[at].parent) ++above;
    return above;
  }
  /// The most nodes above a leaf of a tree of so many leaves, after `balance`.
  [[nodiscard]] static std::uint32_t most_depth(std::uint32_t leaves) { return most_height(leaves) + 4; }

  /// To be called for one of the deepest leaves of what was split. `plane(span of leaves)` puts the lower half, rounded
  /// down, first and returns the plane between the halves; it throws nothing. O(log leaves) calls a split, amortised,
  /// for each leaf. Throws std::bad_alloc, and then the tree can be used as it is.
  template <class Plane>
  void balance(std::uint32_t leaf, const Plane& plane) {
    while (depth(leaf) > most_depth(leaves_)) {
      std::uint32_t at = parents_[leaf];
      std::uint32_t below = leaf | leaf_bit;
      std::uint32_t size = 1;
      for (std::uint32_t height = 1;; ++height) {
        size += count(nodes_[at].child[nodes_[at].child[0] == below ? 1 : 0]);
        if (height > most_height(size) || nodes_[at].parent == none) break;
        below = at;
        at = nodes_[at].parent;
      }
      rebuild(at, plane);
    }
  }
  /// To be called after `remove`: when half of the leaves are gone since the tree was balanced, all planes are new.
  template <class Plane>
  void balance_after_removal(const Plane& plane) {
    if (leaves_ > most_leaves_ / 2) return;
    if (leaves_ > 1) rebuild(root_, plane);
    most_leaves_ = leaves_;
  }

 private:
  struct node {
    T cut{};
    std::uint32_t column = 0;
    std::uint32_t parent = none;
    std::uint32_t child[2] = {none, none};
  };

  /// 2 log2(leaves), rounded up by at most 2.
  [[nodiscard]] static std::uint32_t most_height(std::uint32_t leaves) {
    return 2 * static_cast<std::uint32_t>(std::bit_width(leaves - 1));
  }

  /// Calls `of_node` and `of_leaf` for what is below a child and itself.
  template <class Node, class Leaf>
  void visit(std::uint32_t child, const Node& of_node, const Leaf& of_leaf) const {
    std::vector<std::uint32_t> open{child};
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      if ((at & leaf_bit) != 0) {
        of_leaf(at & ~leaf_bit);
      } else {
        open.insert(open.end(), {nodes_[at].child[0], nodes_[at].child[1]});
        of_node(at);
      }
    }
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t child) const {
    std::uint32_t leaves = 0;
    visit(
        child, [](std::uint32_t) {}, [&](std::uint32_t) { ++leaves; });
    return leaves;
  }
  template <class Plane>
  void rebuild(std::uint32_t at, const Plane& plane) {
    std::vector<std::uint32_t> inner;
    std::vector<std::uint32_t> leaves;
    visit(
        at, [&](std::uint32_t one) { inner.push_back(one); }, [&](std::uint32_t leaf) { leaves.push_back(leaf); });
    const std::uint32_t parent = nodes_[at].parent;
    std::span<const std::uint32_t> spare(inner);
    replace(parent, at, halve(parent, std::span<std::uint32_t>(leaves), spare, plane));
  }
  /// A balanced tree over leaves of nodes from the front of `spare`; returns its root.
  template <class Plane>
  std::uint32_t halve(std::uint32_t parent, std::span<std::uint32_t> leaves, std::span<const std::uint32_t>& spare,
                      const Plane& plane) noexcept {
    if (leaves.size() == 1) {
      parents_[leaves[0]] = parent;
      return leaves[0] | leaf_bit;
    }
    const std::uint32_t at = spare.front();
    spare = spare.subspan(1);
    const router_plane<T> between = plane(leaves);
    nodes_[at].column = between.column;
    nodes_[at].cut = between.cut;
    nodes_[at].parent = parent;
    nodes_[at].child[0] = halve(at, leaves.first(leaves.size() / 2), spare, plane);
    nodes_[at].child[1] = halve(at, leaves.subspan(leaves.size() / 2), spare, plane);
    return at;
  }

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
  std::uint32_t leaves_ = 1;
  std::uint32_t most_leaves_ = 1;  ///< since all planes were new
};

}  // namespace zenith::detail
