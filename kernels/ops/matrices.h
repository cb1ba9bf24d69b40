// What operators on matrices share: [.., m, n] taken apart into matrices of f64, one thread for
// each share of them, so that bits depend neither on threads nor on the dtype's own rounding.
#pragma once

#include <functional>
#include <vector>

#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/linear_algebra.h"
#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/allocator.h"

namespace groove {

// For what is needed for the length of a call: malloc gives pages back and takes new ones, which
// cost more than what is done with them.
template <typename T>
struct KeptPages {
  using value_type = T;
  T* allocate(std::size_t count) { return static_cast<T*>(groove::allocate(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) noexcept {
    groove::deallocate(block, count * sizeof(T));
  }
  bool operator==(const KeptPages&) const { return true; }
};

// Row-major. What has one axis beyond the batch is one row, what has none one element.
struct Matrix {
  std::int64_t rows = 1, columns = 1;
  std::vector<double, KeptPages<double>> values = {};
  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t columns)
      : rows(rows), columns(columns), values(static_cast<std::size_t>(rows * columns)) {}
  double& operator()(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  const double& operator()(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};
Matrix transposed(const Matrix& a);
Matrix unit(std::int64_t rows, std::int64_t columns);

using Matrices = std::vector<Matrix>;
/// One batch entry of each input; the outputs have their sizes and hold zeros.
using MatrixFunction = void (*)(const AttrReader& attr, const Matrices& inputs, Matrices& outputs);
/// The lowering of an op whose inputs and outputs have one batch, that of input 0.
std::shared_ptr<const kernels::Lowering> matrix_lowering(MatrixFunction function);
/// The same as a reference.
ReferenceRule matrix_reference(MatrixFunction function);

/// Throws unless an input is of f32 or f64 and has two axes at least, equal ones where `is_square`.
void check_matrices(const char* op, const Type& type, bool is_square);
Type checked_matrices(const char* op, const Tensor& tensor, bool is_square);
/// The shape with other sizes in place of the last two.
Shape batch_with(const Shape& sizes, IntArrayRef last);
/// All outputs of a call.
Tensors call_all(const Op& op, TensorList inputs, const Attrs& attrs = {});

inline Tensor mirrored(const Tensor& a) { return transpose(a, -2, -1); }
/// x, once `info` (i32, a number for each matrix) is seen to hold only zeros. Throws that a matrix
/// is singular, or not positive definite, naming its place in the batch.
enum class Refusal : std::uint8_t { kSingular, kNotPositive, kNotConverged };
Tensor verified(const Tensor& x, const Tensor& info, Refusal refusal);
/// Both operands with the batch that they broadcast to.
std::pair<Tensor, Tensor> one_batch(const char* op, const Tensor& a, const Tensor& b);

}  // namespace groove
