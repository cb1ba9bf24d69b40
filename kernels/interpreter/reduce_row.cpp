// Row order and tree order. Both end in the same pairwise tree, kept as a stack on which a new
// value is merged with the top once for every trailing one bit of its index (kernels/order.h).
#include <algorithm>

#include "kernels/interpreter/combine.h"
#include "kernels/interpreter/reduce.h"
#include "kernels/interpreter/steps.h"

namespace groove::kernels::interpreter {
namespace {

constexpr int kLanes = static_cast<int>(order::kRowLanes);
static_assert(order::kRowChunk % kStrip == 0 && kStrip % order::kRowLanes == 0);
static_assert((kStrip & (kStrip - 1)) == 0, "a strip is a subtree of the tree order");

template <typename Operation>
class PairwiseStack {
 public:
  using T = typename Operation::Value;
  void clear() { depth_ = 0; }
  void push(T value, std::int64_t index) {
    for (; (index & 1) != 0; index >>= 1) value = Operation::combine(values_[--depth_], value);
    values_[depth_++] = value;
  }
  T collapse() {
    T value = values_[--depth_];
    while (depth_ > 0) value = Operation::combine(values_[--depth_], value);
    return value;
  }

 private:
  T values_[64];
  int depth_;
};

template <typename Operation>
struct RowState {
  using T = typename Operation::Value;
  T lanes[kLanes];
  PairwiseStack<Operation> chunks;

  void begin_chunk() { std::fill_n(lanes, kLanes, Operation::kIdentity); }

  T finish_chunk() {
    for (int step = kLanes / 2; step >= 1; step /= 2) {
      for (int j = 0; j < step; ++j) lanes[j] = Operation::combine(lanes[j], lanes[j + step]);
    }
    return lanes[0];
  }

  void add(const T* __restrict x, std::int64_t first, std::int64_t count) {
    T local[kLanes];
    std::copy_n(lanes, kLanes, local);
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int j = 0; j < kLanes; ++j) local[j] = Operation::combine(local[j], x[i + j]);
    }
    for (int j = 0; i + j < count; ++j) local[j] = Operation::combine(local[j], x[i + j]);
    std::copy_n(local, kLanes, lanes);
    if ((first + count) % order::kRowChunk == 0) {
      chunks.push(finish_chunk(), first / order::kRowChunk);
      begin_chunk();
    }
  }

  T finish(std::int64_t count) {
    if (count == 0) return Operation::kEmpty;
    if (count % order::kRowChunk != 0) chunks.push(finish_chunk(), count / order::kRowChunk);
    return chunks.collapse();
  }
};

template <typename Operation>
struct TreeState {
  using T = typename Operation::Value;
  PairwiseStack<Operation> strips;

  void add(const T* x, std::int64_t first, std::int64_t count) {
    T level[kStrip];
    std::copy_n(x, count, level);
    for (std::int64_t n = count; n > 1; n = (n + 1) / 2) {
      for (std::int64_t i = 0; i < n / 2; ++i) {
        level[i] = Operation::combine(level[2 * i], level[2 * i + 1]);
      }
      if (n % 2 != 0) level[n / 2] = level[n - 1];
    }
    strips.push(level[0], first / kStrip);
  }
};

// The choice of an index does not depend on the order of combination.
template <typename Operation>
struct ArgState {
  using T = typename Operation::Value;
  T best;
  std::int64_t index;

  void add(const T* x, std::int64_t first, std::int64_t count) {
    std::int64_t i = 0;
    if (index < 0 && count > 0) {
      best = x[0];
      index = first;
      i = 1;
    }
    for (; i < count; ++i) {
      if (Operation::replaces(best, x[i])) {
        best = x[i];
        index = first + i;
      }
    }
  }
};

template <typename Operation>
RowReducer arg_reducer() {
  using T = typename Operation::Value;
  using State = ArgState<Operation>;
  return {
      sizeof(State),
      [](void* state) { static_cast<State*>(state)->index = -1; },
      [](void* state, const void* values, std::int64_t first, std::int64_t count) {
        static_cast<State*>(state)->add(static_cast<const T*>(values), first, count);
      },
      [](void* state, std::int64_t, std::int64_t origin, void* out) {
        const std::int64_t index = static_cast<State*>(state)->index;
        *static_cast<std::int64_t*>(out) = origin + std::max<std::int64_t>(index, 0);
      },
  };
}

}  // namespace

RowReducer row_reducer(Prim prim, ScalarType dtype) {
  return visit_dtype(dtype, [&]<typename T>() {
    return visit_reduction<T>(prim, []<typename Operation>() -> RowReducer {
      if constexpr (PicksIndex<Operation>) {
        return arg_reducer<Operation>();
      } else {
        using State = RowState<Operation>;
        return {
            sizeof(State),
            [](void* state) {
              static_cast<State*>(state)->begin_chunk();
              static_cast<State*>(state)->chunks.clear();
            },
            [](void* state, const void* values, std::int64_t first, std::int64_t count) {
              static_cast<State*>(state)->add(static_cast<const T*>(values), first, count);
            },
            [](void* state, std::int64_t count, std::int64_t, void* out) {
              *static_cast<T*>(out) = static_cast<State*>(state)->finish(count);
            },
        };
      }
    });
  });
}

RowReducer tree_reducer(Prim prim, ScalarType dtype) {
  return visit_dtype(dtype, [&]<typename T>() {
    return visit_reduction<T>(prim, []<typename Operation>() -> RowReducer {
      if constexpr (PicksIndex<Operation>) {
        return arg_reducer<Operation>();
      } else {
        using State = TreeState<Operation>;
        return {
            sizeof(State),
            [](void* state) { static_cast<State*>(state)->strips.clear(); },
            [](void* state, const void* values, std::int64_t first, std::int64_t count) {
              static_cast<State*>(state)->add(static_cast<const T*>(values), first, count);
            },
            [](void* state, std::int64_t count, std::int64_t, void* out) {
              *static_cast<T*>(out) =
                  count == 0 ? Operation::kEmpty : static_cast<State*>(state)->strips.collapse();
            },
        };
      }
    });
  });
}

}  // namespace groove::kernels::interpreter
