// median, nanmedian and kthvalue: one of the elements in order, NaN being last; aminmax.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "groove/ops/creation.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/line_order.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kDim, kPlace };
// Places that depend on how many elements of the line are numbers.
enum : std::int64_t { kMedian = -1, kNanMedian = -2 };

// The place among `length` elements in order, of which the first `numbers` are not NaN.
std::int64_t place_among(std::int64_t place, std::int64_t length, std::int64_t numbers) {
  if (place >= 0) return place;
  if (place == kNanMedian) return std::max<std::int64_t>(numbers - 1, 0) / 2;
  return numbers < length ? numbers : (length - 1) / 2;  // the first NaN, if there is one
}

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  const Type& type = s.inputs[0];
  const Lines lines(type.sizes, s.attr().integer(kDim));
  const Lines kept(s.op.type(s).outputs[0].sizes, s.attr().integer(kDim));
  const std::int64_t place = s.attr().integer(kPlace);
  const void* source = inputs[0].impl()->data();
  auto* const positions = static_cast<std::int64_t*>(outputs[1].impl()->data());
  OrderRoom room;
  const auto [begin, end] = line_share(lines.count, part, parts);
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t offset = lines.offset(line), to = kept.offset(line);
    with_element(type.dtype, [&](auto kind) {
      const auto* element = static_cast<const decltype(kind)*>(source) + offset;
      std::int64_t numbers = 0;
      for (std::int64_t i = 0; place < 0 && i < lines.length; ++i)
        numbers += element[i * lines.stride] == element[i * lines.stride];
      positions[to] = place_in_line(type.dtype, source, offset, lines,
                                    place_among(place, lines.length, numbers), room);
      static_cast<decltype(kind)*>(outputs[0].impl()->data())[to] =
          element[positions[to] * lines.stride];
    });
  }
}

// Of all elements in a line, by sorting them.
std::size_t reference_position(const std::vector<double>& line, std::int64_t place) {
  std::vector<std::size_t> order(line.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::isnan(line[b]) ? !std::isnan(line[a]) : line[a] < line[b];
  });
  const auto numbers = std::count_if(line.begin(), line.end(), [](double x) { return x == x; });
  const auto length = static_cast<std::int64_t>(line.size());
  return order[static_cast<std::size_t>(place_among(place, length, numbers))];
}

const Op& op_along = define({
    .name = "kthvalue",
    .kind = OpKind::kOpaque,
    .outputs = 2,
    .attributes = {{"dim", AttrType::kInt}, {"place", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      const Shape &all = s.inputs[0].sizes, sizes = picked_shape(s, 1);
      const std::int64_t size = all.empty() ? 1 : all[axis_of(s, kDim)];
      const std::int64_t place = s.attr().integer(kPlace);
      GROOVE_CHECK(size > 0 && place >= kNanMedian && place < size,
                   "kthvalue: place {} among {} elements", place, size);
      return {{{s.inputs[0].dtype, sizes}, {kLong, sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{
        .run_part = run,
        .nanoseconds =
            [](const Signature& s) {
              return 500 + 8.0 * static_cast<double>(element_count(s.inputs[0].sizes));
            }}),
    .gradient = picked_gradient,
    .saves_outputs = 2,
    .range = range_of_picked,
    .has_inplace = false,
    .reference = picked_reference([](const Signature& s, const std::vector<double>& line) {
      return reference_position(line, s.attr().integer(kPlace));
    }),
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          const auto add = [&](const Shape& sizes, std::int64_t dim, std::int64_t place) {
            samples.push_back({{{dtype, sizes}}, Attrs().add(dim).add(place), {}});
          };
          for (const std::int64_t place :
               {std::int64_t{kMedian}, std::int64_t{kNanMedian}, std::int64_t{0}}) {
            add({}, 0, place);
            add({1}, 0, place);
            add({40}, 0, place);
            add({3, 5}, 1, place);
            add({2, 6, 3}, 1, place);
            add({0, 3}, 1, place);
          }
          add({700}, 0, 123);
          add({4, 3}, 0, 3);
          return samples;
        },
    .tolerance_ulp = 0,
});

std::tuple<Tensor, Tensor> picked_along(Arg self, std::int64_t axis, std::int64_t place,
                                        bool keepdim) {
  auto [values, positions] = call_ranked(op_along, self, Attrs().add(axis).add(place));
  if (keepdim || type_of(*self.tensor).sizes.empty()) return {values, positions};
  return {squeeze(values, axis), squeeze(positions, axis)};
}

std::tuple<Tensor, Tensor> median_along(const char* name, const Tensor& self, std::int64_t dim,
                                        bool keepdim, std::int64_t place) {
  check_ranked(name, self);
  const Shape sizes = checked(name, self).geometry.sizes;
  const std::int64_t axis = normal_dim(name, dim, sizes.size());
  GROOVE_CHECK(sizes.empty() || sizes[static_cast<std::size_t>(axis)] > 0,
               "{}: no elements along dim {} of {}", name, dim, to_string(sizes));
  return picked_along(self, axis, place, keepdim);
}

enum { kIgnoresNan };

std::int64_t median_place(const Signature& s) {
  return s.attr().boolean(kIgnoresNan) ? kNanMedian : kMedian;
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
          return Tensors{std::get<0>(picked_along(inputs[0], 0, median_place(s), false))};
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
          const std::vector<double>& line = inputs[0].values;
          return std::vector<Reference>{
              {{inputs[0].type.dtype, {}}, {line[reference_position(line, median_place(s))]}}};
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
  check_ranked(name, self);
  const TensorImpl& impl = checked(name, self);
  if (impl.numel == 0) return full({}, NAN).to(impl.dtype);  // of integers what NaN becomes
  return call(op, {flatten(self)}, Site::current(), Attrs().add(ignores_nan));
}

}  // namespace

Tensor median(Arg self) {
  const SiteScope scope(self.site);
  return median_of_all("median", *self.tensor, false);
}
std::tuple<Tensor, Tensor> median(Arg self, std::int64_t dim, bool keepdim) {
  const SiteScope scope(self.site);
  return median_along("median", *self.tensor, dim, keepdim, kMedian);
}
Tensor nanmedian(Arg self) {
  const SiteScope scope(self.site);
  return median_of_all("nanmedian", *self.tensor, true);
}
std::tuple<Tensor, Tensor> nanmedian(Arg self, std::int64_t dim, bool keepdim) {
  const SiteScope scope(self.site);
  return median_along("nanmedian", *self.tensor, dim, keepdim, kNanMedian);
}

std::tuple<Tensor, Tensor> kthvalue(Arg self, std::int64_t k, std::int64_t dim, bool keepdim) {
  const SiteScope scope(self.site);
  check_ranked("kthvalue", *self.tensor);
  const Shape sizes = checked("kthvalue", *self.tensor).geometry.sizes;
  const std::int64_t axis = normal_dim("kthvalue", dim, sizes.size());
  const std::int64_t length = sizes.empty() ? 1 : sizes[static_cast<std::size_t>(axis)];
  GROOVE_CHECK(k >= 1 && k <= length, "kthvalue: k is {}; it must be in [1, {}]", k, length);
  return picked_along(*self.tensor, axis, k - 1, keepdim);
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
