// bitwise_xor: the bits that just one of the operands has.
#include "kernels/ops/bitwise.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

const BitwiseOps ops = define_bitwise(
    "bitwise_xor", "bitwise_xor_scalar", [](kernels::Expr a, kernels::Expr b) { return a ^ b; },
    [](double a, double b) {
      return static_cast<double>(static_cast<std::int64_t>(a) ^ static_cast<std::int64_t>(b));
    });

}  // namespace

Tensor bitwise_xor(Arg self, const Tensor& other) { return call(ops.tensor, self, other); }
Tensor bitwise_xor(Arg self, Scalar other) { return call(ops.scalar, self, other); }
Tensor operator^(Arg a, const Tensor& b) { return call(ops.tensor, a, b); }
Tensor operator^(Arg a, Scalar b) { return call(ops.scalar, a, b); }
Tensor operator^(Scalar a, Arg b) { return call(ops.scalar, b, a); }
Tensor& operator^=(Arg a, const Tensor& b) {
  return call_inplace(ops.tensor, writable(*a.tensor), {b}, a.site);
}
Tensor MathMethods::bitwise_xor(const Tensor& other, Site site) const {
  return call(ops.tensor, {self(), site}, other);
}
Tensor MathMethods::bitwise_xor(Scalar other, Site site) const {
  return call(ops.scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::bitwise_xor_(const Tensor& other, Site site) const {
  return call_inplace(ops.tensor, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::bitwise_xor_(Scalar other, Site site) const {
  return call_inplace(ops.scalar, writable(self()), {}, site, {}, other);
}
Tensor InPlaceMethods::__xor__(const Tensor& other, Site site) const {
  return call(ops.tensor, {self(), site}, other);
}
Tensor InPlaceMethods::__xor__(Scalar other, Site site) const {
  return call(ops.scalar, {self(), site}, other);
}
Tensor& InPlaceMethods::__ixor__(const Tensor& other, Site site) const {
  return call_inplace(ops.tensor, writable(self()), {other}, site);
}
Tensor& InPlaceMethods::__ixor__(Scalar other, Site site) const {
  return call_inplace(ops.scalar, writable(self()), {}, site, {}, other);
}

Tensor bitwise_xor(Scalar self, Arg other) {
  const CallFrame frame(other.site);
  checked("bitwise_xor", *other.tensor);
  return bitwise_xor(Arg(number_beside(*other.tensor, self, other.site), other.site),
                     *other.tensor);
}

}  // namespace groove
