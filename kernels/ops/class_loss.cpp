// Picking classes out of rows and reducing over the rows that count.
#include "kernels/ops/class_loss.h"

#include <cmath>

#include "kernels/ops/indices.h"

namespace groove {
namespace {

enum { kReduction, kIgnoreIndex };

Tensor is_counted(const Tensor& target, const AttrReader& attr) {
  return ne(target, attr.integer(kIgnoreIndex));
}

}  // namespace

std::vector<AttrField> class_loss_attributes() {
  return {{"reduction", AttrType::kInt}, {"ignore_index", AttrType::kInt}};
}

TypeResult class_loss_type(const Signature& s) {
  const Type &input = s.inputs[0], &target = s.inputs[1];
  const std::string& op = s.op.name;
  GROOVE_CHECK(is_floating(input.dtype), "{}: input is {}; it must be floating", op,
               name(input.dtype));
  check_index_dtype(op.c_str(), target);
  GROOVE_CHECK(
      input.sizes.size() == 2 && target.sizes.size() == 1 && input.sizes[0] == target.sizes[0],
      "{}: input {} and target {} do not fit; they must be [N, C] and [N]", op,
      to_string(input.sizes), to_string(target.sizes));
  const std::int64_t reduction = s.attr().integer(kReduction);
  GROOVE_CHECK(reduction >= Reduction::None && reduction <= Reduction::Sum,
               "{}: reduction {} is none of None, Mean, Sum", op, reduction);
  return {{{input.dtype, reduction == Reduction::None ? target.sizes : Shape{}}}, input.dtype};
}

void check_classes(const Signature& s, ArrayRef<Tensor> inputs) {
  s.op.type(s);  // shapes first: the range is read from them
  const std::int64_t ignored = s.attr().integer(kIgnoreIndex);
  check_index_range(s.op.name.c_str(), "target", inputs[1], s.inputs[0].sizes[1], &ignored);
}

std::vector<Sample> class_loss_samples(ScalarType dtype) {
  std::vector<Sample> samples;
  for (std::int64_t reduction : {Reduction::None, Reduction::Mean, Reduction::Sum}) {
    for (const Shape& sizes : {Shape{1, 3}, Shape{5, 10}, Shape{4, 3}, Shape{2, 40}}) {
      for (std::int64_t ignored : {-100, 1}) {
        samples.push_back(
            {{{dtype, sizes}, {kLong, {sizes[0]}}}, Attrs().add(reduction).add(ignored), {}});
      }
    }
  }
  return samples;
}

ReferenceRule class_loss_reference(double (*row_loss)(const double*, std::int64_t, std::int64_t)) {
  return [row_loss](const Signature& s, const std::vector<Reference>& inputs) {
    const std::int64_t classes = inputs[0].type.sizes[1];
    const std::int64_t reduction = s.attr().integer(kReduction);
    Reference result{s.op.type(s).outputs[0], {}};
    double total = 0, count = 0;
    for (std::size_t row = 0; row < inputs[1].values.size(); ++row) {
      const auto target = static_cast<std::int64_t>(inputs[1].values[row]);
      double loss = 0;
      if (target != s.attr().integer(kIgnoreIndex)) {
        loss = row_loss(inputs[0].values.data() + row * static_cast<std::size_t>(classes), classes,
                        target);
        count += 1;
      }
      total += loss;
      if (reduction == Reduction::None) result.values.push_back(loss);
    }
    if (reduction == Reduction::Mean) result.values = {total / count};
    if (reduction == Reduction::Sum) result.values = {total};
    return std::vector<Reference>{result};
  };
}

// The absent terms are -0.0, which no sum is changed by: the pick is the picked value itself.
Tensor picked_loss(const Tensor& log_probabilities, const Tensor& target, const AttrReader& attr) {
  const std::int64_t classes = type_of(log_probabilities).sizes[1];
  const Tensor mask = class_mask(target.unsqueeze(1), classes);
  const Tensor picked = sum(where(mask, log_probabilities, -0.0), 1);
  const Tensor counted = is_counted(target, attr);
  const Tensor losses = where(counted, neg(picked), 0);
  switch (attr.integer(kReduction)) {
    case Reduction::None:
      return losses;
    case Reduction::Sum:
      return sum(losses);
    default:
      return sum(losses) / sum(counted.to(type_of(losses).dtype));
  }
}

Tensor row_weights(const Grad& g, const Tensor& target) {
  const AttrReader attr = g.attr();
  const Tensor counted = is_counted(target, attr);
  Tensor share = g.cotangent();
  if (attr.integer(kReduction) == Reduction::Mean)
    share = share / sum(counted.to(g.input_types[0].dtype));
  return where(counted, share, 0).unsqueeze(1);
}

Tensor class_loss(const Op& op, Arg input, const Tensor& target, std::int64_t reduction,
                  std::int64_t ignore_index) {
  const Attrs attrs = Attrs().add(reduction).add(ignore_index);
  const char* name = op.name.c_str();
  if (checked(name, *input.tensor).geometry.sizes.size() == 1 &&
      checked(name, target).geometry.sizes.empty()) {
    const Tensor loss =
        call(op, {input.tensor->unsqueeze(0, input.site), target.unsqueeze(0, input.site)},
             input.site, attrs);
    return reduction == Reduction::None ? squeeze({loss, input.site}, 0) : loss;
  }
  return call(op, {*input.tensor, target}, input.site, attrs);
}

}  // namespace groove
