// adagrad_step: one step of Adagrad.
#include <cmath>

#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kWeightDecay };         // attributes
enum { kRate, kEps, kDecay };  // numbers

using kernels::sqrt;
using std::sqrt;

// inputs: parameter, grad, sum; results without grad.
template <typename Number>
std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                         const std::vector<Number>& n) {
  const Number g = attr.boolean(kWeightDecay) ? x[1] + n[kDecay] * x[0] : x[1];
  const Number sum = x[2] + g * g;
  return {x[0] - n[kRate] * (g / (sqrt(sum) + n[kEps])), sum};
}

const Op& op = define({
    .name = "adagrad_step",
    .inputs = 3,
    .outputs = 2,
    .attributes = {{"weight_decay", AttrType::kBool}},
    .number_names = {"lr", "eps", "weight_decay"},
    .type = optimizer_step_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body = [](kernels::Body& b) { return step(b.attr(), b.inputs, b.numbers); }}),
    .mutates = {0, 2},
    .reference = optimizer_step_reference(step<double>),
    .domain = {0.1, 2},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> result;
          for (const bool has_weight_decay : {false, true})
            for (const Shape& sizes : {Shape{}, Shape{0}, Shape{3, 5}}) {
              const AdagradNumbers numbers =
                  adagrad_numbers(0.01, 0.1, 1e-10, has_weight_decay ? 0.1 : 0, 3);
              result.push_back({std::vector<Type>(3, Type{dtype, sizes}),
                                Attrs().add(has_weight_decay),
                                {numbers.begin(), numbers.end()}});
            }
          return result;
        },
    .tolerance_ulp = 16,
});

}  // namespace

AdagradNumbers adagrad_numbers(double lr, double lr_decay, double eps, double weight_decay,
                               double step) {
  return {lr / (1 + (step - 1) * lr_decay), eps, weight_decay};
}

void adagrad_step_(const Tensor& parameter, const Tensor& grad, const Tensor& sum,
                   const AdagradRule& rule, ArrayRef<Scalar> numbers, Site site) {
  call_inplace(op, writable(parameter), {grad, sum}, site, Attrs().add(rule.has_weight_decay),
               numbers);
}

}  // namespace groove
