// topk: the greatest or smallest elements along an axis, in order; of equal ones the first.
#include <algorithm>

#include "groove/ops/index.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/ranking.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kDim, kCount, kLargest };

void put_first(std::vector<Ranked>& ranked, std::int64_t count) {
  const auto first = ranked.begin() + static_cast<std::ptrdiff_t>(count);
  if (static_cast<std::size_t>(count) * 16 < ranked.size()) {
    std::partial_sort(ranked.begin(), first, ranked.end());
    return;
  }
  if (first != ranked.end()) std::nth_element(ranked.begin(), first, ranked.end());
  std::sort(ranked.begin(), first);
}

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  write_ranked(s, inputs[0], outputs, s.attr().boolean(kLargest), part, parts, put_first);
}

const Op& op = define({
    .name = "topk",
    .kind = OpKind::kOpaque,
    .outputs = 2,
    .attributes = {{"dim", AttrType::kInt}, {"k", AttrType::kInt}, {"largest", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      const Shape& all = s.inputs[0].sizes;
      const std::int64_t count = s.attr().integer(kCount);
      const std::int64_t size = all.empty() ? 1 : all[axis_of(s, kDim)];
      GROOVE_CHECK(count >= 0 && count <= size, "topk: {} of {} elements", count, size);
      const Shape sizes = picked_shape(s, count);
      return {{{s.inputs[0].dtype, sizes}, {kLong, sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{
        .run_part = run,
        .nanoseconds =
            [](const Signature& s) {
              return 500 + 4.0 * static_cast<double>(element_count(s.inputs[0].sizes));
            }}),
    .gradient = picked_gradient,
    .saves_outputs = 2,
    .range = range_of_picked,
    .has_inplace = false,
    // By its meaning: an element is kept when fewer than k come before it.
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const Shape& sizes = inputs[0].type.sizes;
          const std::vector<Type> types = s.op.type(s).outputs;
          if (sizes.empty()) {
            const Reference first = make_reference(types[1], [](const Shape&) { return 0.0; });
            return std::vector<Reference>{inputs[0], first};
          }
          std::vector<Reference> result;
          for (const Type& type : types)
            result.push_back(make_reference(type, [](const Shape&) { return 0.0; }));
          const auto dim = static_cast<std::size_t>(s.attr().integer(kDim));
          const bool largest = s.attr().boolean(kLargest);
          for_each_index(sizes, [&](const Shape& index) {
            const auto value = [&](std::int64_t i) {
              Shape at = index;
              at[dim] = i;
              return inputs[0].values[static_cast<std::size_t>(flat_position(sizes, at))];
            };
            std::int64_t rank = 0;
            for (std::int64_t i = 0; i < sizes[dim]; ++i) {
              const double mine = value(index[dim]), other = value(i);
              const bool is_before = largest ? other > mine : other < mine;
              rank += is_before || (other == mine && i < index[dim]);
            }
            if (rank >= types[0].sizes[dim]) return;
            Shape at = index;
            at[dim] = rank;
            const auto to = static_cast<std::size_t>(flat_position(types[0].sizes, at));
            result[0].values[to] = value(index[dim]);
            result[1].values[to] = static_cast<double>(index[dim]);
          });
          return result;
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const bool largest : {true, false}) {
            const auto add = [&](const Shape& sizes, std::int64_t dim, std::int64_t k) {
              samples.push_back({{{dtype, sizes}}, Attrs().add(dim).add(k).add(largest), {}});
            };
            add({}, 0, 1);
            add({9}, 0, 3);
            add({9}, 0, 9);
            add({90}, 0, 2);
            add({3, 5}, 1, 2);
            add({4, 3}, 0, 1);
            add({2, 6, 2}, 1, 4);
            add({3, 5}, 1, 0);
            add({0, 3}, 1, 2);
          }
          return samples;
        },
    .tolerance_ulp = 0,
});

}  // namespace

std::tuple<Tensor, Tensor> topk(Arg self, std::int64_t k, std::int64_t dim, bool largest, bool) {
  const CallFrame frame(self.site);
  check_ranked("topk", *self.tensor);
  const std::int64_t axis = ranked_axis("topk", *self.tensor, dim);
  const Shape& sizes = type_of(*self.tensor).sizes;
  const std::int64_t size = sizes.empty() ? 1 : sizes[static_cast<std::size_t>(axis)];
  GROOVE_CHECK(k >= 0 && k <= size, "topk: {} elements of dim {} of {}; there are {}", k, axis,
               to_string(sizes), size);
  const Attrs attrs = Attrs().add(axis).add(k).add(largest);
  return call_ranked(op, self, attrs);
}
std::tuple<Tensor, Tensor> IndexMethods::topk(std::int64_t k, std::int64_t dim, bool largest,
                                              bool sorted, Site site) const {
  return groove::topk({self(), site}, k, dim, largest, sorted);
}

}  // namespace groove
