// Type rules that many operators share, and records of the common op shapes.
#include "kernels/ops/rules.h"

#include <algorithm>
#include <cmath>

#include "groove/half.h"
#include "kernels/ops/reference.h"
#include "src/core/promotion.h"

namespace groove {

const TensorImpl& checked(const char* op, const Tensor& tensor) {
  GROOVE_CHECK(tensor.defined(), "{}: an operand is undefined; assign it a tensor first", op);
  return *tensor.impl();
}

std::int64_t normal_dim(const char* op, std::int64_t dim, std::size_t rank) {
  const auto axes = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  GROOVE_CHECK_AS(IndexError, dim >= -axes && dim < axes,
                  "{}: dim {} is out of range; it must be in [{}, {}]", op, dim, -axes, axes - 1);
  return dim < 0 ? dim + axes : dim;
}

Shape normal_dims(const char* op, IntArrayRef dims, std::size_t rank) {
  Shape result;
  for (std::int64_t dim : dims) result.push_back(normal_dim(op, dim, rank));
  std::sort(result.begin(), result.end());
  for (std::size_t i = 1; i < result.size(); ++i)
    GROOVE_CHECK(result[i] != result[i - 1], "{}: dim {} is listed more than once", op, result[i]);
  if (rank == 0) result.clear();
  return result;
}

Shape broadcast_of(const char* op, IntArrayRef a, IntArrayRef b) {
  return broadcast_shapes(op, a, b);
}

void check_sizes(const char* op, IntArrayRef sizes) {
  for (std::int64_t size : sizes)
    GROOVE_CHECK(size >= 0, "{}: sizes {} contain a negative one", op, to_string(sizes));
}

std::vector<ScalarType> floating_dtypes() { return {kFloat, kDouble, kHalf, kBFloat16}; }
std::vector<ScalarType> numeric_dtypes() {
  return {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte};
}
std::vector<ScalarType> all_dtypes() {
  return {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte, kBool};
}

// ---- type rules ----

namespace {

const Type& defined(const Signature& signature, std::size_t i) {
  GROOVE_CHECK(signature.inputs[i].dtype != ScalarType::Undefined,
               "{}: operand {} is undefined; assign it a tensor first", signature.op.name, i);
  return signature.inputs[i];
}

ScalarType floating(ScalarType dtype) { return is_floating(dtype) ? dtype : get_default_dtype(); }

TypeResult broadcast_result(const Signature& signature, ScalarType output, ScalarType compute) {
  check_defined(signature);
  return {{{output, broadcast_shapes(signature.op.name, signature.inputs)}}, compute};
}

ScalarType promoted_dtype(const Signature& signature) {
  return result_type(signature.inputs, signature.numbers);
}

}  // namespace

void check_defined(const Signature& signature) {
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) defined(signature, i);
}

TypeResult same_as_input(const Signature& signature) {
  return {{defined(signature, 0)}, signature.inputs[0].dtype};
}

TypeResult floating_result(const Signature& signature) {
  const ScalarType dtype = floating(defined(signature, 0).dtype);
  return {{{dtype, signature.inputs[0].sizes}}, dtype};
}

TypeResult floating_only(const Signature& signature) {
  const ScalarType dtype = defined(signature, 0).dtype;
  GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                  "{}: not defined for {} tensors; convert to a floating dtype", signature.op.name,
                  name(dtype));
  return same_as_input(signature);
}

TypeResult truth_result(const Signature& signature) {
  const Type& input = defined(signature, 0);
  return {{{kBool, input.sizes}}, input.dtype};
}

TypeResult numeric_result(const Signature& signature) {
  GROOVE_CHECK(defined(signature, 0).dtype != kBool,
               "{}: not defined for Bool tensors; convert with to(kInt)", signature.op.name);
  return same_as_input(signature);
}

TypeResult promoted(const Signature& signature) {
  const ScalarType dtype = promoted_dtype(signature);
  return broadcast_result(signature, dtype, dtype);
}

TypeResult promoted_floating(const Signature& signature) {
  const ScalarType dtype = floating(promoted_dtype(signature));
  return broadcast_result(signature, dtype, dtype);
}

TypeResult promoted_bool(const Signature& signature) {
  return broadcast_result(signature, kBool, promoted_dtype(signature));
}

// ---- where values lie ----

ValueRange first_range(const Signature&, ArrayRef<ValueRange> inputs, int) { return inputs[0]; }

