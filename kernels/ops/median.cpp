// median, nanmedian and kthvalue: one of the elements in order, NaN being last; aminmax.
#include <cmath>

#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum { kIgnoresNan };

// The place of the median among the elements in order, of lines that keep the axis with size 1.
Tensor median_place(const Tensor& line, std::int64_t dim, bool ignores_nan) {
  const Shape& sizes = type_of(line).sizes;
  const std::int64_t length = sizes[static_cast<std::size_t>(dim)];
  const Tensor numbers = length - sum(isnan(line), dim, true);
  const Tensor middle = clamp_min(floor_divide(numbers - 1, 2), 0);
  if (ignores_nan) return middle;
  return where(lt(numbers, length), numbers, (length - 1) / 2);  // the first NaN, if there is one
}

std::tuple<Tensor, Tensor> median_along(const char* op, const Tensor& self, std::int64_t dim,
                                        bool keepdim, bool ignores_nan) {
  const std::size_t rank = checked(op, self).geometry.sizes.size();
  const std::int64_t axis = normal_dim(op, dim, rank);
  const Tensor x = rank == 0 ? unsqueeze(self, 0) : self;
  GROOVE_CHECK(x.size(axis) > 0, "{}: no elements along dim {} of {}", op, dim,
               to_string(type_of(self).sizes));
  const auto [values, positions] = sort(x, axis);
  const Tensor place = median_place(x.detach(), axis, ignores_nan);
  const Tensor value = gather(values, axis, place), position = gather(positions, axis, place);
  if (keepdim && rank > 0) return {value, position};
  return {squeeze(value, axis), squeeze(position, axis)};
}

// Of all elements, [n]; those equal to the median share its gradient.
const Op& op = define({
    .name = "median",
    .kind = OpKind::kComposite,
    .attributes = {{"ignores_nan", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      GROOVE_CHECK(s.inputs[0].sizes.size() == 1 && s.inputs[0].sizes[0] > 0, "median: of shape {}",
                   to_string(s.inputs[0].sizes));
      return {{{s.inputs[0].dtype, {}}}, s.inputs[0].dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          return Tensors{std::get<0>(
              median_along("median", inputs[0], 0, false, s.attr().boolean(kIgnoresNan)))};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor &x = g.input(0), &y = g.output();
          const Tensor chosen = logical_or(eq(x, y), logical_and(isnan(x), isnan(y)));
          const Tensor count = sum(chosen).to(g.input_types[0].dtype);
          return Tensors{where(chosen, g.cotangent() / count, 0)};
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .range = first_range,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          std::vector<double> values;
          for (const double x : inputs[0].values) {
            if (!std::isnan(x)) {
              values.push_back(x);
            } else if (!s.attr().boolean(kIgnoresNan)) {
              return std::vector<Reference>{{{inputs[0].type.dtype, {}}, {x}}};
            }
          }
          std::sort(values.begin(), values.end());
          const double middle = values.empty() ? NAN : values[(values.size() - 1) / 2];
          return std::vector<Reference>{{{inputs[0].type.dtype, {}}, {middle}}};
        },
    .dtypes = numeric_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const bool ignores : {false, true})
            for (const std::int64_t size : {1, 2, 9, 40})
              samples.push_back({{{dtype, {size}}}, Attrs().add(ignores), {}});
          return samples;
        },
    .tolerance_ulp = 0,
});

Tensor median_of_all(const char* name, const Tensor& self, bool ignores_nan) {
  const TensorImpl& impl = checked(name, self);
  if (impl.numel == 0) {
    GROOVE_CHECK(is_floating(impl.dtype), "{}: no elements", name);
    return full({}, NAN, TensorOptions(impl.dtype));
  }
  return call(op, {flatten(self)}, Site::current(), Attrs().add(ignores_nan));
}

}  // namespace

Tensor median(Arg self) {
  const SiteScope scope(self.site);
  return median_of_all("median", *self.tensor, false);
}
std::tuple<Tensor, Tensor> median(Arg self, std::int64_t dim, bool keepdim) {
  const SiteScope scope(self.site);
  return median_along("median", *self.tensor, dim, keepdim, false);
}
Tensor nanmedian(Arg self) {
  const SiteScope scope(self.site);
  return median_of_all("nanmedian", *self.tensor, true);
}
std::tuple<Tensor, Tensor> nanmedian(Arg self, std::int64_t dim, bool keepdim) {
  const SiteScope scope(self.site);
  return median_along("nanmedian", *self.tensor, dim, keepdim, true);
}

std::tuple<Tensor, Tensor> kthvalue(Arg self, std::int64_t k, std::int64_t dim, bool keepdim) {
  const SiteScope scope(self.site);
  const Shape sizes = checked("kthvalue", *self.tensor).geometry.sizes;
  const std::int64_t axis = normal_dim("kthvalue", dim, sizes.size());
  const std::int64_t length = sizes.empty() ? 1 : sizes[static_cast<std::size_t>(axis)];
  GROOVE_CHECK(k >= 1 && k <= length, "kthvalue: k is {}; it must be in [1, {}]", k, length);
  const auto [values, positions] = sort(*self.tensor, axis);
  if (sizes.empty()) return {values, positions};
  if (keepdim) return {narrow(values, axis, k - 1, 1), narrow(positions, axis, k - 1, 1)};
  return {select(values, axis, k - 1), select(positions, axis, k - 1)};
}

std::tuple<Tensor, Tensor> aminmax(Arg self, std::optional<std::int64_t> dim, bool keepdim) {
  const SiteScope scope(self.site);
  checked("aminmax", *self.tensor);
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  return {amin(*self.tensor, dims, keepdim), amax(*self.tensor, dims, keepdim)};
}

Tensor StatisticsMethods::median(Site site) const { return groove::median({self(), site}); }
std::tuple<Tensor, Tensor> StatisticsMethods::median(std::int64_t dim, bool keepdim,
                                                     Site site) const {
  return groove::median({self(), site}, dim, keepdim);
}
Tensor StatisticsMethods::nanmedian(Site site) const { return groove::nanmedian({self(), site}); }
std::tuple<Tensor, Tensor> StatisticsMethods::nanmedian(std::int64_t dim, bool keepdim,
                                                        Site site) const {
  return groove::nanmedian({self(), site}, dim, keepdim);
}
std::tuple<Tensor, Tensor> StatisticsMethods::kthvalue(std::int64_t k, std::int64_t dim,
                                                       bool keepdim, Site site) const {
  return groove::kthvalue({self(), site}, k, dim, keepdim);
}
std::tuple<Tensor, Tensor> StatisticsMethods::aminmax(std::optional<std::int64_t> dim, bool keepdim,
                                                      Site site) const {
  return groove::aminmax({self(), site}, dim, keepdim);
}

}  // namespace groove
