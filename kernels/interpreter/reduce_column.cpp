// Column order: each column is summed ascending within chunks of rows, and the chunks combine in
// the pairwise tree; vectorised across the columns of a strip.
#include <algorithm>
#include <bit>

#include "kernels/interpreter/combine.h"
#include "kernels/interpreter/reduce.h"
#include "kernels/interpreter/steps.h"

namespace groove::kernels::interpreter {
namespace {

// State: [depth][sums of the open chunk][stack of chunk sums …], each `columns` values long.
template <typename Operation>
struct ColumnSums {
  using T = typename Operation::Value;
  static constexpr std::size_t kHeader = 64;

  static std::size_t bytes(std::int64_t rows, std::int64_t columns) {
    const auto chunks = static_cast<std::uint64_t>(rows / order::kColumnChunk + 1);
    const auto arrays = static_cast<std::size_t>(std::bit_width(chunks)) + 2;
    return kHeader + arrays * static_cast<std::size_t>(columns) * sizeof(T);
  }
  static std::int64_t& depth(void* state) { return *static_cast<std::int64_t*>(state); }
  static T* array(void* state, std::int64_t which, std::int64_t columns) {
    return reinterpret_cast<T*>(static_cast<std::byte*>(state) + kHeader) + which * columns;
  }

  static void begin(void* state, std::int64_t columns) {
    depth(state) = 0;
    std::fill_n(array(state, 0, columns), columns, Operation::kIdentity);
  }

  static void merge(T* __restrict earlier, const T* __restrict later, std::int64_t columns) {
    for (std::int64_t i = 0; i < columns; ++i) {
      earlier[i] = Operation::combine(earlier[i], later[i]);
    }
  }

  static void push(void* state, std::int64_t chunk, std::int64_t columns) {
    std::int64_t& top = depth(state);
    ++top;
    std::copy_n(array(state, 0, columns), columns, array(state, top, columns));
    for (; (chunk & 1) != 0; chunk >>= 1, --top) {
      merge(array(state, top - 1, columns), array(state, top, columns), columns);
    }
    std::fill_n(array(state, 0, columns), columns, Operation::kIdentity);
  }

  static void add(void* state, const void* values, std::int64_t row, std::int64_t columns) {
    merge(array(state, 0, columns), static_cast<const T*>(values), columns);
    if ((row + 1) % order::kColumnChunk == 0) push(state, row / order::kColumnChunk, columns);
  }

  static void finish(void* state, std::int64_t rows, std::int64_t, std::int64_t columns,
                     void* out) {
    T* const result = static_cast<T*>(out);
    if (rows == 0) {
      std::fill_n(result, columns, Operation::kEmpty);
      return;
    }
    if (rows % order::kColumnChunk != 0) push(state, rows / order::kColumnChunk, columns);
    std::int64_t& top = depth(state);
    for (; top > 1; --top) {
      merge(array(state, top - 1, columns), array(state, top, columns), columns);
    }
    std::copy_n(array(state, 1, columns), columns, result);
  }
};

template <typename Operation>
struct ColumnIndices {
  using T = typename Operation::Value;

  static std::size_t bytes(std::int64_t, std::int64_t columns) {
    return static_cast<std::size_t>(columns) * (sizeof(std::int64_t) + sizeof(T));
  }
  static std::int64_t* indices(void* state) { return static_cast<std::int64_t*>(state); }
  static T* bests(void* state, std::int64_t columns) {
    return reinterpret_cast<T*>(indices(state) + columns);
  }
  static void begin(void* state, std::int64_t columns) { std::fill_n(indices(state), columns, 0); }
  static void add(void* state, const void* values, std::int64_t row, std::int64_t columns) {
    const T* const x = static_cast<const T*>(values);
    std::int64_t* const index = indices(state);
    T* const best = bests(state, columns);
    for (std::int64_t i = 0; i < columns; ++i) {
      const bool take = row == 0 || Operation::replaces(best[i], x[i]);
      best[i] = take ? x[i] : best[i];
      index[i] = take ? row : index[i];
    }
  }
  static void finish(void* state, std::int64_t, std::int64_t origin, std::int64_t columns,
                     void* out) {
    for (std::int64_t i = 0; i < columns; ++i) {
      static_cast<std::int64_t*>(out)[i] = origin + indices(state)[i];
    }
  }
};

}  // namespace

ColumnReducer column_reducer(Prim prim, ScalarType dtype) {
  return visit_dtype(dtype, [&]<typename T>() {
    return visit_reduction<T>(prim, []<typename Operation>() -> ColumnReducer {
      using State = std::conditional_t<PicksIndex<Operation>, ColumnIndices<Operation>,
                                       ColumnSums<Operation>>;
      return {State::bytes, State::begin, State::add, State::finish};
    });
  });
}

}  // namespace groove::kernels::interpreter
