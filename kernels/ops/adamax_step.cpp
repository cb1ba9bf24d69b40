// adamax_step: one step of Adamax.
#include <cmath>

#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kWeightDecay, kMaximize };
enum { kStepSize, kBeta1, kRest1, kBeta2, kEps, kDecay };

using kernels::abs;
using std::abs;

struct Rule {
  // inputs: parameter, grad, exp_avg, exp_inf; results without grad.
  template <typename Number>
  static std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                                  const std::vector<Number>& n) {
    const Number p = x[0];
    const Number g =
        directed_gradient(p, x[1], attr.boolean(kMaximize), attr.boolean(kWeightDecay), n[kDecay]);
    const Number m = n[kBeta1] * x[2] + n[kRest1] * g;
    const Number bound = greater(n[kBeta2] * x[3], abs(g) + n[kEps]);
    return {p - n[kStepSize] * (m / bound), m, bound};
  }
};

const Op& op = define_optimizer_step<Rule>("adamax_step", 4, {"weight_decay", "maximize"},
                                           {"step_size", "beta1", "rest1", "beta2", "eps", "decay"},
                                           adamax_numbers(0.01, 0.9, 0.999, 1e-8, 0.1, 3));

}  // namespace

AdamaxNumbers adamax_numbers(double lr, double beta1, double beta2, double eps, double weight_decay,
                             double step) {
  return {lr / (1 - std::pow(beta1, step)), beta1, 1 - beta1, beta2, eps, weight_decay};
}

void adamax_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                  const Tensor& exp_inf, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                  Site site) {
  call_inplace(op, writable(parameter), {grad, exp_avg, exp_inf}, site,
               Attrs().add(rule.has_weight_decay).add(rule.maximize), numbers);
}

}  // namespace groove
