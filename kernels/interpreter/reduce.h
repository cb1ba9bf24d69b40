// The reductions of numerics.md §3. A reducer is fed strips in ascending order and owns no memory:
// its state lies in the caller's scratch, so one plan can run on many threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ir.h"

namespace groove::kernels::interpreter {

inline constexpr std::int64_t kStrip = 512;  // elements of a strip; divides a row chunk

struct RowReducer {
  std::size_t state_bytes = 0;
  void (*begin)(void* state) = nullptr;
  /// `first` is the index of the strip's first element along the reduced axis, counted from the
  /// row's begin; every strip but the last has kStrip elements.
  void (*add)(void* state, const void* values, std::int64_t first, std::int64_t count) = nullptr;
  /// Writes the result; `origin` is added to the index that an arg reduction gives.
  void (*finish)(void* state, std::int64_t count, std::int64_t origin, void* out) = nullptr;
};
RowReducer row_reducer(Prim prim, ScalarType dtype);
/// The same with pairwise combination of the elements themselves.
RowReducer tree_reducer(Prim prim, ScalarType dtype);

struct ColumnReducer {
  /// For this many rows, of a strip of `columns` columns.
  std::size_t (*state_bytes)(std::int64_t rows, std::int64_t columns) = nullptr;
  void (*begin)(void* state, std::int64_t columns) = nullptr;
  /// One row of the strip; called for rows 0, 1, 2, ….
  void (*add)(void* state, const void* values, std::int64_t row, std::int64_t columns) = nullptr;
  void (*finish)(void* state, std::int64_t rows, std::int64_t origin, std::int64_t columns,
                 void* out) = nullptr;
};
ColumnReducer column_reducer(Prim prim, ScalarType dtype);

}  // namespace groove::kernels::interpreter
