// bitwise_or: the bits that one of the operands has.
#include "kernels/ops/bitwise.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

const BitwiseOps ops = define_bitwise(
    "bitwise_or", "bitwise_or_scalar", [](kernels::Expr a, kernels::Expr b) { return a | b; },
    [](double a, double b) {
      return static_cast<double>(static_cast<std::int64_t>(a) | static_cast<std::int64_t>(b));
    });

}  // namespace

Tensor bitwise_or(Arg self, const Tensor& other) { return call(ops.tensor, self, other); }
Tensor bitwise_or(Arg self, Scalar other) { return call(ops.scalar, self, other); }
Tensor operator|(Arg a, const Tensor& b) { return call(ops.tensor, a, b); }
Tensor operator|(Arg a, Scalar b) { return call(ops.scalar, a, b); }
Tensor operator|(Scalar a, Arg b) { return call(ops.scalar, b, a); }
Tensor& operator|=(Arg a, const Tensor& b) {
  return call_inplace(ops.tensor, writable(*a.tensor), {b}, a.site);
}
Tensor MathMethods::bitwise_or(const Tensor& other, Site site) const {
  return call(ops.tensor, {self(), site}, other);
}
Tensor MathMethods::bitwise_or(Scalar other, Site site) const {
  return call(ops.scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::bitwise_or_(const Tensor& other, Site site) const {
  return call_inplace(ops.tensor, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::bitwise_or_(Scalar other, Site site) const {
  return call_inplace(ops.scalar, writable(self()), {}, site, {}, other);
}
Tensor InPlaceMethods::__or__(const Tensor& other, Site site) const {
  return call(ops.tensor, {self(), site}, other);
}
Tensor InPlaceMethods::__or__(Scalar other, Site site) const {
  return call(ops.scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::__ior__(const Tensor& other, Site site) const {
  return call_inplace(ops.tensor, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::__ior__(Scalar other, Site site) const {
  return call_inplace(ops.scalar, writable(self()), {}, site, {}, other);
}

Tensor bitwise_or(Scalar self, Arg other) {
  const CallFrame frame(other.site);
  checked("bitwise_or", *other.tensor);
  return bitwise_or(Arg(number_beside(*other.tensor, self, other.site), other.site), *other.tensor);
}

}  // namespace groove
