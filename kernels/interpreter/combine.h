// The binary operations that reductions are made of, with their identities. `a` is always the
// operand of lower index: equal maxima (-0.0 and 0.0) keep the earlier one.
#pragma once

#include <limits>
#include <type_traits>

#include "kernels/interpreter/scalar.h"
#include "kernels/ir.h"
#include "kernels/order.h"

namespace groove::kernels::interpreter {

template <typename T>
struct Sum {
  using Value = T;
  static constexpr T kIdentity =
      std::is_floating_point_v<T> ? static_cast<T>(order::kSumIdentity) : T{0};
  static constexpr T kEmpty = static_cast<T>(order::kEmptySum);
  static T combine(T a, T b) { return scalar::add(a, b); }
};

template <typename T>
struct Product {
  using Value = T;
  static constexpr T kIdentity = T{1};
  static constexpr T kEmpty = T{1};
  static T combine(T a, T b) { return scalar::mul(a, b); }
};

template <typename T>
struct Maximum {
  using Value = T;
  static constexpr T kIdentity = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                             : std::numeric_limits<T>::lowest();
  static constexpr T kEmpty = kIdentity;
  static T combine(T a, T b) { return b > a || b != b ? b : a; }
};

template <typename T>
struct Minimum {
  using Value = T;
  static constexpr T kIdentity = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                             : std::numeric_limits<T>::max();
  static constexpr T kEmpty = kIdentity;
  static T combine(T a, T b) { return b < a || b != b ? b : a; }
};

// Does a later element replace the best so far? NaN is greatest for both directions.
template <typename T, bool kGreatest>
struct Preferred {
  using Value = T;
  static bool replaces(T best, T x) {
    const bool better = kGreatest ? x > best : x < best;
    return better || (x != x && best == best);
  }
};

/// Calls visit.template operator()<Operation>() for a reduction of values of C++ type T. For the
/// arg reductions the operation is a Preferred.
template <typename T, typename Visit>
decltype(auto) visit_reduction(Prim prim, Visit&& visit) {
  switch (prim) {
    case Prim::kReduceSum:
      return visit.template operator()<Sum<T>>();
    case Prim::kReduceProd:
      return visit.template operator()<Product<T>>();
    case Prim::kReduceMin:
      return visit.template operator()<Minimum<T>>();
    case Prim::kReduceArgMax:
      return visit.template operator()<Preferred<T, true>>();
    case Prim::kReduceArgMin:
      return visit.template operator()<Preferred<T, false>>();
    default:
      return visit.template operator()<Maximum<T>>();
  }
}

template <typename Operation>
concept PicksIndex = requires {
  &Operation::replaces;
};

}  // namespace groove::kernels::interpreter
