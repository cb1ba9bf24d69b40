// expand: axes of size 1 repeated with stride 0, new axes in front; broadcast_to,
// broadcast_tensors and meshgrid are spellings of it.
#include <string>

#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "expand",
    .kind = OpKind::kView,
    .attributes = {{"sizes", AttrType::kInts}},
    .type = [](const Signature& s) -> TypeResult {
      const IntArrayRef sizes = s.attr().integers(0);
      const Shape& own = s.inputs[0].sizes;
      bool fits = sizes.size() >= own.size();
      for (std::size_t i = 0; fits && i < own.size(); ++i)
        fits = own[i] == 1 || own[i] == sizes[sizes.size() - own.size() + i];
      GROOVE_CHECK(fits, "expand: shape {} does not expand to {}; only axes of size 1 can grow",
                   to_string(own), to_string(sizes));
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .view =
        [](const Geometry& input, const Signature& s) {
          const IntArrayRef sizes = s.attr().integers(0);
          GROOVE_CHECK(sizes.size() >= input.sizes.size(), "expand: {} axes to {}",
                       input.sizes.size(), sizes.size());
          const std::size_t lead = sizes.size() - input.sizes.size();
          Shape strides(sizes.size(), 0);
          for (std::size_t i = 0; i < input.sizes.size(); ++i) {
            if (input.sizes[i] == sizes[lead + i]) strides[lead + i] = input.strides[i];
          }
          return Geometry{sizes, strides, input.offset};
        },
    .gradient =
        [](const Grad& g) { return Tensors{sum_to(g.cotangent(), g.input_types[0].sizes)}; },
    .complex = complex_rules::on_pairs,
    .has_inplace = false,
    .reference =
        elementwise_reference([](const std::vector<double>& x, const Signature&) { return x[0]; }),
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const Shape pairs[][2] = {{{}, {}},         {{}, {3}},     {{1}, {5}},
                                    {{3, 1}, {3, 4}}, {{4}, {2, 4}}, {{1, 3}, {2, 5, 3}},
                                    {{1}, {0}},       {{0}, {2, 0}}};
          std::vector<Sample> samples;
          for (const auto& pair : pairs)
            samples.push_back({{{dtype, pair[0]}}, Attrs().add(IntArrayRef(pair[1])), {}});
          return samples;
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor expand(Arg self, IntArrayRef size) {
  const CallFrame frame(self.site);
  const Shape& own = checked("expand", *self.tensor).geometry.sizes;
  Shape sizes(size);
  GROOVE_CHECK(sizes.size() >= own.size(), "expand: shape {} has more axes than {}", to_string(own),
               to_string(size));
  const std::size_t lead = sizes.size() - own.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    GROOVE_CHECK(sizes[i] >= 0 || (sizes[i] == -1 && i >= lead),
                 "expand: size {} of {} is not allowed for axis {}", sizes[i], to_string(size), i);
    if (sizes[i] == -1) sizes[i] = own[i - lead];
  }
  return call(op, {*self.tensor}, self.site, Attrs().add(IntArrayRef(sizes)));
}
Tensor broadcast_to(Arg self, IntArrayRef size) {
  const CallFrame frame(self.site);
  return expand(self, size);
}
std::vector<Tensor> broadcast_tensors(TensorList tensors, Site site) {
  const CallFrame frame(site);
  Shape joint;
  for (const Tensor& tensor : tensors)
    joint = broadcast_of("broadcast_tensors", joint,
                         checked("broadcast_tensors", tensor).geometry.sizes);
  const SiteScope scope(site);
  Tensors result;
  for (const Tensor& tensor : tensors) result.push_back(expand({tensor, site}, joint));
  return result;
}
std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing, Site site) {
  const CallFrame frame(site);
  const std::string order(indexing);
  GROOVE_CHECK(order == "ij" || order == "xy", "meshgrid: indexing \"{}\" is neither ij nor xy",
               order);
  GROOVE_CHECK(!tensors.empty(), "meshgrid: the list of tensors is empty");
  Shape grid;
  for (const Tensor& tensor : tensors) {
    const TensorImpl& impl = checked("meshgrid", tensor);
    GROOVE_CHECK(impl.geometry.sizes.size() <= 1, "meshgrid: shape {} has more than one axis",
                 to_string(impl.geometry.sizes));
    GROOVE_CHECK(impl.dtype == tensors[0].impl()->dtype, "meshgrid: dtypes {} and {} differ",
                 name(tensors[0].impl()->dtype), name(impl.dtype));
    grid.push_back(impl.numel);
  }
  const bool swaps = order == "xy" && tensors.size() >= 2;
  if (swaps) std::swap(grid[0], grid[1]);
  const SiteScope scope(site);
  Tensors result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Shape line(tensors.size(), 1);
    line[swaps && i < 2 ? 1 - i : i] = tensors[i].impl()->numel;
    result.push_back(expand({reshape({tensors[i], site}, line), site}, grid));
  }
  return result;
}

Tensor ViewMethods::expand(IntArrayRef size, bool, Site site) const {
  return groove::expand({self(), site}, size);
}
Tensor ViewMethods::broadcast_to(IntArrayRef size, Site site) const {
  const CallFrame frame(site);
  return groove::expand({self(), site}, size);
}
Tensor ViewMethods::expand_as(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return groove::expand({self(), site}, checked("expand_as", other).geometry.sizes);
}

}  // namespace groove
