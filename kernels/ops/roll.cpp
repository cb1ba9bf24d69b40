// roll: elements moved along axes, those that leave coming back at the other end.
#include "groove/ops/views.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/slice.h"

namespace groove {
namespace {

enum { kShifts, kDims };  // shifts lie in [0, size)

const Op& op = define({
    .name = "roll",
    .kind = OpKind::kComposite,
    .attributes = {{"shifts", AttrType::kInts}, {"dims", AttrType::kInts}},
    .type = [](const Signature& s) -> TypeResult {
      const IntArrayRef shifts = s.attr().integers(kShifts), dims = s.attr().integers(kDims);
      GROOVE_CHECK(shifts.size() == dims.size(), "roll: {} shifts along {} axes", shifts.size(),
                   dims.size());
      for (std::size_t i = 0; i < dims.size(); ++i) {
        const std::int64_t size =
            s.inputs[0].sizes[axis_below(s, dims[i], s.inputs[0].sizes.size())];
        GROOVE_CHECK(shifts[i] >= 0 && shifts[i] <= size, "roll: a shift of {} in {}", shifts[i],
                     size);
      }
      return same_as_input(s);
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const IntArrayRef shifts = s.attr().integers(kShifts), dims = s.attr().integers(kDims);
          Tensor result = inputs[0];
          for (std::size_t i = 0; i < dims.size(); ++i) {
            if (shifts[i] == 0) continue;
            const std::int64_t size = s.inputs[0].sizes[static_cast<std::size_t>(dims[i])];
            const std::int64_t kept = size - shifts[i];
            result = cat({slice_exact(result, dims[i], kept, shifts[i], 1),
                          slice_exact(result, dims[i], 0, kept, 1)},
                         dims[i]);
          }
          return Tensors{result.is_same(inputs[0]) ? clone(result) : result};
        }}),
    .gradient =
        [](const Grad& g) {
          const IntArrayRef shifts = g.attr().integers(kShifts), dims = g.attr().integers(kDims);
          Shape back;
          for (std::size_t i = 0; i < dims.size(); ++i) {
            const std::int64_t size = g.input_types[0].sizes[static_cast<std::size_t>(dims[i])];
            back.push_back(shifts[i] == 0 ? 0 : size - shifts[i]);
          }
          return Tensors{call(g.op, {g.cotangent()}, Site::current(),
                              Attrs().add(IntArrayRef(back)).add(dims))};
        },
    .complex = complex_rules::on_pairs,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const IntArrayRef shifts = s.attr().integers(kShifts), dims = s.attr().integers(kDims);
          const Type& type = inputs[0].type;
          return std::vector<Reference>{make_reference(type, [&](Shape index) {
            for (std::size_t i = 0; i < dims.size(); ++i) {
              const auto axis = static_cast<std::size_t>(dims[i]);
              index[axis] = (index[axis] + type.sizes[axis] - shifts[i]) % type.sizes[axis];
            }
            return inputs[0].values[static_cast<std::size_t>(flat_position(type.sizes, index))];
          })};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const auto attrs = [](const Shape& shifts, const Shape& dims) {
            return Attrs().add(IntArrayRef(shifts)).add(IntArrayRef(dims));
          };
          return std::vector<Sample>{{{{dtype, {5}}}, attrs({2}, {0}), {}},
                                     {{{dtype, {3, 4}}}, attrs({1, 3}, {0, 1}), {}},
                                     {{{dtype, {2, 3, 4}}}, attrs({2}, {1}), {}},
                                     {{{dtype, {3, 4}}}, attrs({0}, {1}), {}},
                                     {{{dtype, {}}}, attrs({}, {}), {}},
                                     {{{dtype, {0, 3}}}, attrs({1}, {1}), {}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor roll(Arg self, IntArrayRef shifts, IntArrayRef dims) {
  const CallFrame frame(self.site);
  const Shape sizes = checked("roll", *self.tensor).geometry.sizes;
  const SiteScope scope(self.site);
  if (dims.empty()) {
    GROOVE_CHECK(shifts.size() == 1, "roll: {} shifts without dims; there must be one",
                 shifts.size());
    const Tensor flat = flatten(self);
    return roll({flat, self.site}, shifts, {0}).view(sizes, self.site);
  }
  GROOVE_CHECK(shifts.size() == dims.size(), "roll: {} shifts for {} dims", shifts.size(),
               dims.size());
  Shape by, axes;
  for (std::size_t i = 0; i < dims.size() && !sizes.empty(); ++i) {
    const std::int64_t axis = normal_dim("roll", dims[i], sizes.size());
    const std::int64_t size = sizes[static_cast<std::size_t>(axis)];
    by.push_back(size == 0 ? 0 : (shifts[i] % size + size) % size);
    axes.push_back(axis);
  }
  return call(op, {*self.tensor}, self.site, Attrs().add(IntArrayRef(by)).add(IntArrayRef(axes)));
}
Tensor ViewMethods::roll(IntArrayRef shifts, IntArrayRef dims, Site site) const {
  return groove::roll({self(), site}, shifts, dims);
}

}  // namespace groove
