// Picking classes out of rows and reducing over the rows that count.
#include "kernels/ops/class_loss.h"

#include <cmath>

#include "groove/ops/index.h"
#include "kernels/ops/indices.h"

namespace groove {
namespace {

enum { kReduction, kIgnoreIndex };

// Fewer are walked in less time than it takes to go to one.
constexpr std::int64_t kClassesToWalk = 64;
// So many places are a vector of floats.
constexpr std::int64_t kPlacesOfVector = 8;

Tensor is_counted(const Tensor& target, const AttrReader& attr) {
  return ne(target, attr.integer(kIgnoreIndex));
}

}  // namespace

std::vector<AttrField> class_loss_attributes() {
  return {{"reduction", AttrType::kInt}, {"ignore_index", AttrType::kInt}};
}

static void check_operands(const Signature& s) {
  const Type &input = s.inputs[0], &target = s.inputs[1];
  const std::string& op = s.op.name;
  GROOVE_CHECK(is_floating(input.dtype), "{}: input is {}; it must be floating", op,
               name(input.dtype));
  check_index_dtype(op.c_str(), target);
  Shape places = input.sizes;
  if (places.size() > 1) places.erase(1);
  GROOVE_CHECK(
      (input.sizes.size() == 2 || input.sizes.size() == 3) && target.sizes == places,
      "{}: input {} and target {} do not fit; they must be [N, C] and [N] or [N, C, P] and [N, P]",
      op, to_string(input.sizes), to_string(target.sizes));
  const std::int64_t reduction = s.attr().integer(kReduction);
  GROOVE_CHECK(reduction >= Reduction::None && reduction <= Reduction::Sum,
               "{}: reduction {} is none of None, Mean, Sum", op, reduction);
}

TypeResult class_loss_type(const Signature& s) {
  check_operands(s);
  const bool is_whole = s.attr().integer(kReduction) == Reduction::None;
  return {{{s.inputs[0].dtype, is_whole ? s.inputs[1].sizes : Shape{}}}, s.inputs[0].dtype};
}

void check_classes(const Signature& s, ArrayRef<Tensor> inputs) {
  check_operands(s);  // shapes first: the range is read from them
  const std::int64_t ignored = s.attr().integer(kIgnoreIndex);
  check_index_range(s.op.name.c_str(), "target", inputs[1], s.inputs[0].sizes[1], &ignored);
}

std::vector<Sample> class_loss_samples(ScalarType dtype) {
  std::vector<Sample> samples;
  for (std::int64_t reduction : {Reduction::None, Reduction::Mean, Reduction::Sum}) {
    for (const Shape& sizes : {Shape{1, 3}, Shape{5, 10}, Shape{4, 3}, Shape{2, 40}, Shape{3, 70},
                               Shape{2, 3, 4}, Shape{1, 5, 9}, Shape{2, 70, 3}}) {
      Shape places = sizes;
      places.erase(1);
      for (std::int64_t ignored : {-100, 1}) {
        samples.push_back(
            {{{dtype, sizes}, {kLong, places}}, Attrs().add(reduction).add(ignored), {}});
      }
    }
  }
  return samples;
}

ReferenceRule class_loss_reference(double (*row_loss)(const double*, std::int64_t, std::int64_t)) {
  return [row_loss](const Signature& s, const std::vector<Reference>& inputs) {
    const Shape& sizes = inputs[0].type.sizes;
    const auto classes = static_cast<std::size_t>(sizes[1]);
    const auto places = static_cast<std::size_t>(sizes.size() > 2 ? sizes[2] : 1);
    const std::int64_t reduction = s.attr().integer(kReduction);
    Reference result{s.op.type(s).outputs[0], {}};
    double total = 0, count = 0;
    std::vector<double> scores(classes);
    for (std::size_t row = 0; row < inputs[1].values.size(); ++row) {
      const auto target = static_cast<std::int64_t>(inputs[1].values[row]);
      double loss = 0;
      if (target != s.attr().integer(kIgnoreIndex)) {
        const std::size_t first = row / places * classes * places + row % places;
        for (std::size_t c = 0; c < classes; ++c) scores[c] = inputs[0].values[first + c * places];
        loss = row_loss(scores.data(), sizes[1], target);
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

Tensor by_class(const Tensor& weight, const Tensor& scores) {
  return type_of(scores).sizes.size() > 2 ? weight.unsqueeze(1) : weight;
}

Tensor target_mask(const Tensor& target, const Type& scores) {
  const std::int64_t classes = scores.sizes[1];
  if (scores.sizes.size() == 2) return class_mask(target.unsqueeze(1), classes);
  return eq(target.unsqueeze(1), arange(classes, kLong).unsqueeze(1));
}

static Tensor pick(const Tensor& scores, const Tensor& places) {
  return squeeze(gather(scores, 1, places.unsqueeze(1)), 1);
}

// The absent terms are -0.0, which no sum is changed by: the pick is the picked value itself.
static Tensor pick_walking(const Tensor& scores, const Tensor& target) {
  return sum(where(target_mask(target, type_of(scores)), scores, -0.0), 1);
}

Tensor picked_loss(const Tensor& log_probabilities, const Tensor& target, const AttrReader& attr,
                   Scores scores) {
  const bool are_many = type_of(log_probabilities).sizes[1] > kClassesToWalk;
  const bool is_walked = !are_many || scores == Scores::kComputed;
  Tensor picked = is_walked ? pick_walking(log_probabilities, target) : Tensor();
  const Tensor counted = is_counted(target, attr);
  if (!is_walked) picked = pick(log_probabilities, where(counted, target, 0));
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

ClassRows class_rows(const char* op, Arg input, const Tensor& target, bool are_probabilities) {
  const Shape sizes = checked(op, *input.tensor).geometry.sizes;
  const Shape target_sizes = checked(op, target).geometry.sizes;
  const ScalarType target_dtype = type_of(target).dtype;
  GROOVE_CHECK(are_probabilities || target_dtype == kLong || target_dtype == kByte,
               "{}: the target is {}; classes must be Long (or Byte): convert it with to(kLong)",
               op, name(target_dtype));
  const std::size_t rank = sizes.size();
  GROOVE_CHECK(rank > 0, "{}: a 0-d input; it must be [C] or [N, C, ..]", op);
  const Site site = input.site;
  ClassRows rows;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (axis != (rank == 1 ? 0 : 1)) rows.sizes.push_back(sizes[axis]);
  }
  GROOVE_CHECK(!are_probabilities || target_sizes != rows.sizes || target_sizes == sizes,
               "{}: the target is {} in the shape of classes, {}; classes must be Long: convert it "
               "with to(kLong) (probabilities would have the input's shape, {})",
               op, name(target_dtype), to_string(target_sizes), to_string(sizes));
  GROOVE_CHECK_AS(ValueError, target_sizes == (are_probabilities ? sizes : rows.sizes),
                  "{}: input {} and target {} do not fit; they must be [N, C] and [N]", op,
                  to_string(sizes), to_string(target_sizes));
  std::int64_t places = 1;  // of one of the batch, which may be empty
  for (std::size_t axis = 2; axis < rank; ++axis) places *= sizes[axis];
  const Geometry& geometry = input.tensor->impl()->geometry;
  // Classes stay the second axis where vectors of places lie side by side in memory.
  const bool are_apart = rank > 2 && places >= kPlacesOfVector && geometry.strides[1] != 1;
  const auto flat = [&](const Tensor& x) {
    if (rank == 1) return x.unsqueeze(0, site);
    if (rank == 2) return x;
    if (are_apart) return x.reshape({sizes[0], sizes[1], places}, site);
    Shape order{0};
    for (std::size_t axis = 2; axis < rank; ++axis)
      order.push_back(static_cast<std::int64_t>(axis));
    order.push_back(1);
    return x.permute(order, site).reshape({element_count(rows.sizes), sizes[1]}, site);
  };
  rows.input = flat(*input.tensor);
  if (are_probabilities) {
    rows.target = flat(target);
    return rows;
  }
  rows.target = rank == 2   ? target
                : are_apart ? target.reshape({sizes[0], places}, site)
                            : target.reshape(-1, site);
  rows.target = rows.target.to(kLong, false, false, site);
  return rows;
}

Tensor target_weights(const ClassRows& rows, const Tensor& weight, std::int64_t ignore_index) {
  const std::int64_t classes = type_of(rows.input).sizes[1];
  GROOVE_CHECK(checked("nll_loss", weight).geometry.sizes == Shape{classes},
               "nll_loss: weight {} does not fit {} classes", to_string(type_of(weight).sizes),
               classes);
  const Tensor counted = ne(rows.target, ignore_index);
  const Tensor picked = index_select(weight, 0, flatten(where(counted, rows.target, 0)));
  return where(counted, picked.reshape(type_of(rows.target).sizes), 0);
}

Tensor weighted_loss(const Tensor& losses, const Tensor& weights, const ClassRows& rows,
                     std::int64_t reduction) {
  const Tensor weighted = losses.reshape(type_of(weights).sizes) * weights;
  switch (reduction) {
    case Reduction::None:
      return weighted.reshape(rows.sizes);
    case Reduction::Sum:
      return sum(weighted);
    default:
      return sum(weighted) / sum(weights);
  }
}

}  // namespace groove
