#include "kernels/ops/host_functions.h"

#include "groove/ops/views.h"
#include "kernels/ops/ranking.h"
#include "kernels/ops/reference.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

TypeResult alike(const Signature& s) {
  check_defined(s);
  const Type& type = s.inputs[0];
  for (const Type& other : s.inputs)
    GROOVE_CHECK(is_floating(other.dtype) && other == type,
                 "{}: operands must be floating, of one dtype and shape; they are {} {} and {} {}",
                 s.op.name, name(type.dtype), to_string(type.sizes), name(other.dtype),
                 to_string(other.sizes));
  return {{type}, type.dtype};
}

template <typename T>
void compute(double (*function)(const double*), ArrayRef<Tensor> inputs, const Tensor& output,
             int part, int parts) {
  const T* given[2] = {};
  for (std::size_t k = 0; k < inputs.size(); ++k)
    given[k] = static_cast<const T*>(inputs[k].impl()->data());
  T* const result = static_cast<T*>(output.impl()->data());
  const std::int64_t count = output.impl()->numel;
  for (std::int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i) {
    double x[2] = {};
    for (std::size_t k = 0; k < inputs.size(); ++k) x[k] = static_cast<double>(given[k][i]);
    result[i] = static_cast<T>(function(x));
  }
}

// The dtype in which operands meet; integers give the default one.
ScalarType floating(ArrayRef<Type> types) {
  const ScalarType dtype = result_type(types);
  return is_floating(dtype) ? dtype : get_default_dtype();
}

}  // namespace

const Op& define(HostFunction of) {
  return define(
      Op{
          .name = of.name,
          .kind = OpKind::kOpaque,
          .inputs = of.inputs,
          .type = alike,
          .lowering = kernels::lower(kernels::OpaqueLowering{
              .run_part =
                  [function = of.function](const Signature& s, ArrayRef<Tensor> inputs,
                                           ArrayRef<Tensor> outputs, int part, int parts) {
                    if (s.inputs[0].dtype == kDouble)
                      compute<double>(function, inputs, outputs[0], part, parts);
                    else
                      compute<float>(function, inputs, outputs[0], part, parts);
                  },
              .nanoseconds =
                  [each = of.nanoseconds](const Signature& s) {
                    return 300 + each * static_cast<double>(element_count(s.inputs[0].sizes));
                  }}),
          .gradient = of.gradient,
          .saves_inputs = of.saves_inputs,
          .lacks_gradient = of.lacks_gradient,
          .reference = elementwise_reference(
              [reference = of.reference](const std::vector<double>& x, const Signature&) {
                return reference(x[0], x.back());
              }),
          .domain = of.domain,
          .dtypes = floating_dtypes(),
          .samples =
              [count = of.inputs](ScalarType dtype) {
                std::vector<Sample> samples;
                for (const Shape& sizes :
                     {Shape{}, Shape{7}, Shape{3, 5}, Shape{2, 90}, Shape{0, 2}})
                  samples.push_back(
                      {std::vector<Type>(static_cast<std::size_t>(count), {dtype, sizes}), {}, {}});
                return samples;
              },
          .tolerance_ulp = of.tolerance_ulp,
      });
}

Tensor call_host(const Op& op, Arg x) {
  const SiteScope scope(x.site, op.name.c_str());
  checked(op.name.c_str(), *x.tensor);
  const Type type = type_of(*x.tensor);
  return call(op, {x.tensor->to(floating(ArrayRef<Type>(type)), false, false, x.site)}, x.site);
}
Tensor call_host(const Op& op, Arg x, const Tensor& y) {
  const SiteScope scope(x.site, op.name.c_str());
  checked(op.name.c_str(), *x.tensor);
  checked(op.name.c_str(), y);
  const Type types[] = {type_of(*x.tensor), type_of(y)};
  const ScalarType dtype = floating(ArrayRef<Type>(types));
  const Shape sizes = broadcast_of(op.name.c_str(), types[0].sizes, types[1].sizes);
  const auto fit = [&](const Tensor& operand) {
    return expand({operand.to(dtype, false, false, x.site), x.site}, sizes);
  };
  return call(op, {fit(*x.tensor), fit(y)}, x.site);
}
Tensor call_host(const Op& op, Arg x, Scalar y) {
  return call_host(op, x, number_beside(*x.tensor, y, x.site));
}
Tensor call_host(const Op& op, Scalar x, Arg y) {
  return call_host(op, {number_beside(*y.tensor, x, y.site), y.site}, *y.tensor);
}

}  // namespace groove
