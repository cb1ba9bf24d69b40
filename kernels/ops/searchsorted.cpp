// searchsorted: where elements would be put into ascending lines, by halving; bucketize is the same
// with one line for all.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/ranking.h"
#include "kernels/ops/reference.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

enum { kRight };

// NaN comes after everything, so !(x >= value) rather than x < value.
template <typename T>
void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  const Shape &sequence = s.inputs[0].sizes, &values = s.inputs[1].sizes;
  const std::int64_t length = sequence.back();
  const std::int64_t count = element_count(values);
  const std::int64_t each = sequence.size() == 1 ? count : values.back();
  const bool is_right = s.attr().boolean(kRight);
  const T* lines = static_cast<const T*>(inputs[0].impl()->data());
  const T* value = static_cast<const T*>(inputs[1].impl()->data());
  auto* to = static_cast<std::int64_t*>(outputs[0].impl()->data());
  const auto [begin, end] = line_share(count, part, parts);
  for (std::int64_t i = begin; i < end; ++i) {
    const T* line = sequence.size() == 1 ? lines : lines + i / each * length;
    std::int64_t low = 0, high = length;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      const bool is_there = is_right ? line[middle] > value[i] : line[middle] >= value[i];
      if (is_there)
        high = middle;
      else
        low = middle + 1;
    }
    to[i] = low;
  }
}

void run_any(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
             int parts) {
  switch (s.inputs[0].dtype) {
    case kFloat:
      return run<float>(s, inputs, outputs, part, parts);
    case kDouble:
      return run<double>(s, inputs, outputs, part, parts);
    case kLong:
      return run<std::int64_t>(s, inputs, outputs, part, parts);
    case kInt:
      return run<std::int32_t>(s, inputs, outputs, part, parts);
    case kShort:
      return run<std::int16_t>(s, inputs, outputs, part, parts);
    case kChar:
      return run<std::int8_t>(s, inputs, outputs, part, parts);
    default:
      return run<std::uint8_t>(s, inputs, outputs, part, parts);
  }
}

// Inputs: lines [.., n] and values [.., m], or one line [n] and values of any shape.
const Op& op = define({
    .name = "searchsorted",
    .kind = OpKind::kOpaque,
    .inputs = 2,
    .attributes = {{"right", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      const Type &lines = s.inputs[0], &values = s.inputs[1];
      GROOVE_CHECK(lines.dtype == values.dtype && lines.dtype != kBool,
                   "searchsorted: the sequence is {} and the values are {}; both must be one "
                   "numeric dtype",
                   name(lines.dtype), name(values.dtype));
      const std::size_t rank = lines.sizes.size();
      bool fits = rank == 1 || (rank > 1 && rank == values.sizes.size());
      for (std::size_t i = 0; fits && rank > 1 && i + 1 < rank; ++i)
        fits = lines.sizes[i] == values.sizes[i];
      GROOVE_CHECK(fits, "searchsorted: the sequence {} and the values {} do not fit",
                   to_string(lines.sizes), to_string(values.sizes));
      return {{{kLong, values.sizes}}, lines.dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{
        .run_part = run_any,
        .nanoseconds =
            [](const Signature& s) {
              return 200 + 20.0 * static_cast<double>(element_count(s.inputs[1].sizes));
            }}),
    .range = [](const Signature& s, ArrayRef<ValueRange>,
                int) { return positions_below(s.inputs[0].sizes.back() + 1); },
    .has_inplace = false,
    // The references' inputs are in no order, and then any order of looking may tell otherwise: so
    // lines of one element, which always are in order.
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const bool is_right = s.attr().boolean(kRight);
          const Reference& lines = inputs[0];
          std::size_t place = 0;
          return std::vector<Reference>{
              make_reference({kLong, inputs[1].type.sizes}, [&](const Shape& index) {
                const double value = inputs[1].values[place++];
                Shape line = index;
                if (lines.type.sizes.size() == 1) line = {0};
                line.back() = 0;
                const double x =
                    lines.values[static_cast<std::size_t>(flat_position(lines.type.sizes, line))];
                return (is_right ? x > value : x >= value) ? 0.0 : 1.0;
              })};
        },
    .dtypes = numeric_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const bool is_right : {false, true}) {
            const Attrs attrs = Attrs().add(is_right);
            samples.push_back({{{dtype, {1}}, {dtype, {4, 3}}}, attrs, {}});
            samples.push_back({{{dtype, {3, 1}}, {dtype, {3, 5}}}, attrs, {}});
            samples.push_back({{{dtype, {1}}, {dtype, {0}}}, attrs, {}});
          }
          return samples;
        },
    .tolerance_ulp = 0,
});

