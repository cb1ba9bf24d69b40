// What the steps of optimizers share as operators: types, and the reference of a rule that is
// written for any kind of number.
#pragma once

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

}  // namespace groove
