// mv, outer, addmm and its like: products spelled with others.
#include "kernels/ops/added_product.h"

#include "groove/ops/contractions.h"
#include "groove/ops/products.h"
#include "groove/ops/views.h"

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
  GROOVE_CHECK(a.size() == 1 && b.size() == 1, "outer: shapes {} and {} must be 1-d", to_string(a),
               to_string(b));
  return mul({self.tensor->unsqueeze(1, self.site), self.site}, vec2);
}

Tensor ger(Arg self, const Tensor& vec2) {
  const CallFrame frame(self.site);
  return outer(self, vec2);
}

Tensor added_product(const char* op, const Tensor& self, const Tensor& product, Scalar beta,
                     Scalar alpha) {
  const auto is_number = [](Scalar x, double value) {
    return x.origin() < 0 && x.to_double() == value;
  };
  const Shape &sizes = type_of(product).sizes, &own = checked(op, self).geometry.sizes;
  GROOVE_CHECK(broadcast_of(op, own, sizes) == sizes,
               "{}: self {} does not broadcast to the product {}", op, to_string(own),
               to_string(sizes));
  const Tensor scaled = is_number(alpha, 1) ? product : mul(product, alpha);
  if (is_number(beta, 0)) return scaled;
  return is_number(beta, 1) ? add(scaled, self) : add(scaled, mul(self, beta));
}

Tensor addmm(Arg self, const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha) {
  const SiteScope scope(self.site);
  return added_product("addmm", *self.tensor, mm({mat1, self.site}, mat2), beta, alpha);
}
Tensor addmv(Arg self, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) {
  const SiteScope scope(self.site);
  return added_product("addmv", *self.tensor, mv(mat, vec), beta, alpha);
}
Tensor addr(Arg self, const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha) {
  const SiteScope scope(self.site);
  return added_product("addr", *self.tensor, outer(vec1, vec2), beta, alpha);
}
Tensor addbmm(Arg self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  const SiteScope scope(self.site);
  return added_product("addbmm", *self.tensor, sum(bmm(batch1, batch2), 0), beta, alpha);
}
Tensor baddbmm(Arg self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  const SiteScope scope(self.site);
  return added_product("baddbmm", *self.tensor, bmm(batch1, batch2), beta, alpha);
}

Tensor ReductionMethods::mv(const Tensor& vec, Site site) const {
  return groove::mv({self(), site}, vec);
}
Tensor ReductionMethods::addmm(const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha,
                               Site site) const {
  return groove::addmm({self(), site}, mat1, mat2, beta, alpha);
}

namespace {

// In place: the result has self's own shape.
Tensor& replaced(const char* op, const Tensor& self, const Tensor& result, Site site) {
  GROOVE_CHECK(type_of(self).sizes == type_of(result).sizes, "{}: self {} would have to become {}",
               op, to_string(type_of(self).sizes), to_string(type_of(result).sizes));
  return writable(self).copy_(result, false, site);
}

}  // namespace

Tensor& LinearAlgebraMethods::addmm_(const Tensor& mat1, const Tensor& mat2, Scalar beta,
                                     Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return replaced("addmm_", self(), groove::addmm({self(), site}, mat1, mat2, beta, alpha), site);
}
Tensor LinearAlgebraMethods::addmv(const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha,
                                   Site site) const {
  return groove::addmv({self(), site}, mat, vec, beta, alpha);
}
Tensor& LinearAlgebraMethods::addmv_(const Tensor& mat, const Tensor& vec, Scalar beta,
                                     Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return replaced("addmv_", self(), groove::addmv({self(), site}, mat, vec, beta, alpha), site);
}
Tensor LinearAlgebraMethods::addr(const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha,
                                  Site site) const {
  return groove::addr({self(), site}, vec1, vec2, beta, alpha);
}
Tensor& LinearAlgebraMethods::addr_(const Tensor& vec1, const Tensor& vec2, Scalar beta,
                                    Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return replaced("addr_", self(), groove::addr({self(), site}, vec1, vec2, beta, alpha), site);
}
Tensor LinearAlgebraMethods::addbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta,
                                    Scalar alpha, Site site) const {
  return groove::addbmm({self(), site}, batch1, batch2, beta, alpha);
}
Tensor& LinearAlgebraMethods::addbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta,
                                      Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return replaced("addbmm_", self(), groove::addbmm({self(), site}, batch1, batch2, beta, alpha),
                  site);
}
Tensor LinearAlgebraMethods::baddbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta,
                                     Scalar alpha, Site site) const {
  return groove::baddbmm({self(), site}, batch1, batch2, beta, alpha);
}
Tensor& LinearAlgebraMethods::baddbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta,
                                       Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return replaced("baddbmm_", self(), groove::baddbmm({self(), site}, batch1, batch2, beta, alpha),
                  site);
}
Tensor LinearAlgebraMethods::outer(const Tensor& vec2, Site site) const {
  return groove::outer({self(), site}, vec2);
}
Tensor LinearAlgebraMethods::ger(const Tensor& vec2, Site site) const {
  const CallFrame frame(site);
  return groove::outer({self(), site}, vec2);
}

}  // namespace groove
