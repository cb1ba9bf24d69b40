// asgd_step: one step of averaged stochastic gradient descent.
#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kWeightDecay, kMaximize };
enum { kEta, kShrink, kMu, kAverages, kDecay };

struct Rule {
  // inputs: parameter, grad, ax; results without grad.
  template <typename Number>
  static std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                                  const std::vector<Number>& n) {
    const Number p = x[0];
    const Number g =
        directed_gradient(p, x[1], attr.boolean(kMaximize), attr.boolean(kWeightDecay), n[kDecay]);
    const Number moved = p * n[kShrink] - n[kEta] * g;
    const Number average = x[2] + n[kMu] * (moved - x[2]);
    return {moved, select_positive(n[kAverages], average, moved)};
  }
};

const Op& op = define_optimizer_step<Rule>("asgd_step", 3, {"weight_decay", "maximize"},
                                           {"eta", "shrink", "mu", "averages", "decay"},
                                           asgd_numbers(0.01, 0.25, 1e-4, 0.1));

}  // namespace

AsgdNumbers asgd_numbers(double eta, double mu, double lambd, double weight_decay) {
  return {eta, 1 - lambd * eta, mu, mu < 1 ? 1.0 : 0.0, weight_decay};
}

void asgd_step_(const Tensor& parameter, const Tensor& grad, const Tensor& ax,
                const OptimizerRule& rule, ArrayRef<Scalar> numbers, Site site) {
  call_inplace(op, writable(parameter), {grad, ax}, site,
               Attrs().add(rule.has_weight_decay).add(rule.maximize), numbers);
}

}  // namespace groove
