// rprop_step: one step of resilient backpropagation.
#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kMaximize };
enum { kMinus, kPlus, kLeast, kMost };

struct Rule {
  // inputs: parameter, grad, prev, step_size; results without grad.
  template <typename Number>
  static std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                                  const std::vector<Number>& n) {
    const Number g = attr.boolean(kMaximize) ? -x[1] : x[1];
    const Number turn = g * x[2];
    const Number factor =
        select_positive(turn, n[kPlus], select_positive(-turn, n[kMinus], constant_like(g, 1)));
    const Number size = lesser(greater(x[3] * factor, n[kLeast]), n[kMost]);
    const Number kept = select_positive(-turn, constant_like(g, 0), g);
    return {x[0] - sign_of(kept) * size, kept, size};
  }
};

const Op& op = define_optimizer_step<Rule>(
    "rprop_step", 4, {"maximize"}, {"etaminus", "etaplus", "step_size_min", "step_size_max"},
    RpropNumbers{0.5, 1.2, 1e-6, 50.0}, {-2, 2});

}  // namespace

void rprop_step_(const Tensor& parameter, const Tensor& grad, const Tensor& prev,
                 const Tensor& step_size, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                 Site site) {
  call_inplace(op, writable(parameter), {grad, prev, step_size}, site, Attrs().add(rule.maximize),
               numbers);
}

}  // namespace groove
