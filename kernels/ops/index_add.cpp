// index_add: a source's slices added at the positions of a 1-d index, in
// ascending source order (numerics.md §5).
#include "groove/ops/index.h"
#include "kernels/ops/indices.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
  const auto dim = static_cast<std::size_t>(s.attr().integer(0));
  const ScalarType dtype = s.inputs[0].dtype;
  const std::size_t size = element_size(dtype);
  const char* source = static_cast<const char*>(inputs[2].impl()->data());
  char* target = static_cast<char*>(outputs[0].impl()->data());
  const Shape& sizes = s.inputs[0].sizes;
  const std::size_t bytes = static_cast<std::size_t>(element_count(sizes)) * size;
  if (bytes > 0) std::memmove(target, inputs[0].impl()->data(), bytes);
  std::int64_t position = 0;
  for_each_index(s.inputs[2].sizes, [&](Shape at) {
    at[dim] = index_at(inputs[1], at[dim]);
    combine_element(dtype, target + static_cast<std::size_t>(flat_position(sizes, at)) * size,
                    source + static_cast<std::size_t>(position++) * size);
  });
}

const Op& op = define({
    .name = "index_add",
    .kind = OpKind::kOpaque,
    .inputs = 3,
    .attributes = {{"dim", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      check_index_dtype("index_add", s.inputs[1]);
      const auto dim = static_cast<std::size_t>(s.attr().integer(0));
      const Shape &own = s.inputs[0].sizes, &index = s.inputs[1].sizes, &source = s.inputs[2].sizes;
      bool fits = index.size() == 1 && source.size() == own.size();
      for (std::size_t axis = 0; fits && axis < own.size(); ++axis)
        fits = source[axis] == (axis == dim ? index[0] : own[axis]);
      GROOVE_CHECK(fits, "index_add: index {} and source {} do not fit {} along dim {}",
                   to_string(index), to_string(source), to_string(own), dim);
      GROOVE_CHECK(s.inputs[0].dtype == s.inputs[2].dtype && s.inputs[0].dtype != kBool,
                   "index_add: self is {}, source is {}; they must be one numeric dtype",
                   name(s.inputs[0].dtype), name(s.inputs[2].dtype));
      return {{s.inputs[0]}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{run}),
    .gradient =
        [](const Grad& g) {
          Tensors result(3);
          result[0] = g.cotangent();
          if (g.needs[2]) result[2] = index_select(g.cotangent(), g.attr().integer(0), g.input(1));
          return result;
        },
    .saves_inputs = 2,
    .check =
        [](const Signature& s, ArrayRef<Tensor> inputs) {
          s.op.type(s);  // shapes first: the range is read from them
          const auto dim = static_cast<std::size_t>(s.attr().integer(0));
          check_index_range("index_add", "index", inputs[1], s.inputs[0].sizes[dim]);
        },
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const auto dim = static_cast<std::size_t>(s.attr().integer(0));
          Reference result = inputs[0];
          std::size_t position = 0;
          for_each_index(inputs[2].type.sizes, [&](Shape index) {
            index[dim] =
                static_cast<std::int64_t>(inputs[1].values[static_cast<std::size_t>(index[dim])]);
            result.values[static_cast<std::size_t>(flat_position(result.type.sizes, index))] +=
                inputs[2].values[position++];
          });
          return std::vector<Reference>{result};
        },
    .domain = {0, 2},
    .dtypes = {kFloat, kDouble, kLong},
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{
              {{{dtype, {5}}, {kLong, {3}}, {dtype, {3}}}, Attrs().add(0), {}},
              {{{dtype, {3, 4}}, {kLong, {6}}, {dtype, {6, 4}}}, Attrs().add(0), {}},
              {{{dtype, {2, 3, 4}}, {kInt, {2}}, {dtype, {2, 2, 4}}}, Attrs().add(1), {}},
              {{{dtype, {3, 4}}, {kLong, {0}}, {dtype, {3, 0}}}, Attrs().add(1), {}}};
        },
    .tolerance_ulp = 16,
});

Attrs attrs_of(const Tensor& self, std::int64_t dim) {
  const std::size_t rank = checked("index_add", self).geometry.sizes.size();
  GROOVE_CHECK(rank > 0, "index_add: a 0-d tensor has no axis to add along");
  return Attrs().add(normal_dim("index_add", dim, rank));
}

}  // namespace

Tensor index_add(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  return call(op, {*self.tensor, index, source}, self.site, attrs_of(*self.tensor, dim));
}
Tensor IndexMethods::index_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                               Site site) const {
  return groove::index_add({self(), site}, dim, index, source);
}
Tensor& IndexMethods::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                                 Site site) const {
  return call_inplace(op, writable(self()), {index, source}, site, attrs_of(self(), dim));
}

}  // namespace groove
