// adam_step: one step of Adam or AdamW, with or without amsgrad.
#include <cmath>

#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kDecoupled, kWeightDecay };                                                // attributes
enum { kStepSize, kInvSqrtBias2, kBeta1, kRest1, kBeta2, kRest2, kEps, kDecay };  // numbers

using kernels::sqrt;
using std::sqrt;

// inputs: parameter, grad, exp_avg, exp_avg_sq [, max_exp_avg_sq]; results without grad.
template <typename Number>
std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                         const std::vector<Number>& n) {
  Number p = x[0], g = x[1];
  if (attr.boolean(kWeightDecay)) {
    if (attr.boolean(kDecoupled))
      p = p * n[kDecay];
    else
      g = g + n[kDecay] * p;
  }
  const Number m = n[kBeta1] * x[2] + n[kRest1] * g;
  const Number v = n[kBeta2] * x[3] + n[kRest2] * (g * g);
  const Number bound = x.size() > 4 ? greater(x[4], v) : v;
  const Number denominator = sqrt(bound) * n[kInvSqrtBias2] + n[kEps];
  p = p - n[kStepSize] * (m / denominator);
  if (x.size() > 4) return {p, m, v, bound};
  return {p, m, v};
}

std::vector<Sample> samples(ScalarType dtype, std::size_t inputs) {
  std::vector<Sample> result;
  for (int flags = 0; flags < 4; ++flags) {
    const bool decoupled = (flags & 1) != 0;
    for (const Shape& sizes : {Shape{}, Shape{0}, Shape{3, 5}}) {
      const AdamNumbers numbers = adam_numbers(0.01, 0.9, 0.999, 1e-8, 0.1, decoupled, 3);
      result.push_back({std::vector<Type>(inputs, Type{dtype, sizes}),
                        Attrs().add(decoupled).add((flags & 2) != 0),
                        {numbers.begin(), numbers.end()}});
    }
  }
  return result;
}

const Op& define_step(const char* name, int inputs, std::vector<int> mutates) {
  return define({
      .name = name,
      .inputs = inputs,
      .outputs = inputs - 1,
      .attributes = {{"decoupled", AttrType::kBool}, {"weight_decay", AttrType::kBool}},
      .number_names = {"step_size", "inv_sqrt_bias2", "beta1", "rest1", "beta2", "rest2", "eps",
                       "decay"},
      .type = optimizer_step_type,
      .lowering = kernels::lower(kernels::ElementwiseLowering{
          .body = [](kernels::Body& b) { return step(b.attr(), b.inputs, b.numbers); }}),
      .mutates = std::move(mutates),
      .reference = optimizer_step_reference(step<double>),
      .domain = {0.1, 2},
      .dtypes = floating_dtypes(),
      .samples =
          [inputs](ScalarType dtype) { return samples(dtype, static_cast<std::size_t>(inputs)); },
      .tolerance_ulp = 16,
  });
}

const Op& op = define_step("adam_step", 4, {0, 2, 3});
const Op& op_amsgrad = define_step("adam_amsgrad_step", 5, {0, 2, 3, 4});

}  // namespace

AdamNumbers adam_numbers(double lr, double beta1, double beta2, double eps, double weight_decay,
                         bool decoupled, double step) {
  return {lr / (1 - std::pow(beta1, step)),
          1 / std::sqrt(1 - std::pow(beta2, step)),
          beta1,
          1 - beta1,
          beta2,
          1 - beta2,
          eps,
          decoupled ? 1 - lr * weight_decay : weight_decay};
}

void adam_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                const Tensor& exp_avg_sq, const Tensor& max_exp_avg_sq, const AdamRule& rule,
                ArrayRef<Scalar> numbers, Site site) {
  const Attrs attrs = Attrs().add(rule.decoupled).add(rule.has_weight_decay);
  if (!max_exp_avg_sq.defined()) {
    call_inplace(op, writable(parameter), {grad, exp_avg, exp_avg_sq}, site, attrs, numbers);
    return;
  }
  call_inplace(op_amsgrad, writable(parameter), {grad, exp_avg, exp_avg_sq, max_exp_avg_sq}, site,
               attrs, numbers);
}

}  // namespace groove
