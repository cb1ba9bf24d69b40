// view: the same elements in another shape, where strides allow it; reshape copies where they do
// not. flatten, unflatten, unsqueeze and squeeze are spellings of it.
#include <optional>

#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/view_strides.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "view",
    .kind = OpKind::kView,
    .attributes = {{"sizes", AttrType::kInts}},
    .type = [](const Signature& s) -> TypeResult {
      const IntArrayRef sizes = s.attr().integers(0);
      GROOVE_CHECK(element_count(sizes) == element_count(s.inputs[0].sizes),
                   "view: shape {} has {} elements, not the {} of {}", to_string(sizes),
                   element_count(sizes), element_count(s.inputs[0].sizes),
                   to_string(s.inputs[0].sizes));
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .view =
        [](const Geometry& input, const Signature& s) {
          const IntArrayRef sizes = s.attr().integers(0);
          std::optional<Shape> strides = view_strides(input, sizes);
          GROOVE_CHECK(strides,
                       "view: shape {} with strides {} cannot be seen as {} without a copy; "
                       "use reshape",
                       to_string(input.sizes), to_string(input.strides), to_string(sizes));
          return Geometry{sizes, std::move(*strides), input.offset};
        },
    .gradient =
        [](const Grad& g) { return Tensors{g.cotangent().reshape(g.input_types[0].sizes)}; },
    .complex = complex_rules::on_pairs,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          return std::vector<Reference>{{s.op.type(s).outputs[0], inputs[0].values}};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const Shape pairs[][2] = {
              {{}, {1}},           {{1}, {}},        {{6}, {2, 3}},         {{2, 3}, {6}},
              {{4, 1, 3}, {4, 3}}, {{0, 3}, {3, 0}}, {{2, 3, 4}, {6, 1, 4}}};
          std::vector<Sample> samples;
          for (const auto& pair : pairs)
            samples.push_back({{{dtype, pair[0]}}, Attrs().add(IntArrayRef(pair[1])), {}});
          return samples;
        },
    .tolerance_ulp = 0,
});

Shape inferred_sizes(const char* name, const Tensor& self, IntArrayRef sizes) {
  const Shape& own = checked(name, self).geometry.sizes;
  Shape result(sizes);
  std::int64_t known = 1, open = -1;
  for (std::size_t axis = 0; axis < result.size(); ++axis) {
    if (result[axis] == -1) {
      GROOVE_CHECK(open < 0, "{}: more than one size of {} is -1", name, to_string(sizes));
      open = static_cast<std::int64_t>(axis);
    } else {
      GROOVE_CHECK(result[axis] >= 0, "{}: size {} in {} is negative", name, result[axis],
                   to_string(sizes));
      known *= result[axis];
    }
  }
  const std::int64_t count = element_count(own);
  if (open >= 0) {
    GROOVE_CHECK(known > 0 && count % known == 0, "{}: shape {} of {} elements does not fit {}",
                 name, to_string(own), count, to_string(sizes));
    result[static_cast<std::size_t>(open)] = count / known;
  }
  GROOVE_CHECK(element_count(result) == count, "{}: shape {} has {} elements, not the {} of {}",
               name, to_string(sizes), element_count(result), count, to_string(own));
  return result;
}

Tensor viewed(const Tensor& self, const Shape& sizes, Site site) {
  return call(op, {self}, site, Attrs().add(IntArrayRef(sizes)));
}

}  // namespace

