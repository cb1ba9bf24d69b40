// lion_step: one step of Lion.
#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kWeightDecay, kMaximize };
enum { kRate, kBeta1, kRest1, kBeta2, kRest2, kShrink };

struct Rule {
  // inputs: parameter, grad, exp_avg; results without grad.
  template <typename Number>
  static std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                                  const std::vector<Number>& n) {
    const Number g = attr.boolean(kMaximize) ? -x[1] : x[1];
    const Number p = attr.boolean(kWeightDecay) ? x[0] * n[kShrink] : x[0];
    const Number c = n[kBeta1] * x[2] + n[kRest1] * g;
    return {p - n[kRate] * sign_of(c), n[kBeta2] * x[2] + n[kRest2] * g};
  }
};

const Op& op = define_optimizer_step<Rule>("lion_step", 3, {"weight_decay", "maximize"},
                                           {"lr", "beta1", "rest1", "beta2", "rest2", "shrink"},
                                           lion_numbers(0.01, 0.9, 0.99, 0.1), {-2, 2});

}  // namespace

LionNumbers lion_numbers(double lr, double beta1, double beta2, double weight_decay) {
  return {lr, beta1, 1 - beta1, beta2, 1 - beta2, 1 - lr * weight_decay};
}

void lion_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                const OptimizerRule& rule, ArrayRef<Scalar> numbers, Site site) {
  call_inplace(op, writable(parameter), {grad, exp_avg}, site,
               Attrs().add(rule.has_weight_decay).add(rule.maximize), numbers);
}

}  // namespace groove
