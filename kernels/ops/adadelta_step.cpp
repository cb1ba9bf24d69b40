// adadelta_step: one step of Adadelta.
#include <cmath>

#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kWeightDecay, kMaximize };
enum { kRate, kRho, kRest, kEps, kDecay };

using kernels::sqrt;
using std::sqrt;

struct Rule {
  // inputs: parameter, grad, square_avg, acc_delta; results without grad.
  template <typename Number>
  static std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                                  const std::vector<Number>& n) {
    const Number p = x[0];
    const Number g =
        directed_gradient(p, x[1], attr.boolean(kMaximize), attr.boolean(kWeightDecay), n[kDecay]);
    const Number square_avg = n[kRho] * x[2] + n[kRest] * (g * g);
    const Number delta = sqrt(x[3] + n[kEps]) / sqrt(square_avg + n[kEps]) * g;
    return {p - n[kRate] * delta, square_avg, n[kRho] * x[3] + n[kRest] * (delta * delta)};
  }
};

const Op& op = define_optimizer_step<Rule>("adadelta_step", 4, {"weight_decay", "maximize"},
                                           {"lr", "rho", "rest", "eps", "decay"},
                                           adadelta_numbers(0.5, 0.9, 1e-6, 0.1));

}  // namespace

AdadeltaNumbers adadelta_numbers(double lr, double rho, double eps, double weight_decay) {
  return {lr, rho, 1 - rho, eps, weight_decay};
}

void adadelta_step_(const Tensor& parameter, const Tensor& grad, const Tensor& square_avg,
                    const Tensor& acc_delta, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                    Site site) {
  call_inplace(op, writable(parameter), {grad, square_avg, acc_delta}, site,
               Attrs().add(rule.has_weight_decay).add(rule.maximize), numbers);
}

}  // namespace groove
