// mm and bmm: products of matrices, alone or in batches; matmul and dot are spelled with them.
#include <algorithm>

#include "groove/ops/contractions.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// [.., m, k] x [.., k, n]: the rule for both ops, `axes` being 2 or 3.
TypeResult product_type(const Signature& s, std::size_t axes) {
  const Type &a = s.inputs[0], &b = s.inputs[1];
  const std::string& op = s.op.name;
  GROOVE_CHECK(a.sizes.size() == axes && b.sizes.size() == axes,
               "{}: shapes {} and {} must have {} axes each; matmul takes others", op,
               to_string(a.sizes), to_string(b.sizes), axes);
  GROOVE_CHECK(a.dtype == b.dtype && a.dtype != kBool,
               "{}: dtypes {} and {} must be equal and numeric; convert with to()", op,
               name(a.dtype), name(b.dtype));
  GROOVE_CHECK(axes == 2 || a.sizes[0] == b.sizes[0], "{}: batches of {} and {} matrices", op,
               a.sizes[0], b.sizes[0]);
  const std::int64_t k = a.sizes[axes - 1];
  GROOVE_CHECK(k == b.sizes[axes - 2],
               "{}: shapes {} and {} do not fit: {} columns against {} rows", op,
               to_string(a.sizes), to_string(b.sizes), k, b.sizes[axes - 2]);
  Shape sizes = a.sizes;
  sizes[axes - 1] = b.sizes[axes - 1];
  return {{{a.dtype, sizes}}, a.dtype};
}

Tensors product_gradient(const Grad& g) {
  Tensors result(2);
  if (g.needs[0]) result[0] = call(g.op, g.cotangent(), transpose(g.input(1), -2, -1));
  if (g.needs[1]) result[1] = call(g.op, transpose(g.input(0), -2, -1), g.cotangent());
  return result;
}

std::vector<Reference> product_reference(const Signature& s, const std::vector<Reference>& inputs) {
  const Shape& a = inputs[0].type.sizes;
  const std::int64_t k = a[a.size() - 1];
  return {make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
    Shape left = index, right = index;
    double total = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      left[left.size() - 1] = i;
      right[right.size() - 2] = i;
      total +=
          inputs[0].values[static_cast<std::size_t>(flat_position(a, left))] *
          inputs[1].values[static_cast<std::size_t>(flat_position(inputs[1].type.sizes, right))];
    }
    return total;
  })};
}

const Op& op = define({
    .name = "mm",
    .kind = OpKind::kContraction,
    .inputs = 2,
    .type = [](const Signature& s) { return product_type(s, 2); },
    .lowering = kernels::lower(kernels::ContractionLowering{}),
    .gradient = product_gradient,
    .saves_inputs = 3,
    .complex = complex_rules::contraction,
    .autocast = Precision::kShort,
    .has_inplace = false,
    .reference = product_reference,
    .domain = {-1, 1},
    .dtypes = numeric_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const Shape pairs[][2] = {{{1, 1}, {1, 1}},   {{3, 4}, {4, 5}},    {{9, 300}, {300, 17}},
                                    {{0, 4}, {4, 3}},   {{3, 0}, {0, 2}},    {{1, 37}, {37, 1}},
                                    {{20, 7}, {7, 33}}, {{64, 10}, {10, 64}}};
          std::vector<Sample> samples;
          for (const auto& pair : pairs)
            samples.push_back({{{dtype, pair[0]}, {dtype, pair[1]}}, {}, {}});
          return samples;
        },
    .tolerance_ulp = 2000,  // of sums that may cancel
});