Tensor reshape(Arg self, IntArrayRef shape) {
  const CallFrame frame(self.site);
  const Tensor& x = *self.tensor;
  const Shape sizes = inferred_sizes("reshape", x, shape);
  if (sizes == x.impl()->geometry.sizes) return x;
  if (view_strides(x.impl()->geometry, sizes)) return viewed(x, sizes, self.site);
  return viewed(x.clone(self.site), sizes, self.site);
}
Tensor flatten(Arg self, std::int64_t start_dim, std::int64_t end_dim) {
  const CallFrame frame(self.site);
  const Shape& sizes = checked("flatten", *self.tensor).geometry.sizes;
  if (sizes.empty()) return reshape(self, {1});
  const std::int64_t first = normal_dim("flatten", start_dim, sizes.size());
  const std::int64_t last = normal_dim("flatten", end_dim, sizes.size());
  GROOVE_CHECK(first <= last, "flatten: start_dim {} comes after end_dim {}", start_dim, end_dim);
  Shape result;
  std::int64_t joined = 1;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(sizes.size()); ++axis) {
    const std::int64_t size = sizes[static_cast<std::size_t>(axis)];
    if (axis < first || axis > last)
      result.push_back(size);
    else
      joined *= size;
    if (axis == last) result.push_back(joined);
  }
  return reshape(self, result);
}
Tensor unflatten(Arg self, std::int64_t dim, IntArrayRef sizes) {
  const CallFrame frame(self.site);
  const Shape& own = checked("unflatten", *self.tensor).geometry.sizes;
  GROOVE_CHECK(!own.empty(), "unflatten: a 0-d tensor has no axis to divide");
  GROOVE_CHECK(!sizes.empty(), "unflatten: the list of sizes is empty");
  const auto axis = static_cast<std::size_t>(normal_dim("unflatten", dim, own.size()));
  std::int64_t known = 1, open = 0;
  for (const std::int64_t size : sizes) {
    GROOVE_CHECK(size >= -1, "unflatten: size {} in {} is negative", size, to_string(sizes));
    if (size == -1)
      ++open;
    else
      known *= size;
  }
  const bool fits =
      open == 0 ? known == own[axis] : open == 1 && known > 0 && own[axis] % known == 0;
  GROOVE_CHECK(fits, "unflatten: sizes {} do not make the {} of dim {} of {}", to_string(sizes),
               own[axis], axis, to_string(own));
  Shape result;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i != axis) {
      result.push_back(own[i]);
      continue;
    }
    for (const std::int64_t size : sizes) result.push_back(size == -1 ? own[axis] / known : size);
  }
  return viewed(*self.tensor, result, self.site);
}
Tensor unsqueeze(Arg self, std::int64_t dim) {
  const CallFrame frame(self.site);
  Shape sizes = checked("unsqueeze", *self.tensor).geometry.sizes;
  sizes.insert(static_cast<std::size_t>(normal_dim("unsqueeze", dim, sizes.size() + 1)), 1);
  return viewed(*self.tensor, sizes, self.site);
}
Tensor squeeze(Arg self) {
  const CallFrame frame(self.site);
  Shape sizes;
  for (std::int64_t size : checked("squeeze", *self.tensor).geometry.sizes) {
    if (size != 1) sizes.push_back(size);
  }
  return viewed(*self.tensor, sizes, self.site);
}
Tensor squeeze(Arg self, std::int64_t dim) {
  const CallFrame frame(self.site);
  Shape sizes = checked("squeeze", *self.tensor).geometry.sizes;
  const auto axis = static_cast<std::size_t>(normal_dim("squeeze", dim, sizes.size()));
  if (sizes.empty() || sizes[axis] != 1) return *self.tensor;
  sizes.erase(axis);
  return viewed(*self.tensor, sizes, self.site);
}

Tensor ViewMethods::view(IntArrayRef size, Site site) const {
  const CallFrame frame(site);
  return viewed(self(), inferred_sizes("view", self(), size), site);
}
Tensor ViewMethods::view_as(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return view(checked("view_as", other).geometry.sizes, site);
}
Tensor ViewMethods::reshape_as(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return reshape(checked("reshape_as", other).geometry.sizes, site);
}
Tensor ViewMethods::ravel(Site site) const {
  const CallFrame frame(site);
  return groove::flatten({self(), site});
}
Tensor ViewMethods::reshape(IntArrayRef shape, Site site) const {
  return groove::reshape({self(), site}, shape);
}
Tensor ViewMethods::flatten(std::int64_t start_dim, std::int64_t end_dim, Site site) const {
  return groove::flatten({self(), site}, start_dim, end_dim);
}
Tensor ViewMethods::unflatten(std::int64_t dim, IntArrayRef sizes, Site site) const {
  return groove::unflatten({self(), site}, dim, sizes);
}
Tensor ViewMethods::unsqueeze(std::int64_t dim, Site site) const {
  return groove::unsqueeze({self(), site}, dim);
}
Tensor ViewMethods::squeeze(Site site) const { return groove::squeeze({self(), site}); }
Tensor ViewMethods::squeeze(std::int64_t dim, Site site) const {
  return groove::squeeze({self(), site}, dim);
}

}  // namespace groove
