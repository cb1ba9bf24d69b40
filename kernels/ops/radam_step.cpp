// radam_step: one step of RAdam.
#include <cmath>

#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kWeightDecay, kMaximize, kDecoupled };
enum { kStepSize, kRectified, kTractable, kBeta1, kRest1, kBeta2, kRest2, kEps, kDecay };

using kernels::sqrt;
using std::sqrt;

struct Rule {
  // inputs: parameter, grad, exp_avg, exp_avg_sq; results without grad.
  template <typename Number>
  static std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                                  const std::vector<Number>& n) {
    Number p = x[0];
    const bool decays = attr.boolean(kWeightDecay), is_decoupled = attr.boolean(kDecoupled);
    const Number g =
        directed_gradient(p, x[1], attr.boolean(kMaximize), decays && !is_decoupled, n[kDecay]);
    if (decays && is_decoupled) p = p * n[kDecay];
    const Number m = n[kBeta1] * x[2] + n[kRest1] * g;
    const Number v = n[kBeta2] * x[3] + n[kRest2] * (g * g);
    // A number, no attribute: the first steps are the same operator.
    const Number adapted = m * (n[kRectified] / (sqrt(v) + n[kEps]));
    return {p - n[kStepSize] * select_positive(n[kTractable], adapted, m), m, v};
  }
};

const Op& op = define_optimizer_step<Rule>(
    "radam_step", 4, {"weight_decay", "maximize", "decoupled"},
    {"step_size", "rectified", "tractable", "beta1", "rest1", "beta2", "rest2", "eps", "decay"},
    radam_numbers(0.01, 0.9, 0.999, 1e-8, 0.1, true, 7));

}  // namespace

RadamNumbers radam_numbers(double lr, double beta1, double beta2, double eps, double weight_decay,
                           bool decoupled, double step) {
  const double bias2 = 1 - std::pow(beta2, step);
  const double rho_inf = 2 / (1 - beta2) - 1;  // the most steps that the average sees
  const double rho = rho_inf - 2 * step * std::pow(beta2, step) / bias2;
  const bool is_tractable = rho > 5;
  const double rectification =
      is_tractable
          ? std::sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho))
          : 0;
  return {lr / (1 - std::pow(beta1, step)),
          std::sqrt(bias2) * rectification,
          is_tractable ? 1.0 : 0.0,
          beta1,
          1 - beta1,
          beta2,
          1 - beta2,
          eps,
          decoupled ? 1 - lr * weight_decay : weight_decay};
}

void radam_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                 const Tensor& exp_avg_sq, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                 Site site) {
  call_inplace(op, writable(parameter), {grad, exp_avg, exp_avg_sq}, site,
               Attrs().add(rule.has_weight_decay).add(rule.maximize).add(rule.decoupled), numbers);
}

}  // namespace groove
