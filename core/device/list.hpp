#pragma once

/// \file
/// Lists of types: what is compiled for each device is listed once, as types.

#include <type_traits>

namespace zenith::device {

template <class... Items>
struct list {
  static constexpr unsigned size = sizeof...(Items);
};

namespace detail {

template <class... Lists>
struct concat {
  using type = list<>;
};
template <class... A>
struct concat<list<A...>> {
  using type = list<A...>;
};
template <class... A, class... B, class... Rest>
struct concat<list<A...>, list<B...>, Rest...> {
  using type = typename concat<list<A..., B...>, Rest...>::type;
};

}  // namespace detail

/// The items of several lists, one after the other.
template <class... Lists>
using concat = typename detail::concat<Lists...>::type;

/// Where `Item` stands in a list. An item that is not in it does not compile.
template <class Item, class... Items>
consteval unsigned position_in(list<Items...> /*all*/) {
  static_assert((std::is_same_v<Item, Items> || ...), "the kernel is not in its family's list of kernels");
  unsigned at = 0;
  (void)((std::is_same_v<Item, Items> ? true : (++at, false)) || ...);
  return at;
}

/// Calls use(std::type_identity<Item>{}) for every item, in order.
template <class... Items, class Use>
constexpr void for_each_type(list<Items...> /*all*/, const Use& use) {
  (use(std::type_identity<Items>{}), ...);
}

}  // namespace zenith::device
