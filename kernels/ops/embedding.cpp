// embedding: rows of a table at indices of any shape. The gradient adds rows into zeros of the
// table's shape; a padding row takes part in the result but gets no gradient, and where it is asked
// for, a row's gradient is the mean of what its indices give, not the sum.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "kernels/ops/indexed_write.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

constexpr std::int64_t kNoPadding = -1;

void check_operands(const Signature& s) {
  check_index_dtype("embedding", s.inputs[1]);
  const Type& weight = s.inputs[0];
  GROOVE_CHECK(weight.sizes.size() == 2, "embedding: the weight has shape {}, not [rows, size]",
               to_string(weight.sizes));
  const std::int64_t padding = s.attr().integer(0);
  GROOVE_CHECK(padding < weight.sizes[0], "embedding: padding_idx {} is no row of {}", padding,
               to_string(weight.sizes));
}

const Op& op = define({
    .name = "embedding",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .attributes = {{"padding_idx", AttrType::kInt}, {"scale_grad_by_freq", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_operands(s);
      const Type& weight = s.inputs[0];
      Shape sizes = s.inputs[1].sizes;
      sizes.push_back(weight.sizes[1]);
      return {{{weight.dtype, sizes}}, weight.dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Tensor flat = inputs[1].reshape({element_count(s.inputs[1].sizes)});
          return Tensors{index_select(inputs[0], 0, flat).view(s.op.type(s).outputs[0].sizes)};
        }}),
    .gradient =
        [](const Grad& g) {
          const std::int64_t padding = g.attr().integer(0);
          const std::int64_t count = element_count(g.input_types[1].sizes);
          const Tensor flat = g.input(1).reshape({count});
          Tensor rows = g.cotangent().reshape({count, g.input_types[0].sizes[1]});
          if (padding != kNoPadding) rows = masked_fill(rows, eq(flat, padding).unsqueeze(1), 0);
          if (g.attr().boolean(1)) {
            const Tensor ones = groove::ones({count}, rows.options());
            const Tensor uses = index_sum(flat, ones, 0, {g.input_types[0].sizes[0]});
            rows = mul(rows, reciprocal(index_select(uses, 0, flat)).unsqueeze(1));
          }
          return Tensors{index_sum(flat, rows, 0, g.input_types[0].sizes), Tensor()};
        },
    .saves_inputs = 2,
    .check =
        [](const Signature& s, ArrayRef<Tensor> inputs) {
          check_operands(s);  // shapes first: the range is read from them
          check_index_range("embedding", "index", inputs[1], s.inputs[0].sizes[0]);
        },
    .check_reads = 1,
    .allowed = [](const Signature& s) { return positions_below(s.inputs[0].sizes[0]); },
    .range = first_range,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const std::int64_t width = inputs[0].type.sizes[1];
          std::size_t position = 0;
          return std::vector<Reference>{
              make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
                const auto row = static_cast<std::int64_t>(
                    inputs[1].values[position++ / static_cast<std::size_t>(width)]);
                return inputs[0].values[static_cast<std::size_t>(row * width + index.back())];
              })};
        },
    .domain = {0, 2},
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const Shape& index : {Shape{5}, Shape{2, 3}, Shape{}, Shape{0}, Shape{2, 1, 2}})
            samples.push_back({{{dtype, {3, 4}}, {index.empty() ? kInt : kLong, index}},
                               Attrs().add(kNoPadding).add(std::int64_t{0}),
                               {}});
          return samples;
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor embedding(Arg weight, const Tensor& indices, std::int64_t padding_idx,
                 bool scale_grad_by_freq, bool) {
  const CallFrame frame(weight.site);
  checked("embedding", *weight.tensor);
  checked("embedding", indices);
  return call(op, {*weight.tensor, indices}, weight.site,
              Attrs()
                  .add(padding_idx < 0 ? kNoPadding : padding_idx)
                  .add(std::int64_t{scale_grad_by_freq}));
}

}  // namespace groove
