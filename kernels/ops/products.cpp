// mv, outer and addmm: products spelled with others.
#include "groove/ops/contractions.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {

Tensor mv(Arg self, const Tensor& vec) {
  const CallFrame frame(self.site);
  const Shape &a = checked("mv", *self.tensor).geometry.sizes,
              &b = checked("mv", vec).geometry.sizes;
  GROOVE_CHECK(a.size() == 2 && b.size() == 1 && a[1] == b[0],
               "mv: shapes {} and {} do not fit; they must be [m, k] and [k]", to_string(a),
               to_string(b));
  return matmul(self, vec);
}

Tensor outer(Arg self, const Tensor& vec2) {
  const CallFrame frame(self.site);
  const Shape &a = checked("outer", *self.tensor).geometry.sizes,
              &b = checked("outer", vec2).geometry.sizes;
  GROOVE_CHECK(a.size() == 1 && b.size() == 1, "outer: shapes {} and {} must be 1-d",
               to_string(a), to_string(b));
  return mul({self.tensor->unsqueeze(1, self.site), self.site}, vec2);
}

// A factor of 0 leaves self out, even where it is NaN.
Tensor addmm(Arg self, const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha) {
  const SiteScope scope(self.site);
  const auto is_number = [](Scalar x, double value) {
    return x.origin() < 0 && x.to_double() == value;
  };
  const Tensor product = mm({mat1, self.site}, mat2);
  const Shape &sizes = type_of(product).sizes,
              &own = checked("addmm", *self.tensor).geometry.sizes;
  GROOVE_CHECK(broadcast_of("addmm", own, sizes) == sizes,
               "addmm: self {} does not broadcast to the product {}", to_string(own),
               to_string(sizes));
  const Tensor scaled = is_number(alpha, 1) ? product : mul(product, alpha);
  if (is_number(beta, 0)) return scaled;
  return is_number(beta, 1) ? add(scaled, *self.tensor)
                            : add(scaled, mul(*self.tensor, beta));
}

Tensor ReductionMethods::mv(const Tensor& vec, Site site) const {
  return groove::mv({self(), site}, vec);
}
Tensor ReductionMethods::addmm(const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha,
                               Site site) const {
  return groove::addmm({self(), site}, mat1, mat2, beta, alpha);
}

}  // namespace groove
