// sgd_step: one step of stochastic gradient descent, with momentum and weight decay.
#include "kernels/ops/optimizer_ops.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

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

TypeResult step_type(const Signature& s) {
  const Type& parameter = s.inputs[0];
  GROOVE_CHECK(is_floating(parameter.dtype), "{}: the parameter is {}; it must be floating",
               s.op.name, name(parameter.dtype));
  for (const Type& other : s.inputs) {
    GROOVE_CHECK(other == parameter,
                 "{}: parameter {} of {} and gradient or state {} of {} must be alike", s.op.name,
                 to_string(parameter.sizes), name(parameter.dtype), to_string(other.sizes),
                 name(other.dtype));
  }
  return {std::vector<Type>(static_cast<std::size_t>(s.op.outputs), parameter), parameter.dtype};
}

template <typename Number>
Number decayed(const AttrReader& attr, Number p, Number g, Number decay) {
  return attr.boolean(kWeightDecay) ? g + decay * p : g;
}

template <typename Number>
std::vector<Number> with_momentum(const AttrReader& attr, Number p, Number grad, Number buffer,
                                  const std::vector<Number>& n) {
  const Number g = decayed(attr, p, grad, n[kDecay]);
  const Number b = attr.boolean(kFirst) ? g : n[kFactor] * buffer + n[kUndamped] * g;
  const Number direction = attr.boolean(kNesterov) ? g + n[kFactor] * b : b;
  return {p - n[kRate] * direction, b};
}

std::vector<double> numbers_of(const Signature& s) {
  std::vector<double> result;
  for (const Scalar& number : s.numbers) result.push_back(number.to_double());
  return result;
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

const std::vector<AttrField> attributes = {{"momentum", AttrType::kBool},
                                           {"nesterov", AttrType::kBool},
                                           {"weight_decay", AttrType::kBool},
                                           {"first", AttrType::kBool}};
const std::vector<const char*> number_names = {"lr", "momentum", "undamped", "weight_decay"};

const Op& op_plain = define({
    .name = "sgd_step",
    .inputs = 2,
    .attributes = attributes,
    .number_names = number_names,
    .type = step_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              const kernels::Expr p = b.inputs[0];
              const kernels::Expr g = decayed(b.attr(), p, b.inputs[1], b.numbers[kDecay]);
              return kernels::Exprs{p - b.numbers[kRate] * g};
            }}),
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      const std::vector<double> n = numbers_of(s);
      return x[0] - n[kRate] * decayed(s.attr(), x[0], x[1], n[kDecay]);
    }),
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return samples(dtype, false); },
    .tolerance_ulp = 8,
});

const Op& op = define({
    .name = "sgd_momentum_step",
    .inputs = 3,
    .outputs = 2,
    .attributes = attributes,
    .number_names = number_names,
    .type = step_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return with_momentum(b.attr(), b.inputs[0], b.inputs[1], b.inputs[2], b.numbers);
            }}),
    .mutates = {0, 2},
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          std::vector<Reference> results(2, Reference{inputs[0].type, {}});
          for (std::size_t i = 0; i < inputs[0].values.size(); ++i) {
            const std::vector<double> out =
                with_momentum(s.attr(), inputs[0].values[i], inputs[1].values[i],
                              inputs[2].values[i], numbers_of(s));
            for (std::size_t k = 0; k < 2; ++k) results[k].values.push_back(out[k]);
          }
          return results;
        },
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return samples(dtype, true); },
    .tolerance_ulp = 16,
});

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