const Op& op_batched = define({
    .name = "bmm",
    .kind = OpKind::kContraction,
    .inputs = 2,
    .type = [](const Signature& s) { return product_type(s, 3); },
    .lowering = kernels::lower(kernels::ContractionLowering{}),
    .gradient = product_gradient,
    .saves_inputs = 3,
    .complex = complex_rules::contraction,
    .autocast = Precision::kShort,
    .has_inplace = false,
    .reference = product_reference,
    .domain = {-1, 1},
    .dtypes = numeric_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {2, 3, 4}}, {dtype, {2, 4, 5}}}, {}, {}},
                                     {{{dtype, {1, 9, 8}}, {dtype, {1, 8, 11}}}, {}, {}},
                                     {{{dtype, {0, 3, 4}}, {dtype, {0, 4, 5}}}, {}, {}},
                                     {{{dtype, {3, 2, 0}}, {dtype, {3, 0, 5}}}, {}, {}}};
        },
    .tolerance_ulp = 2000,
});

// Both operands have at least two axes and at least one more than two.
Tensor batched(const Tensor& a, const Tensor& b, Site site) {
  const Shape &left = type_of(a).sizes, &right = type_of(b).sizes;
  const std::size_t a_lead = left.size() - 2, b_lead = right.size() - 2;
  if (b_lead == 0) {  // the rows of all batches are the rows of one product
    Shape sizes = left;
    const Tensor rows = reshape({a, site}, {-1, left.back()});
    sizes.back() = right.back();
    return reshape({mm({rows, site}, b), site}, sizes);
  }
  const Shape batch = broadcast_of("matmul", IntArrayRef(left).slice(0, a_lead),
                                   IntArrayRef(right).slice(0, b_lead));
  const auto flattened = [&](const Tensor& x, const Shape& sizes, std::size_t lead) {
    const std::int64_t rows = sizes[lead], columns = sizes[lead + 1];
    Shape full = batch;
    full.push_back(rows);
    full.push_back(columns);
    const Tensor expanded = full == sizes ? x : expand({x, site}, full);
    return reshape({expanded, site}, {element_count(batch), rows, columns});
  };
  const Tensor product = bmm({flattened(a, left, a_lead), site}, flattened(b, right, b_lead));
  Shape sizes = batch;
  sizes.push_back(left[a_lead]);
  sizes.push_back(right.back());
  return reshape({product, site}, sizes);
}

}  // namespace

Tensor mm(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor bmm(Arg self, const Tensor& other) { return call(op_batched, self, other); }
Tensor matmul(Arg self, const Tensor& other) {
  const CallFrame frame(self.site);
  const Site site = self.site;
  const std::size_t a = checked("matmul", *self.tensor).geometry.sizes.size();
  const std::size_t b = checked("matmul", other).geometry.sizes.size();
  GROOVE_CHECK(a > 0 && b > 0, "matmul: a 0-d operand; multiply numbers with mul");
  if (a == 2 && b == 2) return mm(self, other);
  // a vector becomes a matrix of one row or column, whose axis is taken out again
  if (a == 1)
    return squeeze({matmul({self.tensor->unsqueeze(0, site), site}, other), site}, b == 1 ? 0 : -2);
  if (b == 1) return squeeze({matmul(self, other.unsqueeze(1, site)), site}, -1);
  return batched(*self.tensor, other, site);
}
Tensor dot(Arg self, const Tensor& other) {
  const CallFrame frame(self.site);
  const Shape &a = checked("dot", *self.tensor).geometry.sizes,
              &b = checked("dot", other).geometry.sizes;
  GROOVE_CHECK(a.size() == 1 && b.size() == 1 && a == b,
               "dot: shapes {} and {} must be equal and 1-d", to_string(a), to_string(b));
  return matmul(self, other);
}

Tensor ReductionMethods::matmul(const Tensor& other, Site site) const {
  return groove::matmul({self(), site}, other);
}
Tensor ReductionMethods::mm(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor ReductionMethods::bmm(const Tensor& other, Site site) const {
  return call(op_batched, {self(), site}, other);
}
Tensor ReductionMethods::dot(const Tensor& other, Site site) const {
  return groove::dot({self(), site}, other);
}

}  // namespace groove
