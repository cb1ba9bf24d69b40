// topk: the greatest or smallest elements along an axis, in order; of equal ones the first.
#include <algorithm>

#include "groove/ops/index.h"
#include "kernels/ops/ranking.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kDim, kCount, kLargest };

void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  const Type& type = s.inputs[0];
  const Lines lines(type.sizes, s.attr().integer(kDim));
  const Lines kept(s.op.type(s).outputs[0].sizes, s.attr().integer(kDim));
  const std::size_t size = element_size(type.dtype);
  const void* source = inputs[0].impl()->data();
  void* const values = outputs[0].impl()->data();
  auto* const positions = static_cast<std::int64_t*>(outputs[1].impl()->data());
  std::vector<Ranked> ranked, room;
  const auto [begin, end] = line_share(lines.count, part, parts);
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t offset = lines.offset(line);
    rank_line(type.dtype, source, offset, lines, s.attr().boolean(kLargest), ranked);
    const auto first = ranked.begin() + static_cast<std::ptrdiff_t>(kept.length);
    if (kept.length * 16 < lines.length) {
      std::partial_sort(ranked.begin(), first, ranked.end());
    } else {
      if (first != ranked.end()) std::nth_element(ranked.begin(), first, ranked.end());
      ranked.resize(static_cast<std::size_t>(kept.length));
      std::sort(ranked.begin(), ranked.end());
    }
    std::int64_t to = kept.offset(line);
    for (std::int64_t i = 0; i < kept.length; ++i, to += kept.stride) {
      const std::int64_t position = ranked[static_cast<std::size_t>(i)].position;
      move_element(size, values, to, source, offset + position * lines.stride);
      positions[to] = position;
    }
  }
}

const Op& op = define({
    .name = "topk",
    .kind = OpKind::kOpaque,
    .outputs = 2,
    .attributes = {{"dim", AttrType::kInt}, {"k", AttrType::kInt}, {"largest", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      Shape sizes = s.inputs[0].sizes;
      if (!sizes.empty())
        sizes[static_cast<std::size_t>(s.attr().integer(kDim))] = s.attr().integer(kCount);
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
  const std::int64_t axis = ranked_axis("topk", *self.tensor, dim);
  const Shape& sizes = type_of(*self.tensor).sizes;
  const std::int64_t size = sizes.empty() ? 1 : sizes[static_cast<std::size_t>(axis)];
  GROOVE_CHECK(k >= 0 && k <= size, "topk: {} elements of dim {} of {}; there are {}", k, axis,
               to_string(sizes), size);
  const Attrs attrs = Attrs().add(axis).add(k).add(largest);
  Tensor outputs[2];
  dispatch(Call{&op, ArrayRef<Tensor>(*self.tensor), &attrs, {}, self.site}, outputs);
  return {outputs[0], outputs[1]};
}
std::tuple<Tensor, Tensor> IndexMethods::topk(std::int64_t k, std::int64_t dim, bool largest,
                                              bool sorted, Site site) const {
  return groove::topk({self(), site}, k, dim, largest, sorted);
}

}  // namespace groove
