// sort: values and their positions along an axis; argsort gives the positions alone.
#include <algorithm>
#include <cmath>

#include "groove/ops/index.h"
#include "kernels/ops/line_order.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kDim, kDescending };

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  const Type& type = s.inputs[0];
  const Lines lines(type.sizes, s.attr().integer(kDim));
  const void* source = inputs[0].impl()->data();
  auto* const positions = static_cast<std::int64_t*>(outputs[1].impl()->data());
  OrderRoom room;
  const auto [begin, end] = line_share(lines.count, part, parts);
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t offset = lines.offset(line);
    const std::uint64_t* order =
        order_line(type.dtype, source, offset, lines, s.attr().boolean(kDescending), room);
    with_element(type.dtype, [&](auto kind) {
      const auto* from = static_cast<const decltype(kind)*>(source) + offset;
      auto* const values = static_cast<decltype(kind)*>(outputs[0].impl()->data());
      std::int64_t to = offset;
      for (std::int64_t i = 0; i < lines.length; ++i, to += lines.stride) {
        positions[to] = static_cast<std::int64_t>(order[i]);
        values[to] = from[positions[to] * lines.stride];
      }
    });
  }
}

bool comes_before(double a, double b, bool descending) {
  const bool a_is_greater = std::isnan(a) ? !std::isnan(b) : a > b;
  const bool b_is_greater = std::isnan(b) ? !std::isnan(a) : b > a;
  return descending ? a_is_greater : b_is_greater;
}

const Op& op = define({
    .name = "sort",
    .kind = OpKind::kOpaque,
    .outputs = 2,
    .attributes = {{"dim", AttrType::kInt}, {"descending", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      return {{s.inputs[0], {kLong, s.inputs[0].sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{
        .run_part = run,
        .nanoseconds =
            [](const Signature& s) {
              return 500 + 25.0 * static_cast<double>(element_count(s.inputs[0].sizes));
            }}),
    .gradient = picked_gradient,
    .saves_outputs = 2,
    .range = range_of_picked,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const Shape& sizes = inputs[0].type.sizes;
          std::vector<Reference> result(2, inputs[0]);
          result[1].type.dtype = kLong;
          const auto dim = static_cast<std::size_t>(s.attr().integer(kDim));
          Shape heads = sizes;
          if (!heads.empty()) heads[dim] = std::min<std::int64_t>(heads[dim], 1);
          for_each_index(heads, [&](Shape index) {
            std::vector<std::pair<double, double>> line;
            const std::int64_t length = sizes.empty() ? 1 : sizes[dim];
            const auto at = [&](std::int64_t i) {
              if (!index.empty()) index[dim] = i;
              return static_cast<std::size_t>(flat_position(sizes, index));
            };
            for (std::int64_t i = 0; i < length; ++i)
              line.emplace_back(inputs[0].values[at(i)], static_cast<double>(i));
            std::stable_sort(line.begin(), line.end(), [&](const auto& a, const auto& b) {
              return comes_before(a.first, b.first, s.attr().boolean(kDescending));
            });
            for (std::int64_t i = 0; i < length; ++i) {
              result[0].values[at(i)] = line[static_cast<std::size_t>(i)].first;
              result[1].values[at(i)] = line[static_cast<std::size_t>(i)].second;
            }
          });
          return result;
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const bool descending : {false, true}) {
            const auto add = [&](const Shape& sizes, std::int64_t dim) {
              samples.push_back({{{dtype, sizes}}, Attrs().add(dim).add(descending), {}});
            };
            add({}, 0);
            add({1}, 0);
            add({9}, 0);
            add({700}, 0);
            add({3, 5}, 1);
            add({4, 3}, 0);
            add({2, 3, 4}, 1);
            add({0, 3}, 0);
            add({3, 0}, 0);
          }
          return samples;
        },
    .tolerance_ulp = 0,
});

}  // namespace

std::tuple<Tensor, Tensor> sort(Arg self, std::int64_t dim, bool descending) {
  const CallFrame frame(self.site);
  const Attrs attrs = Attrs().add(ranked_axis("sort", *self.tensor, dim)).add(descending);
  return call_ranked(op, self, attrs);
}
Tensor argsort(Arg self, std::int64_t dim, bool descending) {
  const CallFrame frame(self.site);
  return std::get<1>(sort(self, dim, descending));
}
std::tuple<Tensor, Tensor> IndexMethods::sort(std::int64_t dim, bool descending, Site site) const {
  return groove::sort({self(), site}, dim, descending);
}
Tensor IndexMethods::argsort(std::int64_t dim, bool descending, Site site) const {
  return groove::argsort({self(), site}, dim, descending);
}

std::tuple<Tensor, Tensor> sort(Arg self, std::optional<bool>, std::int64_t dim, bool descending) {
  const CallFrame frame(self.site);
  return sort(self, dim, descending);
}
Tensor argsort(Arg self, bool, std::int64_t dim, bool descending) {
  const CallFrame frame(self.site);
  return argsort(self, dim, descending);
}
std::tuple<Tensor, Tensor> IndexMethods::sort(std::optional<bool>, std::int64_t dim,
                                              bool descending, Site site) const {
  return groove::sort({self(), site}, dim, descending);
}
Tensor IndexMethods::argsort(bool, std::int64_t dim, bool descending, Site site) const {
  return groove::argsort({self(), site}, dim, descending);
}

}  // namespace groove
