#include "autodiff/part_sums.h"

#include <algorithm>

#include "groove/ops/views.h"
#include "src/core/tensor_impl.h"
#include "tracer/tell/coverage.h"

namespace groove::autodiff {
namespace {

// Nothing else can see its memory.
bool is_own(const Tensor& sum, const Type& type) {
  const TensorImpl& impl = *sum.impl();
  return sum.use_count() == 1 && impl.storage && impl.storage->use_count() == 1 &&
         impl.is_contiguous && impl.geometry.offset == 0 && impl.dtype == type.dtype &&
         impl.geometry.sizes == type.sizes && impl.complex == nullptr;
}

Tensor narrowed(const Tensor& sum, std::size_t axis, std::int64_t start, std::int64_t end) {
  return narrow(sum, static_cast<std::int64_t>(axis), start, end - start);
}

}  // namespace

std::optional<AxisPart> part_of(const Op& view, const Attrs& attrs, ArrayRef<Scalar> numbers,
                                const Type& input, const Type& output) {
  if (view.kind != OpKind::kView || element_count(output.sizes) >= element_count(input.sizes))
    return std::nullopt;
  // As it may lie somewhere: not contiguous, so that a rule that goes by memory shows itself.
  Shape room = input.sizes;
  for (std::int64_t& size : room) ++size;
  const Geometry whole{input.sizes, contiguous_strides(room), 0};
  const Geometry shown = view.view(whole, Signature{view, ArrayRef<Type>(input), attrs, numbers});
  const std::size_t axes = whole.sizes.size();
  const bool is_select = shown.sizes.size() + 1 == axes;
  if (!is_select && shown.sizes.size() != axes) return std::nullopt;
  // The first axis that differs; behind it all must be as before.
  std::size_t axis = 0;
  const auto is_same = [&](std::size_t i, std::size_t k) {
    return whole.sizes[i] == shown.sizes[k] && whole.strides[i] == shown.strides[k];
  };
  while (axis < shown.sizes.size() && is_same(axis, axis)) ++axis;
  if (axis == axes) return std::nullopt;
  for (std::size_t i = axis + 1; i < axes; ++i)
    if (!is_same(i, i - is_select)) return std::nullopt;
  if (!is_select && whole.strides[axis] != shown.strides[axis]) return std::nullopt;
  const std::int64_t stride = whole.strides[axis];
  const std::int64_t start = shown.offset / stride;
  const std::int64_t end = start + (is_select ? 1 : shown.sizes[axis]);
  if (shown.offset % stride != 0 || end <= start || end > whole.sizes[axis]) return std::nullopt;
  return AxisPart{axis, start, end, is_select};
}

bool PartSum::add(Tensor& sum, const Type& type, const AxisPart& part, const Tensor& cotangent) {
  const std::int64_t size = type.sizes[part.axis];
  const AxisPart last = last_.value_or(AxisPart{part.axis, 0, size, false});
  if (last.axis != part.axis || !is_own(sum, type)) return false;
  if (cotangent.impl()->dtype != type.dtype || cotangent.impl()->complex) return false;
  // Counted as what it is instead of: a tensor of zeros around the part, and a sum.
  tracer::Tally& tally = tracer::tally();
  if (tally.uncounted == 0) tracer::Tally::add(tally.eager, 2);
  const tracer::Uncounted uncounted;
  const auto add_zero = [&](std::int64_t start, std::int64_t end) {
    if (start < end) narrowed(sum, part.axis, start, end).add_(0.0);
  };
  add_zero(last.start, std::min(last.end, part.start));
  add_zero(std::max(last.start, part.end), last.end);
  const Tensor place = part.is_select
                           ? select(sum, static_cast<std::int64_t>(part.axis), part.start)
                           : narrowed(sum, part.axis, part.start, part.end);
  place.add_(cotangent);
  sum.impl()->storage->version = 0;  // nobody has seen it yet
  last_ = part;
  return true;
}

}  // namespace groove::autodiff
