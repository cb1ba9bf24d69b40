// place_slice: zeros with a slice filled in; the gradient of slice and select.
#include <algorithm>
#include <cstring>

#include "groove/ops/views.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/slice.h"
#include "kernels/ops/structural.h"

namespace groove {
namespace {

enum { kSizes, kDim, kStep };

// Everything after the axis is one block; a part makes some of the blocks in a row.
void run(const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
         int parts) {
  const AttrReader attr = s.attr();
  const IntArrayRef sizes = attr.integers(kSizes);
  const auto dim = static_cast<std::size_t>(attr.integer(kDim));
  const std::int64_t step = attr.integer(kStep), start = s.numbers[0].to_int();
  const std::int64_t before = element_count(sizes.slice(0, dim));
  const std::int64_t block = element_count(sizes.slice(dim + 1, sizes.size() - dim - 1)) *
                             static_cast<std::int64_t>(element_size(s.inputs[0].dtype));
  const std::int64_t length = s.inputs[0].sizes[dim];
  GROOVE_CHECK(length == 0 || (start >= 0 && start < sizes[dim] &&
                               start + (length - 1) * step < sizes[dim]),
               "place_slice: {} elements from {} on leave an axis of {}", length, start, sizes[dim]);
  const char* source = static_cast<const char*>(inputs[0].impl()->data());
  char* target = static_cast<char*>(outputs[0].impl()->data());
  const std::int64_t size = sizes[dim], blocks = before * size;
  const std::int64_t first = blocks * part / parts, last = blocks * (part + 1) / parts;
  if (last <= first || block == 0) return;
  std::memset(target + first * block, 0, static_cast<std::size_t>((last - first) * block));
  for (std::int64_t row = first / size; row * size < last; ++row) {
    // Of this row the blocks from `low` to `high`, of which every step-th one is given.
    const std::int64_t low = std::max(first - row * size, start);
    const std::int64_t high = std::min(last - row * size, start + (length - 1) * step + 1);
    std::int64_t i = (low - start + step - 1) / step;
    const std::int64_t end = high > start ? (high - start + step - 1) / step : 0;
    if (step == 1 && end > i) {
      std::memcpy(target + (row * size + start + i) * block, source + (row * length + i) * block,
                  static_cast<std::size_t>((end - i) * block));
      continue;
    }
    for (; i < end; ++i)
      std::memcpy(target + (row * size + start + i * step) * block,
                  source + (row * length + i) * block, static_cast<std::size_t>(block));
  }
}

const Op& op = define({
    .name = "place_slice",
    .kind = OpKind::kOpaque,
    .attributes = {{"sizes", AttrType::kInts}, {"dim", AttrType::kInt}, {"step", AttrType::kInt}},
    .number_names = {"start"},
    .type = [](const Signature& s) -> TypeResult {
      Shape sizes(s.attr().integers(kSizes));
      const std::size_t dim = axis_of(s, kDim);
      const std::int64_t step = s.attr().integer(kStep);
      Shape given = s.inputs[0].sizes;
      bool fits = step >= 1 && given.size() == sizes.size();
      if (fits) {
        // The last one lies at (given - 1) * step at least.
        const std::int64_t count = given[dim], room = sizes[dim];
        fits = room >= 0 && (count == 0 || (count - 1) <= (room - 1) / step);
        given[dim] = room;
      }
      GROOVE_CHECK(fits && given == sizes, "place_slice: {} does not fit {} along axis {} at steps "
                   "of {}", to_string(s.inputs[0].sizes), to_string(sizes), dim, step);
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::OpaqueLowering{.run_part = run, .takes_halves = true}),
    .gradient =
        [](const Grad& g) {
          const AttrReader attr = g.attr();
          const std::int64_t dim = attr.integer(kDim);
          const std::int64_t length = g.input_types[0].sizes[static_cast<std::size_t>(dim)];
          return Tensors{
              slice_exact(g.cotangent(), dim, g.numbers[0], length, attr.integer(kStep))};
        },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const AttrReader attr = s.attr();
          Reference result =
              make_reference(s.op.type(s).outputs[0], [](const Shape&) { return 0.0; });
          std::size_t position = 0;
          for_each_index(inputs[0].type.sizes, [&](Shape index) {
            std::int64_t& at = index[static_cast<std::size_t>(attr.integer(kDim))];
            at = s.numbers[0].to_int() + at * attr.integer(kStep);
            result.values[static_cast<std::size_t>(flat_position(result.type.sizes, index))] =
                inputs[0].values[position++];
          });
          return std::vector<Reference>{result};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const auto attrs = [](const Shape& sizes, std::int64_t dim, std::int64_t step) {
            return Attrs().add(IntArrayRef(sizes)).add(dim).add(step);
          };
          return std::vector<Sample>{{{{dtype, {3}}}, attrs({7}, 0, 2), {Scalar(1)}},
                                     {{{dtype, {3, 2}}}, attrs({3, 5}, 1, 1), {Scalar(3)}},
                                     {{{dtype, {2, 1, 4}}}, attrs({2, 3, 4}, 1, 1), {Scalar(2)}},
                                     {{{dtype, {0, 5}}}, attrs({3, 5}, 0, 1), {Scalar(0)}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

const Op& place_slice_op() { return op; }

Tensor place_slice(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, Scalar start,
                   std::int64_t step, Site site) {
  return call(op, {grad}, site, Attrs().add(sizes).add(dim).add(step), start);
}

}  // namespace groove
