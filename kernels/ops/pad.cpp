// constant_pad_nd: a number around a tensor, or parts of it cut off; pad adds the modes that repeat
// the tensor's own elements.
#include <algorithm>
#include <string>

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/border_pad.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/slice.h"

namespace groove {
namespace {

// The attribute holds (before, after) of each axis, the first axis first.
Shape padded_sizes(const Signature& s) {
  const IntArrayRef around = s.attr().integers(0);
  Shape sizes = s.inputs[0].sizes;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    sizes[axis] += around[2 * axis] + around[2 * axis + 1];
  return sizes;
}

Tensor filling(const Tensor& like, std::size_t axis, std::int64_t length, Scalar value) {
  Type type = type_of(like);
  type.sizes[axis] = length;
  return full(type.sizes, value, type.dtype);
}

const Op& op = define({
    .name = "constant_pad",
    .kind = OpKind::kComposite,
    .attributes = {{"pad", AttrType::kInts}},
    .number_names = {"value"},
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      return {{{s.inputs[0].dtype, padded_sizes(s)}}, s.inputs[0].dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const IntArrayRef around = s.attr().integers(0);
          Tensor result = inputs[0];
          const std::size_t rank = s.inputs[0].sizes.size();
          for (std::size_t axis = 0; axis < rank; ++axis) {  // cuts first: less to move
            const std::int64_t before = std::min<std::int64_t>(around[2 * axis], 0);
            const std::int64_t after = std::min<std::int64_t>(around[2 * axis + 1], 0);
            if (before == 0 && after == 0) continue;
            const std::int64_t length = type_of(result).sizes[axis] + before + after;
            result = slice_exact(result, static_cast<std::int64_t>(axis), -before, length, 1);
          }
          for (std::size_t axis = rank; axis-- > 0;) {
            const std::int64_t before = around[2 * axis], after = around[2 * axis + 1];
            Tensors parts;
            if (before > 0) parts.push_back(filling(result, axis, before, s.numbers[0]));
            parts.push_back(result);
            if (after > 0) parts.push_back(filling(result, axis, after, s.numbers[0]));
            if (parts.size() > 1) result = cat(parts, static_cast<std::int64_t>(axis));
          }
          const bool is_made = std::any_of(around.begin(), around.end(),
                                           [](std::int64_t length) { return length > 0; });
          return Tensors{is_made ? result : clone(result)};
        }}),
    .gradient =
        [](const Grad& g) {
          Shape back;
          for (const std::int64_t length : g.attr().integers(0)) back.push_back(-length);
          return Tensors{call(g.op, {g.cotangent()}, Site::current(),
                              Attrs().add(IntArrayRef(back)), Scalar(0))};
        },
    .complex = complex_rules::on_parts,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const IntArrayRef around = s.attr().integers(0);
          const Shape& sizes = inputs[0].type.sizes;
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](Shape index) {
            for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
              index[axis] -= around[2 * axis];
              if (index[axis] < 0 || index[axis] >= sizes[axis]) return s.numbers[0].to_double();
            }
            return inputs[0].values[static_cast<std::size_t>(flat_position(sizes, index))];
          })};
        },
    .dtypes = numeric_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const Shape pairs[][2] = {{{5}, {1, 2}},
                                    {{3, 4}, {0, 0, 2, 1}},
                                    {{3, 4}, {-1, 2, 1, -2}},
                                    {{2, 3, 4}, {0, 0, 1, 0, 1, 1}},
                                    {{0, 3}, {1, 0, 0, 0}},
                                    {{3, 4}, {-3, 0, 0, 0}},
                                    {{}, {}},
                                    {{4}, {0, 0}}};
          std::vector<Sample> samples;
          for (const auto& pair : pairs)
            samples.push_back({{{dtype, pair[0]}}, Attrs().add(IntArrayRef(pair[1])), {Scalar(3)}});
          return samples;
        },
    .tolerance_ulp = 0,
});