ValueRange joined(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

namespace {

// Not inlined: g++ 12 drops the rounding when it makes a vector of two bounds that were rounded
// (-ftree-slp-vectorize).
[[gnu::noinline]] float single(double bound) { return static_cast<float>(bound); }

double rounded(double bound, ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return bound;
    case kHalf:
      return static_cast<float>(Half(single(bound)));
    case kBFloat16:
      return static_cast<float>(BFloat16(single(bound)));
    default:
      return single(bound);
  }
}

}  // namespace

ValueRange in_dtype(const ValueRange& range, ScalarType dtype) {
  if (is_floating(dtype)) return {rounded(range.low, dtype), rounded(range.high, dtype)};
  const ValueRange all = values_of(dtype);
  const bool fits = all.holds(range) && range.low > -0x1p63 && range.high < 0x1p63;
  return fits ? range : all;
}

ValueRange range_of(const Scalar& number, ScalarType dtype) {
  if (number.isFloatingPoint() && !is_floating(dtype)) return values_of(dtype);
  const double value = number.to_double();
  const bool is_exact = number.isFloatingPoint() || std::fabs(value) <= 0x1p53;
  return is_exact && !std::isnan(value) ? in_dtype({value, value}, dtype) : values_of(dtype);
}

// ---- gradients ----

ValueRange converted_range(ScalarType from, const ValueRange& range, ScalarType to) {
  if (to == kBool || (is_floating(from) && !is_floating(to))) return values_of(to);
  const ValueRange own = in_dtype(range, to);
  if (to != kHalf && to != kBFloat16) return own;
  // A 16-bit float may be rounded to directly: only what needs no rounding is sure.
  const bool is_exact = own.low == range.low && own.high == range.high;
  return is_exact ? own : values_of(to);
}

Tensor reduced_to(const Tensor& grad, const Type& operand) {
  const Tensor summed = type_of(grad).sizes == operand.sizes ? grad : sum_to(grad, operand.sizes);
  return summed.to(operand.dtype);
}

// ---- records ----

const Op& define(UnarySpec spec) {
  return define({
      .name = spec.name,
      .type = spec.type,
      .lowering = kernels::unary(spec.body),
      .gradient = spec.gradient,
      .saves_inputs = spec.saves_input ? 1u : 0u,
      .saves_outputs = spec.saves_output ? 1u : 0u,
      .complex = spec.complex,
      .range = spec.range,
      .reference = elementwise_reference(
          [f = spec.reference](const std::vector<double>& x, const Signature&) { return f(x[0]); }),
      .domain = spec.domain,
      .dtypes = spec.dtypes,
      .samples = unary_samples,
      .tolerance_ulp = spec.tolerance_ulp,
  });
}

const Op& define(BinarySpec spec) {
  return define({
      .name = spec.name,
      .inputs = 2,
      .type = spec.type,
      .lowering = kernels::binary(spec.body),
      .gradient = spec.gradient,
      .saves_inputs = spec.saves_inputs,
      .complex = spec.complex,
      .reference =
          elementwise_reference([f = spec.reference](const std::vector<double>& x,
                                                     const Signature&) { return f(x[0], x[1]); }),
      .domain = spec.domain,
      .dtypes = spec.dtypes,
      .samples = binary_samples,
      .tolerance_ulp = spec.tolerance_ulp,
  });
}

const Op& define(ScalarSpec spec) {
  return define({
      .name = spec.name,
      .number_names = {"number"},
      .type = spec.type,
      .lowering = kernels::lower(
          kernels::ElementwiseLowering{.body =
                                           [body = spec.body](kernels::Body& b) {
                                             return kernels::Exprs{body(b.inputs[0], b.numbers[0])};
                                           }}),
      .gradient = spec.gradient,
      .saves_inputs = spec.saves_input ? 1u : 0u,
      .complex = spec.complex,
      .range = spec.range,
      .reference = elementwise_reference(
          [f = spec.reference](const std::vector<double>& x, const Signature& signature) {
            const ScalarType compute = signature.op.type(signature).compute;
            return f(x[0], wrapped(compute, signature.numbers[0].to_double()));
          }),
      .domain = spec.domain,
      .dtypes = spec.dtypes,
      .samples = [numbers =
                      spec.numbers](ScalarType dtype) { return scalar_samples(dtype, numbers); },
      .tolerance_ulp = spec.tolerance_ulp,
  });
}

}  // namespace groove
