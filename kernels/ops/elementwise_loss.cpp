// Losses element by element, then reduced.
#include "kernels/ops/elementwise_loss.h"

#include "groove/warning.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

enum { kReduction, kParameter };

double parameter_of(const AttrReader& attr, bool has_parameter) {
  return has_parameter ? attr.real(kParameter) : 0;
}

TypeResult loss_type(const Signature& s) {
  check_defined(s);
  const Shape sizes = broadcast_shapes(s.op.name, s.inputs);
  const ScalarType dtype = result_type(s.inputs);
  GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                  "{}: not defined for {} tensors; convert to a floating dtype", s.op.name,
                  name(dtype));
  const std::int64_t reduction = s.attr().integer(kReduction);
  check_reduction(s.op.name.c_str(), reduction);
  return {{{dtype, reduction == Reduction::None ? sizes : Shape{}}}, dtype};
}

Tensors loss_gradient(const Grad& g, const ElementwiseLoss& spec) {
  const AttrReader attr = g.attr();
  const Shape sizes = broadcast_of(spec.name, g.input_types[0].sizes, g.input_types[1].sizes);
  Tensor share = g.cotangent();
  if (attr.integer(kReduction) == Reduction::Mean)
    share = share / static_cast<double>(element_count(sizes));
  share = share.expand(sizes);  // a slope may have the shape of one operand
  Tensors result = spec.slopes(g.input(0), g.input(1),
                               parameter_of(attr, spec.parameter_name != nullptr), g.needs);
  for (std::size_t i = 0; i < 2; ++i) {
    if (g.needs[i] && result[i].defined())
      result[i] = reduced_to(result[i] * share, g.input_types[i]);
    else
      result[i] = Tensor();
  }
  return result;
}

std::vector<Reference> loss_reference(const Signature& s, const std::vector<Reference>& inputs,
                                      const ElementwiseLoss& spec) {
  const Shape sizes = broadcast_shapes(spec.name, s.inputs);
  const double parameter = parameter_of(s.attr(), spec.parameter_name != nullptr);
  Reference losses = make_reference({inputs[0].type.dtype, sizes}, [&](const Shape& index) {
    return spec.reference(broadcast_at(inputs[0], index), broadcast_at(inputs[1], index),
                          parameter);
  });
  losses.type = s.op.type(s).outputs[0];
  const std::int64_t reduction = s.attr().integer(kReduction);
  if (reduction == Reduction::None) return {losses};
  double total = 0;
  for (double x : losses.values) total += x;
  if (reduction == Reduction::Mean) total /= static_cast<double>(losses.values.size());
  losses.values = {total};
  return {losses};
}

}  // namespace

void warn_where_broadcast(const char* op, const Arg& input, const Tensor& target) {
  const Shape &sizes = checked(op, *input.tensor).geometry.sizes,
              &other = checked(op, target).geometry.sizes;
  if (sizes == other) return;
  const Shape joint = broadcast_of(op, sizes, other);
  warn(
      fmt::format("{}: the target has shape {}, the input {}: both are broadcast to {}, which most "
                  "likely is not meant; give them one shape with view() or squeeze()",
                  op, to_string(other), to_string(sizes), to_string(joint)),
      input.site);
}

void check_reduction(const char* op, std::int64_t reduction) {
  GROOVE_CHECK(reduction >= Reduction::None && reduction <= Reduction::Sum,
               "{}: reduction {} is none of None, Mean, Sum", op, reduction);
}

Tensor reduce_loss(const Tensor& losses, std::int64_t reduction) {
  switch (reduction) {
    case Reduction::None:
      return losses;
    case Reduction::Sum:
      return sum(losses);
    default:
      return mean(losses);
  }
}

const Op& define(const ElementwiseLoss& spec) {
  std::vector<AttrField> attributes = {{"reduction", AttrType::kInt}};
  if (spec.parameter_name) attributes.push_back({spec.parameter_name, AttrType::kDouble});
  return define({
      .name = spec.name,
      .kind = OpKind::kComposite,
      .inputs = 2,
      .attributes = attributes,
      .type = loss_type,
      .lowering = kernels::lower(
          kernels::CompositeLowering{[spec](const Signature& s, ArrayRef<Tensor> inputs) {
            const double parameter = parameter_of(s.attr(), spec.parameter_name != nullptr);
            return Tensors{reduce_loss(spec.loss(inputs[0], inputs[1], parameter),
                                       s.attr().integer(kReduction))};
          }}),
      .gradient = [spec](const Grad& g) { return loss_gradient(g, spec); },
      .saves_inputs = 3,
      .autocast = Precision::kFloat,
      .check = spec.check,
      .check_reads = spec.check_reads,
      .allowed = spec.allowed,
      .has_inplace = false,
      .reference =
          [spec](const Signature& s, const std::vector<Reference>& inputs) {
            return loss_reference(s, inputs, spec);
          },
      .domain = spec.domain,
      .dtypes = floating_dtypes(),
      .samples =
          [spec](ScalarType dtype) {
            std::vector<Sample> samples;
            for (const double parameter : spec.parameters) {
              for (std::int64_t reduction : {Reduction::None, Reduction::Mean, Reduction::Sum}) {
                for (Sample& sample : binary_samples(dtype)) {
                  sample.attrs = spec.parameter_name ? loss_attrs(reduction, parameter)
                                                     : loss_attrs(reduction);
                  samples.push_back(std::move(sample));
                }
              }
            }
            return samples;
          },
      .tolerance_ulp = spec.tolerance_ulp,
  });
}

}  // namespace groove
