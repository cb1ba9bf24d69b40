// Type rules and the small pieces that many op files share: dimension arithmetic, promotion,
// gradients brought back to an operand's type, and records of the common op shapes.
#pragma once

#include <string>
#include <vector>

#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "kernels/lowering.h"
#include "src/core/check.h"
#include "src/core/dispatch.h"
#include "src/core/op.h"
#include "src/core/tensor_impl.h"

namespace groove {

// ---- arguments ----

/// The tensor's metadata; throws groove::Error when it is undefined.
const TensorImpl& checked(const char* op, const Tensor& tensor);
inline Type type_of(const Tensor& tensor) {
  return {tensor.impl()->dtype, tensor.impl()->geometry.sizes};
}
/// A dim in [0, rank), from one that may count from the end; a 0-d tensor has dims -1 and 0.
std::int64_t normal_dim(const char* op, std::int64_t dim, std::size_t rank);
/// Sorted, without doubles; throws on a repeated dim.
Shape normal_dims(const char* op, IntArrayRef dims, std::size_t rank);
Shape broadcast_of(const char* op, IntArrayRef a, IntArrayRef b);
void check_sizes(const char* op, IntArrayRef sizes);

// ---- dtypes that tests walk ----

std::vector<ScalarType> floating_dtypes();
std::vector<ScalarType> numeric_dtypes();  // all but bool
std::vector<ScalarType> all_dtypes();

// ---- type rules ----

/// Throws groove::Error naming the first operand that is undefined: for rules of ops that go without
/// none of theirs and do not look at each.
void check_defined(const Signature& signature);
TypeResult same_as_input(const Signature& signature);
/// Floating inputs keep their dtype; others give the default one.
TypeResult floating_result(const Signature& signature);
/// As same_as_input; throws for integers and bool.
TypeResult floating_only(const Signature& signature);
/// Bool in the input's shape, from a body in the input's dtype.
TypeResult truth_result(const Signature& signature);
/// As same_as_input; throws for bool.
TypeResult numeric_result(const Signature& signature);
/// All inputs broadcast; inputs and numbers promote.
TypeResult promoted(const Signature& signature);
/// As promoted, but integers and bool give the default dtype.
TypeResult promoted_floating(const Signature& signature);
/// As promoted; the result is bool.
TypeResult promoted_bool(const Signature& signature);

// ---- where values lie ----

/// Integers from 0 to below a bound: what may index an axis of that size.
inline ValueRange positions_below(std::int64_t bound) {
  return {0, static_cast<double>(bound) - 1};
}
/// A RangeRule: every element is one of the first input's.
ValueRange first_range(const Signature& signature, ArrayRef<ValueRange> inputs, int output);
/// The smallest range around both.
ValueRange joined(const ValueRange& a, const ValueRange& b);
/// What a range becomes when values are rounded to a dtype, through f32 for the 16-bit floats;
/// integers that would wrap may be anything.
ValueRange in_dtype(const ValueRange& range, ScalarType dtype);
/// The same for a conversion. A float may be NaN, which as an integer may be anything.
ValueRange converted_range(ScalarType from, const ValueRange& range, ScalarType to);
/// A number as a kernel of that dtype is given it.
ValueRange range_of(const Scalar& number, ScalarType dtype);

// ---- gradients ----

/// `grad` summed over broadcast axes and cast to the dtype of an operand.
Tensor reduced_to(const Tensor& grad, const Type& operand);

// ---- records of common shapes ----

using ScalarFunction = double (*)(double);
using ScalarFunction2 = double (*)(double, double);

struct UnarySpec {
  const char* name;
  kernels::Expr (*body)(kernels::Expr);
  GradientRule gradient = {};
  bool saves_input = false, saves_output = false;
  ComplexRule complex = nullptr;
  ScalarFunction reference = nullptr;
  Domain domain = {};
  TypeRule type = floating_result;
  std::vector<ScalarType> dtypes = numeric_dtypes();
  double tolerance_ulp = 2;
  RangeRule range = {};
};
const Op& define(UnarySpec spec);

// Two tensors that broadcast.
struct BinarySpec {
  const char* name;
  kernels::Expr (*body)(kernels::Expr, kernels::Expr);
  GradientRule gradient = {};
  std::uint32_t saves_inputs = 0;
  ComplexRule complex = nullptr;
  ScalarFunction2 reference = nullptr;
  Domain domain = {};
  TypeRule type = promoted;
  std::vector<ScalarType> dtypes = numeric_dtypes();
  double tolerance_ulp = 1;
};
const Op& define(BinarySpec spec);

// One tensor and one number.
struct ScalarSpec {
  const char* name;
  kernels::Expr (*body)(kernels::Expr x, kernels::Expr number);
  GradientRule gradient = {};
  bool saves_input = false;
  ComplexRule complex = nullptr;
  ScalarFunction2 reference = nullptr;
  Domain domain = {};
  TypeRule type = promoted;
  std::vector<double> numbers = {1.5, -2};
  std::vector<ScalarType> dtypes = numeric_dtypes();
  double tolerance_ulp = 1;
  RangeRule range = {};
};
const Op& define(ScalarSpec spec);

// ---- calls ----

inline Tensor call(const Op& op, Arg x, const char* name = __builtin_FUNCTION()) {
  return call(op, {*x.tensor}, x.site, {}, {}, name);
}
inline Tensor call(const Op& op, Arg x, const Tensor& y, const char* name = __builtin_FUNCTION()) {
  return call(op, {*x.tensor, y}, x.site, {}, {}, name);
}
inline Tensor call(const Op& op, Arg x, Scalar number, const char* name = __builtin_FUNCTION()) {
  return call(op, {*x.tensor}, x.site, {}, number, name);
}
/// In-place methods are const, as in LibTorch: the handle stays, what it points to changes.
inline Tensor& writable(const Tensor& tensor) { return const_cast<Tensor&>(tensor); }

}  // namespace groove
