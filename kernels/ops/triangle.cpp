// tril and triu: a matrix with zeros on one side of a diagonal. The mask is compared from indices,
// never stored.
#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum { kDiagonal, kIsUpper };

const Op& op = define({
    .name = "triangle",
    .kind = OpKind::kComposite,
    .attributes = {{"diagonal", AttrType::kInt}, {"is_upper", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      GROOVE_CHECK(s.inputs[0].sizes.size() >= 2, "triangle: shape {} has no matrix",
                   to_string(s.inputs[0].sizes));
      constexpr std::int64_t kFarthest = std::int64_t{1} << 60;
      const std::int64_t diagonal = s.attr().integer(kDiagonal);
      GROOVE_CHECK(diagonal >= -kFarthest && diagonal <= kFarthest, "triangle: diagonal {}",
                   diagonal);
      return same_as_input(s);
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Shape& sizes = s.inputs[0].sizes;
          const std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
          // column - row against the diagonal; what lies beyond it is cleared
          const Tensor bound = arange(Scalar(s.attr().integer(kDiagonal)),
                                      Scalar(s.attr().integer(kDiagonal) + rows), kLong)
                                   .unsqueeze(1);
          const Tensor column = arange(Scalar(columns), kLong);
          const Tensor beyond = s.attr().boolean(kIsUpper) ? lt(column, bound) : gt(column, bound);
          return Tensors{masked_fill(inputs[0], beyond, 0)};
        }}),
    .gradient =
        [](const Grad& g) {
          return Tensors{call(g.op, {g.cotangent()}, Site::current(), g.attrs)};
        },
    .complex = complex_rules::on_parts,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const std::int64_t diagonal = s.attr().integer(kDiagonal);
          std::size_t position = 0;
          return std::vector<Reference>{make_reference(inputs[0].type, [&](const Shape& index) {
            const double value = inputs[0].values[position++];
            const std::int64_t at = index.back() - index[index.size() - 2];
            return (s.attr().boolean(kIsUpper) ? at >= diagonal : at <= diagonal) ? value : 0;
          })};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const bool is_upper : {false, true}) {
            for (const std::int64_t diagonal : {0, -1, 2}) {
              for (const Shape& sizes : {Shape{3, 3}, Shape{2, 3, 5}, Shape{1, 1}, Shape{0, 4}})
                samples.push_back({{{dtype, sizes}}, Attrs().add(diagonal).add(is_upper), {}});
            }
          }
          return samples;
        },
    .tolerance_ulp = 0,
});

Tensor triangle(const char* name, Arg self, std::int64_t diagonal, bool is_upper) {
  const Shape& sizes = checked(name, *self.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= 2, "{}: shape {} has no rows and columns", name, to_string(sizes));
  return call(op, {*self.tensor}, self.site, Attrs().add(diagonal).add(is_upper));
}

}  // namespace

Tensor tril(Arg self, std::int64_t diagonal) {
  const CallFrame frame(self.site);
  return triangle("tril", self, diagonal, false);
}
Tensor triu(Arg self, std::int64_t diagonal) {
  const CallFrame frame(self.site);
  return triangle("triu", self, diagonal, true);
}
Tensor ViewMethods::tril(std::int64_t diagonal, Site site) const {
  const CallFrame frame(site);
  return triangle("tril", {self(), site}, diagonal, false);
}
Tensor ViewMethods::triu(std::int64_t diagonal, Site site) const {
  const CallFrame frame(site);
  return triangle("triu", {self(), site}, diagonal, true);
}

}  // namespace groove
