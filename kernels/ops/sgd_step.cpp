// sgd_step: one step of stochastic gradient descent, with momentum and weight decay.
#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/optimizer_step.h"

namespace groove {
namespace {

enum { kMomentum, kNesterov, kWeightDecay, kFirst };  // attributes
enum { kRate, kFactor, kUndamped, kDecay };           // numbers

Attrs attrs_of(const SgdRule& rule) {
  return Attrs()
      .add(rule.has_momentum)
      .add(rule.nesterov)
      .add(rule.has_weight_decay)
      .add(rule.is_first);
}

// inputs: parameter, grad [, momentum_buffer]; results without grad.
template <typename Number>
std::vector<Number> step(const AttrReader& attr, const std::vector<Number>& x,
                         const std::vector<Number>& n) {
  const Number p = x[0];
  const Number g = attr.boolean(kWeightDecay) ? x[1] + n[kDecay] * p : x[1];
  if (x.size() == 2) return {p - n[kRate] * g};
  const Number b = attr.boolean(kFirst) ? g : n[kFactor] * x[2] + n[kUndamped] * g;
  const Number direction = attr.boolean(kNesterov) ? g + n[kFactor] * b : b;
  return {p - n[kRate] * direction, b};
}

std::vector<Sample> samples(ScalarType dtype, bool has_momentum) {
  std::vector<Sample> result;
  const std::size_t inputs = has_momentum ? 3 : 2;
  for (int flags = 0; flags < (has_momentum ? 8 : 2); ++flags) {
    const SgdRule rule{has_momentum, (flags & 2) != 0, (flags & 1) != 0, (flags & 4) != 0};
    for (const Shape& sizes : {Shape{}, Shape{0}, Shape{3, 5}}) {
      const SgdNumbers numbers = sgd_numbers(0.1, 0.9, 0.2, 0.01);
      result.push_back({std::vector<Type>(inputs, Type{dtype, sizes}),
                        attrs_of(rule),
                        {numbers.begin(), numbers.end()}});
    }
  }
  return result;
}

const Op& define_step(const char* name, bool has_momentum, double tolerance_ulp) {
  return define({
      .name = name,
      .inputs = has_momentum ? 3 : 2,
      .outputs = has_momentum ? 2 : 1,
      .attributes = {{"momentum", AttrType::kBool},
                     {"nesterov", AttrType::kBool},
                     {"weight_decay", AttrType::kBool},
                     {"first", AttrType::kBool}},
      .number_names = {"lr", "momentum", "undamped", "weight_decay"},
      .type = optimizer_step_type,
      .lowering = kernels::lower(kernels::ElementwiseLowering{
          .body = [](kernels::Body& b) { return step(b.attr(), b.inputs, b.numbers); }}),
      .mutates = has_momentum ? std::vector<int>{0, 2} : std::vector<int>{0},
      .writes_unnoticed = true,  // as LibTorch's C++ step, unlike those of other optimizers
      .reference = optimizer_step_reference(step<double>),
      .dtypes = floating_dtypes(),
      .samples = [has_momentum](ScalarType dtype) { return samples(dtype, has_momentum); },
      .tolerance_ulp = tolerance_ulp,
  });
}

const Op& op_plain = define_step("sgd_step", false, 8);
const Op& op = define_step("sgd_momentum_step", true, 16);

}  // namespace

SgdNumbers sgd_numbers(double lr, double momentum, double dampening, double weight_decay) {
  return {lr, momentum, 1 - dampening, weight_decay};
}

void sgd_step_(const Tensor& parameter, const Tensor& grad, const Tensor& momentum_buffer,
               const SgdRule& rule, ArrayRef<Scalar> numbers, Site site) {
  if (!rule.has_momentum) {
    call_inplace(op_plain, writable(parameter), {grad}, site, attrs_of(rule), numbers);
    return;
  }
  call_inplace(op, writable(parameter), {grad, momentum_buffer}, site, attrs_of(rule), numbers);
}

}  // namespace groove
