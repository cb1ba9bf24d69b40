// multi_margin_loss and multilabel_margin_loss: margins between the scores of classes, spelled
// with others. A margin that is kept gives no gradient, also where it is met exactly.
#include "groove/ops/creation.h"
#include "groove/ops/distance_losses.h"
#include "groove/ops/index.h"
#include "kernels/ops/class_mask.h"
#include "kernels/ops/elementwise_loss.h"

namespace groove {
namespace {

// Scores as [N, C]; a single row [C] is one of them.
Tensor as_rows(const char* name, const Tensor& x) {
  const Shape& sizes = checked(name, x).geometry.sizes;
  GROOVE_CHECK(sizes.size() <= 2 && element_count(sizes) > 0,
               "{}: input {} must be [N, C] or [C], and not empty", name, to_string(sizes));
  return sizes.size() == 2 ? x : reshape(x, {1, -1});
}

void check_classes(const char* name, const Tensor& target) {
  const ScalarType dtype = checked(name, target).dtype;
  GROOVE_CHECK(dtype == kLong, "{}: target is {}; classes must be {}", name, groove::name(dtype),
               groove::name(kLong));
}

}  // namespace

Tensor multi_margin_loss(Arg self, const Tensor& target, Scalar p, Scalar margin,
                         const Tensor& weight, std::int64_t reduction) {
  const SiteScope scope(self.site);
  const char* name = "multi_margin_loss";
  check_reduction(name, reduction);
  const double order = p.to_double();
  GROOVE_CHECK(order == 1 || order == 2, "{}: p is {}; it must be 1 or 2", name, order);
  const Tensor rows = as_rows(name, *self.tensor);
  check_classes(name, target);
  const std::int64_t count = rows.size(0), classes = rows.size(1);
  const Shape own = target.sizes();
  GROOVE_CHECK(own.size() <= 1 && element_count(own) == count,
               "{}: target {} does not fit {} rows of scores", name, to_string(own), count);
  GROOVE_CHECK(!weight.defined() || weight.sizes() == IntArrayRef({classes}),
               "{}: weight {} does not fit {} classes", name, to_string(weight.sizes()), classes);
  const Tensor index = reshape(target, {count, 1});
  Tensor missing = relu(margin - gather(rows, 1, index) + rows);
  if (order == 2) missing = square(missing);
  if (weight.defined())
    missing = missing * reshape(index_select(weight, 0, reshape(target, {-1})), {count, 1});
  const Tensor others = masked_fill(missing, class_mask(index, classes), 0);
  const Tensor losses = sum(others, 1) / classes;
  return reduce_loss(own.empty() ? reshape(losses, IntArrayRef()) : losses, reduction);
}

Tensor multilabel_margin_loss(Arg self, const Tensor& target, std::int64_t reduction) {
  const SiteScope scope(self.site);
  const char* name = "multilabel_margin_loss";
  check_reduction(name, reduction);
  const Tensor rows = as_rows(name, *self.tensor);
  check_classes(name, target);
  GROOVE_CHECK(target.sizes() == self.tensor->sizes(),
               "{}: target {} and input {} must have one "
               "shape",
               name, to_string(target.sizes()), to_string(self.tensor->sizes()));
  const std::int64_t count = rows.size(0), classes = rows.size(1);
  const Tensor labels = reshape(target, {count, classes});
  const Tensor is_listed = eq(cumsum(lt(labels, 0).to(kLong), 1), 0);  // before the first -1
  const Tensor index = clamp_min(labels, 0);
  const Tensor is_target =
      gt(scatter_add(zeros({count, classes}, kLong), 1, index, is_listed.to(kLong)), 0);
  // [N, targets, classes]
  const Tensor missing = relu(1 - unsqueeze(gather(rows, 1, index), 2) + unsqueeze(rows, 1));
  const Tensor counts = logical_and(unsqueeze(is_listed, 2), unsqueeze(logical_not(is_target), 1));
  const Tensor losses = sum(where(counts, missing, 0), {1, 2}) / classes;
  return reduce_loss(self.tensor->dim() == 2 ? losses : reshape(losses, IntArrayRef()), reduction);
}

}  // namespace groove