// Pairs from the last axis on, as users write them, for all axes in order.
Shape around_axes(const char* name, const Shape& sizes, IntArrayRef pad) {
  GROOVE_CHECK(pad.size() % 2 == 0 && pad.size() <= 2 * sizes.size(),
               "{}: pad {} is no list of pairs for the last axes of {}", name, to_string(pad),
               to_string(sizes));
  Shape around(2 * sizes.size(), 0);
  for (std::size_t i = 0; i < pad.size(); ++i)
    around[2 * (sizes.size() - 1 - i / 2) + i % 2] = pad[i];
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    // Each side can cut only what is there.
    const std::int64_t cut = -std::min<std::int64_t>(around[2 * axis], 0) -
                             std::min<std::int64_t>(around[2 * axis + 1], 0);
    GROOVE_CHECK(cut <= sizes[axis], "{}: pad {} cuts {} elements from dim {} of {}", name,
                 to_string(pad), cut, axis, to_string(sizes));
  }
  return around;
}

// What negative numbers cut off an axis; sides that grow stay as they are.
Tensor cut(const Tensor& x, const Shape& around, Site site) {
  Tensor result = x;
  for (std::size_t axis = 0; 2 * axis < around.size(); ++axis) {
    const std::int64_t before = std::min<std::int64_t>(around[2 * axis], 0),
                       after = std::min<std::int64_t>(around[2 * axis + 1], 0);
    if (before == 0 && after == 0) continue;
    const std::int64_t length = type_of(result).sizes[axis] + before + after;
    result = slice_exact(result, static_cast<std::int64_t>(axis), -before, length, 1, site);
  }
  return result;
}

// A ring is closed around what a cut leaves; reflections and repetitions are of the whole tensor.
Tensor pad_by_own(Arg self, const Shape& around, Border kind, const std::string& mode) {
  Tensor result = kind == Border::kCircular ? cut(*self.tensor, around, self.site) : *self.tensor;
  const Shape sizes = type_of(result).sizes;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const std::int64_t most = kind == Border::kReflect    ? sizes[axis] - 1
                              : kind == Border::kCircular ? sizes[axis]
                              : sizes[axis] > 0           ? INT64_MAX
                                                          : 0;
    for (const std::int64_t length : {around[2 * axis], around[2 * axis + 1]})
      GROOVE_CHECK(length <= std::max<std::int64_t>(most, 0),
                   "pad: {} elements of {} padding do not fit dim {} of {}; there may be 0 to {}",
                   length, mode, axis, to_string(sizes), most);
  }
  Shape grown = around;
  for (std::int64_t& length : grown) length = std::max<std::int64_t>(length, 0);
  if (grown != Shape(grown.size(), 0)) result = border_pad(result, grown, kind, self.site);
  if (kind != Border::kCircular) {
    const Tensor whole = result;
    result = cut(whole, around, self.site);
    if (!result.is_same(whole)) return clone({result, self.site});
  }
  return result.is_same(*self.tensor) ? clone(self) : result;
}

Tensor padded(const char* name, Arg self, IntArrayRef pad, Scalar value) {
  const Shape around = around_axes(name, checked(name, *self.tensor).geometry.sizes, pad);
  return call(op, {*self.tensor}, self.site, Attrs().add(IntArrayRef(around)), value);
}

}  // namespace

Tensor constant_pad_nd(Arg self, IntArrayRef pad, Scalar value) {
  const CallFrame frame(self.site);
  return padded("constant_pad_nd", self, pad, value);
}

Tensor pad(Arg self, IntArrayRef pad, std::string_view mode, std::optional<Scalar> value) {
  const CallFrame frame(self.site);
  const std::string name(mode);
  if (name == "constant") return padded("pad", self, pad, value.value_or(Scalar(0)));
  GROOVE_CHECK(name == "reflect" || name == "replicate" || name == "circular",
               "pad: mode \"{}\" is none of constant, reflect, replicate, circular", name);
  GROOVE_CHECK(!value, "pad: mode \"{}\" takes no value", name);
  const Shape around = around_axes("pad", checked("pad", *self.tensor).geometry.sizes, pad);
  const SiteScope scope(self.site);
  const Border kind = name == "reflect"    ? Border::kReflect
                      : name == "circular" ? Border::kCircular
                                           : Border::kReplicate;
  return pad_by_own(self, around, kind, name);
}

}  // namespace groove
