// bilinear: a product with each input in turn.
#include "groove/ops/contractions.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {

Tensor bilinear(Arg input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  const SiteScope scope(input1.site);
  const Shape a = checked("bilinear", *input1.tensor).geometry.sizes,
              b = checked("bilinear", input2).geometry.sizes,
              w = checked("bilinear", weight).geometry.sizes;
  GROOVE_CHECK(!a.empty() && a.size() == b.size() &&
                   IntArrayRef(a).slice(0, a.size() - 1) == IntArrayRef(b).slice(0, a.size() - 1),
               "bilinear: inputs {} and {} must agree in all but the last size", to_string(a),
               to_string(b));
  GROOVE_CHECK(w.size() == 3 && w[1] == a.back() && w[2] == b.back(),
               "bilinear: weight {} does not fit inputs {} and {}; it must be [o, {}, {}]",
               to_string(w), to_string(a), to_string(b), a.back(), b.back());
  GROOVE_CHECK(!bias.defined() || bias.sizes() == IntArrayRef({w[0]}),
               "bilinear: bias {} does not fit weight {}", to_string(bias.sizes()), to_string(w));
  const std::int64_t o = w[0], m = w[1], n = w[2];
  Shape sizes = a;
  sizes.back() = o;
  const std::int64_t rows = element_count(IntArrayRef(a).slice(0, a.size() - 1));
  const Tensor first = reshape(*input1.tensor, {rows, m}), second = reshape(input2, {rows, 1, n});
  const Tensor matrix = reshape(permute(weight, {1, 0, 2}), {m, o * n});
  const Tensor forms = sum(reshape(mm(first, matrix), {rows, o, n}) * second, 2);
  return reshape(bias.defined() ? forms + bias : forms, sizes);
}

}  // namespace groove
