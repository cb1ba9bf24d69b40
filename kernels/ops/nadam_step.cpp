// nadam_step: one step of NAdam.
#include <cmath>

#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kWeightDecay, kMaximize, kDecoupled };
enum { kGradSize, kMomentSize, kInvBias2, kBeta1, kRest1, kBeta2, kRest2, kEps, kDecay };

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
    const Number denominator = sqrt(v * n[kInvBias2]) + n[kEps];
    p = p - n[kGradSize] * (g / denominator);
    return {p - n[kMomentSize] * (m / denominator), m, v};
  }
};

const Op& op = define_optimizer_step<Rule>(
    "nadam_step", 4, {"weight_decay", "maximize", "decoupled"},
    {"grad_size", "moment_size", "inv_bias2", "beta1", "rest1", "beta2", "rest2", "eps", "decay"},
    nadam_numbers(0.01, 0.9, 0.999, 1e-8, 0.1, 4e-3, true, 3, 0.1));

}  // namespace

double nadam_mu(double beta1, double momentum_decay, double step) {
  return beta1 * (1.0 - 0.5 * std::pow(0.96, step * momentum_decay));
}

NadamNumbers nadam_numbers(double lr, double beta1, double beta2, double eps, double weight_decay,
                           double momentum_decay, bool decoupled, double step, double mu_product) {
  const double mu = nadam_mu(beta1, momentum_decay, step);
  const double mu_next = nadam_mu(beta1, momentum_decay, step + 1);
  return {lr * (1 - mu) / (1 - mu_product),
          lr * mu_next / (1 - mu_product * mu_next),
          1 / (1 - std::pow(beta2, step)),
          beta1,
          1 - beta1,
          beta2,
          1 - beta2,
          eps,
          decoupled ? 1 - lr * weight_decay : weight_decay};
}

void nadam_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                 const Tensor& exp_avg_sq, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                 Site site) {
  call_inplace(op, writable(parameter), {grad, exp_avg, exp_avg_sq}, site,
               Attrs().add(rule.has_weight_decay).add(rule.maximize).add(rule.decoupled), numbers);
}

}  // namespace groove