Tensor found(const char* name, const Tensor& sequence, const Tensor& values, bool out_int32,
             bool right, Site site) {
  const Type lines{checked(name, sequence).dtype, type_of(sequence).sizes};
  const Shape& sizes = checked(name, values).geometry.sizes;
  GROOVE_CHECK(!lines.sizes.empty(), "{}: the sequence has no axis", name);
  GROOVE_CHECK(!sizes.empty() || lines.sizes.size() == 1, "{}: one value for the lines of {}", name,
               to_string(lines.sizes));
  const ScalarType both = result_type(std::vector<Type>{lines, type_of(values)}, {});
  const Tensor result =
      call(op, {sequence.to(both), values.to(both)}, site, Attrs().add(right), {}, name);
  return out_int32 ? result.to(kInt) : result;
}

Tensor number_as(const Scalar& number, const Tensor& like) {
  return full({}, number, TensorOptions(type_of(like).dtype));
}

}  // namespace

Tensor searchsorted(Arg sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  const SiteScope scope(sorted_sequence.site);
  const char* name = "searchsorted";
  checked(name, *sorted_sequence.tensor);
  GROOVE_CHECK(!side || *side == "left" || *side == "right",
               "{}: side \"{}\"; it must be \"left\" or \"right\"", name, *side);
  GROOVE_CHECK(!side || *side == "right" || !right, "{}: right is set and side is \"left\"", name);
  Tensor sequence = *sorted_sequence.tensor;
  if (sorter && sorter->defined()) {
    GROOVE_CHECK(
        type_of(*sorter).sizes == type_of(sequence).sizes && type_of(*sorter).dtype == kLong,
        "{}: the sorter must be Long and of the sequence's shape {}", name,
        to_string(type_of(sequence).sizes));
    sequence = gather(sequence, -1, *sorter);
  }
  return found(name, sequence.detach(), self.defined() ? self.detach() : self, out_int32,
               side ? *side == "right" : right, sorted_sequence.site);
}
Tensor searchsorted(Arg sorted_sequence, Scalar self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  const SiteScope scope(sorted_sequence.site);
  checked("searchsorted", *sorted_sequence.tensor);
  return searchsorted(*sorted_sequence.tensor, number_as(self, *sorted_sequence.tensor), out_int32,
                      right, side, sorter);
}

Tensor bucketize(Arg self, const Tensor& boundaries, bool out_int32, bool right) {
  const SiteScope scope(self.site);
  checked("bucketize", *self.tensor);
  GROOVE_CHECK(checked("bucketize", boundaries).geometry.sizes.size() == 1,
               "bucketize: boundaries of shape {} must have one axis",
               to_string(type_of(boundaries).sizes));
  return found("bucketize", boundaries.detach(), self.tensor->detach(), out_int32, right,
               self.site);
}
Tensor bucketize(Scalar self, Arg boundaries, bool out_int32, bool right) {
  const SiteScope scope(boundaries.site);
  checked("bucketize", *boundaries.tensor);
  return bucketize(number_as(self, *boundaries.tensor), *boundaries.tensor, out_int32, right);
}

}  // namespace groove
