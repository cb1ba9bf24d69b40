// rmsprop_step: one step of RMSprop, with or without momentum and centering.
#include <cmath>

#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kWeightDecay, kMomentum, kCentered };           // attributes
enum { kRate, kAlpha, kRest, kEps, kDecay, kFactor };  // numbers

using kernels::sqrt;
using std::sqrt;

// inputs: parameter, grad, square_avg [, momentum_buffer] [, grad_avg]; results without grad.
template <typename Number>
std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                         const std::vector<Number>& n) {
  const Number p = x[0];
  const Number g = attr.boolean(kWeightDecay) ? x[1] + n[kDecay] * p : x[1];
  const Number square_avg = n[kAlpha] * x[2] + n[kRest] * (g * g);
  std::vector<Number> results = {p, square_avg};
  const bool has_momentum = attr.boolean(kMomentum);
  Number variance = square_avg, grad_avg = g;
  if (attr.boolean(kCentered)) {
    grad_avg = n[kAlpha] * x[has_momentum ? 4 : 3] + n[kRest] * g;
    variance = square_avg - grad_avg * grad_avg;
  }
  Number direction = g / (sqrt(variance) + n[kEps]);
  if (has_momentum) {
    direction = n[kFactor] * x[3] + direction;
    results.push_back(direction);
  }
  if (attr.boolean(kCentered)) results.push_back(grad_avg);
  results[0] = p - n[kRate] * direction;
  return results;
}

Attrs attrs_of(bool has_weight_decay, bool has_momentum, bool is_centered) {
  return Attrs().add(has_weight_decay).add(has_momentum).add(is_centered);
}

const Op& define_step(const char* name, bool has_momentum, bool is_centered) {
  const int inputs = 3 + has_momentum + is_centered;
  std::vector<int> mutates = {0};
  for (int i = 2; i < inputs; ++i) mutates.push_back(i);
  return define({
      .name = name,
      .inputs = inputs,
      .outputs = inputs - 1,
      .attributes = {{"weight_decay", AttrType::kBool},
                     {"momentum", AttrType::kBool},
                     {"centered", AttrType::kBool}},
      .number_names = {"lr", "alpha", "rest", "eps", "weight_decay", "momentum"},
      .type = [inputs](const Signature& s) -> TypeResult {
        GROOVE_CHECK(inputs == 3 + s.attr().boolean(kMomentum) + s.attr().boolean(kCentered),
                     "{}: momentum and centered do not fit {} operands", s.op.name, inputs);
        return optimizer_step_type(s);
      },
      .lowering = kernels::lower(kernels::ElementwiseLowering{
          .body = [](kernels::Body& b) { return step(b.attr(), b.inputs, b.numbers); }}),
      .mutates = std::move(mutates),
      .reference = optimizer_step_reference(step<double>),
      .domain = {0.1, 0.5},  // independent averages may still give s < a²: NaN in both
      .dtypes = floating_dtypes(),
      .samples =
          [=](ScalarType dtype) {
            std::vector<Sample> result;
            for (const bool has_weight_decay : {false, true})
              for (const Shape& sizes : {Shape{}, Shape{0}, Shape{3, 5}}) {
                const RmspropNumbers numbers = rmsprop_numbers(0.01, is_centered ? 0.5 : 0.99, 1e-2,
                                                               has_weight_decay ? 0.1 : 0, 0.9);
                result.push_back(
                    {std::vector<Type>(static_cast<std::size_t>(inputs), Type{dtype, sizes}),
                     attrs_of(has_weight_decay, has_momentum, is_centered),
                     {numbers.begin(), numbers.end()}});
              }
            return result;
          },
      .tolerance_ulp = 64,  // s - a² cancels
  });
}

const Op& op = define_step("rmsprop_step", false, false);
const Op& op_momentum = define_step("rmsprop_momentum_step", true, false);
const Op& op_centered = define_step("rmsprop_centered_step", false, true);
const Op& op_both = define_step("rmsprop_centered_momentum_step", true, true);

}  // namespace

RmspropNumbers rmsprop_numbers(double lr, double alpha, double eps, double weight_decay,
                               double momentum) {
  return {lr, alpha, 1 - alpha, eps, weight_decay, momentum};
}

void rmsprop_step_(const Tensor& parameter, const Tensor& grad, const Tensor& square_avg,
                   const Tensor& momentum_buffer, const Tensor& grad_avg, const RmspropRule& rule,
                   ArrayRef<Scalar> numbers, Site site) {
  const bool has_momentum = momentum_buffer.defined(), is_centered = grad_avg.defined();
  const Attrs attrs = attrs_of(rule.has_weight_decay, has_momentum, is_centered);
  if (has_momentum && is_centered)
    call_inplace(op_both, writable(parameter), {grad, square_avg, momentum_buffer, grad_avg}, site,
                 attrs, numbers);
  else if (has_momentum)
    call_inplace(op_momentum, writable(parameter), {grad, square_avg, momentum_buffer}, site, attrs,
                 numbers);
  else if (is_centered)
    call_inplace(op_centered, writable(parameter), {grad, square_avg, grad_avg}, site, attrs,
                 numbers);
  else
    call_inplace(op, writable(parameter), {grad, square_avg}, site, attrs, numbers);
}

}  // namespace groove
