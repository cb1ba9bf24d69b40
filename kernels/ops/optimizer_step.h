// What the steps of optimizers share as operators: types, and the reference of a rule that is
// written for any kind of number.
#pragma once

#include <array>
#include <cmath>

#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

/// Parameter, gradient and state must be alike; the results are of the parameter's type.
inline TypeResult optimizer_step_type(const Signature& s) {
  const Type& parameter = s.inputs[0];
  GROOVE_CHECK(is_floating(parameter.dtype), "{}: the parameter is {}; it must be floating",
               s.op.name, name(parameter.dtype));
  for (const Type& other : s.inputs) {
    GROOVE_CHECK(other == parameter,
                 "{}: parameter {} of {} and gradient or state {} of {} must be alike", s.op.name,
                 to_string(parameter.sizes), name(parameter.dtype), to_string(other.sizes),
                 name(other.dtype));
  }
  return {std::vector<Type>(static_cast<std::size_t>(s.op.outputs), parameter), parameter.dtype};
}

/// `step(attr, inputs, numbers)` applied to each element in double.
template <typename Step>
ReferenceRule optimizer_step_reference(Step step) {
  return [step](const Signature& s, const std::vector<Reference>& inputs) {
    std::vector<double> numbers, x(inputs.size());
    for (const Scalar& number : s.numbers) numbers.push_back(number.to_double());
    std::vector<Reference> results(inputs.size() - 1, Reference{inputs[0].type, {}});
    for (std::size_t i = 0; i < inputs[0].values.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = inputs[k].values[i];
      const std::vector<double> out = step(s.attr(), x, numbers);
      for (std::size_t k = 0; k < out.size(); ++k) results[k].values.push_back(out[k]);
    }
    return results;
  };
}

// The same words for both kinds of number.
inline double constant_like(double, double value) { return value; }
inline kernels::Expr constant_like(kernels::Expr like, double value) {
  return like.builder().constant(like.dtype(), value);
}
inline double select_positive(double condition, double yes, double no) {
  return condition > 0 ? yes : no;
}
inline kernels::Expr select_positive(kernels::Expr condition, kernels::Expr yes, kernels::Expr no) {
  return kernels::select(kernels::gt(condition, 0.0), yes, no);
}
/// -1, 0 or 1; 0 of NaN, as torch's sign.
template <typename Number>
Number sign_of(Number x) {
  const Number zero = constant_like(x, 0), one = constant_like(x, 1);
  return select_positive(x, one, select_positive(-x, -one, zero));
}
inline double greater(double a, double b) { return a >= b || std::isnan(a) ? a : b; }
inline kernels::Expr greater(kernels::Expr a, kernels::Expr b) { return kernels::max_nan(a, b); }
inline double lesser(double a, double b) { return a <= b || std::isnan(a) ? a : b; }
inline kernels::Expr lesser(kernels::Expr a, kernels::Expr b) { return kernels::min_nan(a, b); }

/// The gradient, or its negative, with the decay that is added to it.
template <typename Number>
Number directed_gradient(Number parameter, Number gradient, bool maximize, bool has_decay,
                         Number decay) {
  if (maximize) gradient = -gradient;
  return has_decay ? gradient + decay * parameter : gradient;
}

/// The operator of a rule: `Rule::step(attr, inputs, numbers)`, for Expr and for double, gives the
/// parameter and the state that are to be. Inputs are the parameter, its gradient and the state;
/// all attributes are flags, and samples have all their values.
template <typename Rule, std::size_t kNumbers>
const Op& define_optimizer_step(const char* name, int inputs, std::vector<const char*> flags,
                                std::vector<const char*> number_names,
                                const std::array<Scalar, kNumbers>& numbers,
                                Domain domain = {0.1, 2}) {
  Op op;
  op.name = name;
  op.inputs = inputs;
  op.outputs = inputs - 1;
  for (const char* flag : flags) op.attributes.push_back({flag, AttrType::kBool});
  for (const char* number : number_names) op.number_names.push_back(number);
  op.type = optimizer_step_type;
  op.lowering = kernels::lower(kernels::ElementwiseLowering{
      .body = [](kernels::Body& b) { return Rule::step(b.attr(), b.inputs, b.numbers); }});
  op.mutates = {0};
  for (int i = 2; i < inputs; ++i) op.mutates.push_back(i);
  op.reference = optimizer_step_reference(Rule::template step<double>);
  op.domain = domain;
  op.dtypes = floating_dtypes();
  op.samples = [inputs, count = flags.size(), numbers](ScalarType dtype) {
    std::vector<Sample> result;
    for (std::size_t set = 0; set < (std::size_t{1} << count); ++set) {
      Attrs attrs;
      for (std::size_t i = 0; i < count; ++i) attrs.add((set >> i & 1) != 0);
      for (const Shape& sizes : {Shape{}, Shape{0}, Shape{3, 5}})
        result.push_back({std::vector<Type>(static_cast<std::size_t>(inputs), Type{dtype, sizes}),
                          attrs,
                          {numbers.begin(), numbers.end()}});
    }
    return result;
  };
  op.tolerance_ulp = 32;
  return define(std::move(op));
}

}  // namespace groove
