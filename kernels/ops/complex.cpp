// Complex tensors from real ones and back, and what has no meaning for others.
#include "groove/ops/complex.h"

#include <cmath>
#include <numbers>

#include "groove/ops/creation.h"
#include "groove/ops/elementwise.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"

namespace groove {
namespace {

// |x + iy|. Its gradient is the direction of the number, and 0 where that has none.
const Op& op_magnitude = define({
    .name = "magnitude",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      return {{s.inputs[0]}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::CompositeLowering{
        [](const Signature&, ArrayRef<Tensor> x) { return Tensors{hypot(x[0], x[1])}; }}),
    .gradient =
        [](const Grad& g) {
          const Tensor length = g.output();
          const Tensor share = div(g.cotangent(), masked_fill(length, eq(length, 0), 1));
          Tensors result(2);
          for (std::size_t i = 0; i < 2; ++i)
            if (g.needs[i]) result[i] = mul(share, g.input(i));
          return result;
        },
    .saves_inputs = 3,
    .saves_outputs = 1,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& x) {
          Reference result{s.inputs[0], {}};
          for (std::size_t i = 0; i < x[0].values.size(); ++i)
            result.values.push_back(std::hypot(x[0].values[i], x[1].values[i]));
          return std::vector<Reference>{result};
        },
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {3, 4}}, {dtype, {3, 4}}}, {}, {}},
                                     {{{dtype, {}}, {dtype, {}}}, {}, {}},
                                     {{{dtype, {0, 2}}, {dtype, {0, 2}}}, {}, {}}};
        },
});

void check_parts(const char* op, const Tensor& first, const Tensor& second) {
  const ScalarType dtype = checked(op, first).dtype;
  GROOVE_CHECK(dtype == kFloat || dtype == kDouble,
               "{}: the parts are {}; complex numbers are made of Float or Double", op,
               name(dtype));
  GROOVE_CHECK(dtype == checked(op, second).dtype, "{}: expected {} but got {} for the second part",
               op, name(dtype), name(second.scalar_type()));
}

}  // namespace

namespace complex_rules {

Tensor magnitude(const Tensor& z) {
  const Parts parts = parts_of(z);
  return call(op_magnitude, {parts.re, parts.im}, Site::current());
}

}  // namespace complex_rules

namespace detail {

Tensor complex_tensor(IntArrayRef size, const std::complex<double>& value, ScalarType dtype,
                      const TensorOptions& options, Site site) {
  const SiteScope scope(site, "full");
  if (dtype == ScalarType::Undefined) dtype = complex_dtype(get_default_dtype());
  dtype = options.dtype_opt().value_or(dtype);
  GROOVE_CHECK(is_complex(dtype),
               "full: {} has no imaginary part for a complex value; give a "
               "complex dtype or the real part",
               name(dtype));
  const TensorOptions part = options.dtype(real_dtype(dtype)).requires_grad(false);
  const Tensor result =
      complex_rules::joined(full(size, value.real(), part), full(size, value.imag(), part));
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}

Tensor complex_operand(const std::complex<double>& value, Arg operand) {
  const ScalarType dtype = checked("complex", *operand.tensor).dtype;
  const bool is_wide = real_dtype(dtype) == kDouble ||
                       (!is_floating(real_dtype(dtype)) && get_default_dtype() == kDouble);
  return complex_tensor({}, value, is_wide ? kComplexDouble : kComplexFloat, {}, operand.site);
}

}  // namespace detail

Tensor complex(Arg real, const Tensor& imag) {
  const SiteScope scope(real.site);
  check_parts("complex", *real.tensor, imag);
  return complex_rules::joined(*real.tensor, imag);
}

Tensor polar(Arg abs, const Tensor& angle) {
  const SiteScope scope(abs.site);
  check_parts("polar", *abs.tensor, angle);
  return complex_rules::joined(mul(*abs.tensor, cos(angle)), mul(*abs.tensor, sin(angle)));
}

Tensor view_as_real(Arg self) {
  const CallFrame frame(self.site);
  const ScalarType dtype = checked("view_as_real", *self.tensor).dtype;
  GROOVE_CHECK(is_complex(dtype), "view_as_real: a {} tensor is real already", name(dtype));
  return pair_of(*self.tensor);
}

Tensor view_as_complex(Arg self) {
  const CallFrame frame(self.site);
  const TensorImpl& impl = checked("view_as_complex", *self.tensor);
  GROOVE_CHECK(impl.dtype == kFloat || impl.dtype == kDouble,
               "view_as_complex: the tensor is {}; it must be Float or Double", name(impl.dtype));
  GROOVE_CHECK(!impl.geometry.sizes.empty() && impl.geometry.sizes.back() == 2,
               "view_as_complex: the tensor must have a last dimension of size 2, not shape {}",
               to_string(impl.geometry.sizes));
  GROOVE_CHECK(can_pair(impl.geometry),
               "view_as_complex: strides {} and offset {} do not keep two parts together; call "
               "contiguous() first",
               to_string(impl.geometry.strides), impl.geometry.offset);
  return from_pair(*self.tensor);
}

Tensor real(Arg self) {
  const SiteScope scope(self.site);
  checked("real", *self.tensor);
  return complex_rules::parts_of(*self.tensor).re;
}

Tensor imag(Arg self) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("imag", *self.tensor).dtype;
  GROOVE_CHECK(is_complex(dtype),
               "imag: not implemented for tensors with non-complex dtypes such as {}", name(dtype));
  return complex_rules::parts_of(*self.tensor).im;
}

Tensor conj(Arg self) {
  const SiteScope scope(self.site);
  checked("conj", *self.tensor);
  const complex_rules::Parts parts = complex_rules::parts_of(*self.tensor);
  return parts.im.defined() ? complex_rules::joined(parts.re, neg(parts.im)) : *self.tensor;
}
Tensor conj_physical(Arg self) {
  const SiteScope scope(self.site);
  return conj(self);
}
Tensor resolve_conj(Arg self) { return *self.tensor; }
Tensor resolve_neg(Arg self) { return *self.tensor; }

Tensor angle(Arg self) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("angle", *self.tensor).dtype;
  const complex_rules::Parts parts = complex_rules::parts_of(*self.tensor);
  if (!parts.im.defined()) {
    const Tensor x = is_floating(dtype) ? *self.tensor : self.tensor->to(get_default_dtype());
    return where(isnan(x), x, mul(lt(x, 0).to(x.scalar_type()), std::numbers::pi));
  }
  // At 0 the angle has no slope: the tape sees a number there.
  const Tensor is_zero = logical_and(eq(parts.re, 0), eq(parts.im, 0));
  const Tensor there = atan2(parts.im.detach(), parts.re.detach());
  const Tensor elsewhere =
      atan2(masked_fill(parts.im, is_zero, 0), masked_fill(parts.re, is_zero, 1));
  return where(is_zero, there, elsewhere);
}

Tensor DataMethods::conj(Site site) const { return groove::conj({self(), site}); }
Tensor DataMethods::conj_physical(Site site) const { return groove::conj({self(), site}); }
Tensor DataMethods::resolve_conj(Site) const { return self(); }
Tensor DataMethods::resolve_neg(Site) const { return self(); }
Tensor DataMethods::angle(Site site) const { return groove::angle({self(), site}); }

}  // namespace groove
