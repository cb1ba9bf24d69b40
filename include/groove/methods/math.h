// Elementwise methods of Tensor; each is the method form of the function of that name in
// groove/ops/math.h, where shapes, dtypes and errors are documented.
#pragma once

#include <optional>
#include <string_view>

#include "groove/detail/tensor_base.h"
#include "groove/generator.h"

namespace groove {

class MathMethods : public TensorBase {
 public:
  using TensorBase::TensorBase;

  Tensor add(const Tensor& other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor add(Scalar other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor& add_(const Tensor& other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor& add_(Scalar other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor sub(const Tensor& other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor sub(Scalar other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor& sub_(const Tensor& other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor& sub_(Scalar other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor mul(const Tensor& other, Site site = Site::current()) const;
  Tensor mul(Scalar other, Site site = Site::current()) const;
  Tensor& mul_(const Tensor& other, Site site = Site::current()) const;
  Tensor& mul_(Scalar other, Site site = Site::current()) const;
  Tensor div(const Tensor& other, Site site = Site::current()) const;
  Tensor div(Scalar other, Site site = Site::current()) const;
  Tensor div(const Tensor& other, std::optional<std::string_view> rounding_mode,
             Site site = Site::current()) const;
  Tensor div(Scalar other, std::optional<std::string_view> rounding_mode,
             Site site = Site::current()) const;
  Tensor floor_divide(const Tensor& other, Site site = Site::current()) const;
  Tensor floor_divide(Scalar other, Site site = Site::current()) const;
  Tensor& div_(const Tensor& other, Site site = Site::current()) const;
  Tensor& div_(Scalar other, Site site = Site::current()) const;
  Tensor& div_(const Tensor& other, std::optional<std::string_view> rounding_mode,
               Site site = Site::current()) const;
  Tensor& div_(Scalar other, std::optional<std::string_view> rounding_mode,
               Site site = Site::current()) const;
  Tensor pow(Scalar exponent, Site site = Site::current()) const;
  Tensor pow(const Tensor& exponent, Site site = Site::current()) const;
  Tensor& pow_(Scalar exponent, Site site = Site::current()) const;
  Tensor& pow_(const Tensor& exponent, Site site = Site::current()) const;
  Tensor minimum(const Tensor& other, Site site = Site::current()) const;
  Tensor maximum(const Tensor& other, Site site = Site::current()) const;

  Tensor neg(Site site = Site::current()) const;
  Tensor& neg_(Site site = Site::current()) const;
  Tensor abs(Site site = Site::current()) const;
  Tensor& abs_(Site site = Site::current()) const;
  Tensor exp(Site site = Site::current()) const;
  Tensor& exp_(Site site = Site::current()) const;
  Tensor log(Site site = Site::current()) const;
  Tensor& log_(Site site = Site::current()) const;
  Tensor sqrt(Site site = Site::current()) const;
  Tensor& sqrt_(Site site = Site::current()) const;
  Tensor rsqrt(Site site = Site::current()) const;
  Tensor& rsqrt_(Site site = Site::current()) const;
  Tensor reciprocal(Site site = Site::current()) const;
  Tensor& reciprocal_(Site site = Site::current()) const;
  Tensor square(Site site = Site::current()) const;
  Tensor& square_(Site site = Site::current()) const;
  Tensor log1p(Site site = Site::current()) const;
  Tensor& log1p_(Site site = Site::current()) const;
  Tensor expm1(Site site = Site::current()) const;
  Tensor& expm1_(Site site = Site::current()) const;
  Tensor erf(Site site = Site::current()) const;
  Tensor& erf_(Site site = Site::current()) const;
  Tensor erfc(Site site = Site::current()) const;
  Tensor& erfc_(Site site = Site::current()) const;
  Tensor floor(Site site = Site::current()) const;
  Tensor& floor_(Site site = Site::current()) const;
  Tensor ceil(Site site = Site::current()) const;
  Tensor& ceil_(Site site = Site::current()) const;
  Tensor round(Site site = Site::current()) const;
  Tensor& round_(Site site = Site::current()) const;
  /// To so many digits behind the point, or in front of it where negative.
  Tensor round(std::int64_t decimals, Site site = Site::current()) const;
  Tensor& round_(std::int64_t decimals, Site site = Site::current()) const;
  Tensor trunc(Site site = Site::current()) const;
  Tensor& trunc_(Site site = Site::current()) const;
  Tensor sign(Site site = Site::current()) const;
  Tensor& sign_(Site site = Site::current()) const;
  Tensor isnan(Site site = Site::current()) const;
  Tensor isinf(Site site = Site::current()) const;
  Tensor isfinite(Site site = Site::current()) const;
  Tensor remainder(const Tensor& other, Site site = Site::current()) const;
  Tensor remainder(Scalar other, Site site = Site::current()) const;
  Tensor fmod(const Tensor& other, Site site = Site::current()) const;
  Tensor fmod(Scalar other, Site site = Site::current()) const;
  Tensor frac(Site site = Site::current()) const;
  Tensor lerp(const Tensor& end, Scalar weight, Site site = Site::current()) const;
  Tensor& lerp_(const Tensor& end, Scalar weight, Site site = Site::current()) const;
  Tensor lerp(const Tensor& end, const Tensor& weight, Site site = Site::current()) const;
  Tensor& lerp_(const Tensor& end, const Tensor& weight, Site site = Site::current()) const;
  Tensor addcmul(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1,
                 Site site = Site::current()) const;
  Tensor& addcmul_(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1,
                   Site site = Site::current()) const;
  Tensor addcdiv(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1,
                 Site site = Site::current()) const;
  Tensor& addcdiv_(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1,
                   Site site = Site::current()) const;
  Tensor logical_not(Site site = Site::current()) const;
  Tensor logical_and(const Tensor& other, Site site = Site::current()) const;
  Tensor logical_or(const Tensor& other, Site site = Site::current()) const;
  Tensor logical_xor(const Tensor& other, Site site = Site::current()) const;
  Tensor bitwise_not(Site site = Site::current()) const;
  Tensor bitwise_and(const Tensor& other, Site site = Site::current()) const;
  Tensor bitwise_and(Scalar other, Site site = Site::current()) const;
  Tensor bitwise_or(const Tensor& other, Site site = Site::current()) const;
  Tensor bitwise_or(Scalar other, Site site = Site::current()) const;
  Tensor bitwise_xor(const Tensor& other, Site site = Site::current()) const;
  Tensor bitwise_xor(Scalar other, Site site = Site::current()) const;
  bool equal(const Tensor& other, Site site = Site::current()) const;
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false,
                Site site = Site::current()) const;
  Tensor tanh(Site site = Site::current()) const;
  Tensor& tanh_(Site site = Site::current()) const;
  Tensor sigmoid(Site site = Site::current()) const;
  Tensor& sigmoid_(Site site = Site::current()) const;
  Tensor sin(Site site = Site::current()) const;
  Tensor& sin_(Site site = Site::current()) const;
  Tensor cos(Site site = Site::current()) const;
  Tensor& cos_(Site site = Site::current()) const;
  Tensor tan(Site site = Site::current()) const;
  Tensor& tan_(Site site = Site::current()) const;
  Tensor asin(Site site = Site::current()) const;
  Tensor& asin_(Site site = Site::current()) const;
  Tensor acos(Site site = Site::current()) const;
  Tensor& acos_(Site site = Site::current()) const;
  Tensor atan(Site site = Site::current()) const;
  Tensor& atan_(Site site = Site::current()) const;
  Tensor sinh(Site site = Site::current()) const;
  Tensor& sinh_(Site site = Site::current()) const;
  Tensor cosh(Site site = Site::current()) const;
  Tensor& cosh_(Site site = Site::current()) const;
  Tensor exp2(Site site = Site::current()) const;
  Tensor& exp2_(Site site = Site::current()) const;
  Tensor log2(Site site = Site::current()) const;
  Tensor& log2_(Site site = Site::current()) const;
  Tensor log10(Site site = Site::current()) const;
  Tensor& log10_(Site site = Site::current()) const;
  Tensor erfinv(Site site = Site::current()) const;
  Tensor& erfinv_(Site site = Site::current()) const;
  Tensor lgamma(Site site = Site::current()) const;
  Tensor& lgamma_(Site site = Site::current()) const;
  Tensor digamma(Site site = Site::current()) const;
  Tensor& digamma_(Site site = Site::current()) const;
  Tensor atan2(const Tensor& other, Site site = Site::current()) const;
  Tensor hardshrink(Scalar lambd = 0.5, Site site = Site::current()) const;
  Tensor prelu(const Tensor& weight, Site site = Site::current()) const;
  Tensor relu(Site site = Site::current()) const;
  Tensor& relu_(Site site = Site::current()) const;
  Tensor clamp(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt,
               Site site = Site::current()) const;
  Tensor& clamp_(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt,
                 Site site = Site::current()) const;
  /// Between tensors that broadcast; an undefined one does not bound.
  Tensor clamp(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
               Site site = Site::current()) const;
  Tensor& clamp_(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                 Site site = Site::current()) const;
  Tensor clamp(const Tensor& min, Site site = Site::current()) const;
  Tensor& clamp_(const Tensor& min, Site site = Site::current()) const;
  Tensor clamp_min(Scalar min, Site site = Site::current()) const;
  Tensor& clamp_min_(Scalar min, Site site = Site::current()) const;
  Tensor clamp_max(Scalar max, Site site = Site::current()) const;
  Tensor& clamp_max_(Scalar max, Site site = Site::current()) const;
  Tensor clamp_min(const Tensor& min, Site site = Site::current()) const;
  Tensor& clamp_min_(const Tensor& min, Site site = Site::current()) const;
  Tensor clamp_max(const Tensor& max, Site site = Site::current()) const;
  Tensor& clamp_max_(const Tensor& max, Site site = Site::current()) const;

  Tensor eq(const Tensor& other, Site site = Site::current()) const;
  Tensor eq(Scalar other, Site site = Site::current()) const;
  Tensor ne(const Tensor& other, Site site = Site::current()) const;
  Tensor ne(Scalar other, Site site = Site::current()) const;
  Tensor lt(const Tensor& other, Site site = Site::current()) const;
  Tensor lt(Scalar other, Site site = Site::current()) const;
  Tensor le(const Tensor& other, Site site = Site::current()) const;
  Tensor le(Scalar other, Site site = Site::current()) const;
  Tensor gt(const Tensor& other, Site site = Site::current()) const;
  Tensor gt(Scalar other, Site site = Site::current()) const;
  Tensor ge(const Tensor& other, Site site = Site::current()) const;
  Tensor ge(Scalar other, Site site = Site::current()) const;

  /// where(condition, *this, other)
  Tensor where(const Tensor& condition, const Tensor& other, Site site = Site::current()) const;
  Tensor where(const Tensor& condition, Scalar other, Site site = Site::current()) const;
  Tensor masked_fill(const Tensor& mask, Scalar value, Site site = Site::current()) const;
  Tensor masked_fill(const Tensor& mask, const Tensor& value, Site site = Site::current()) const;
  Tensor& masked_fill_(const Tensor& mask, const Tensor& value, Site site = Site::current()) const;
  Tensor& masked_fill_(const Tensor& mask, Scalar value, Site site = Site::current()) const;

  /// *this itself when it has that dtype and `copy` is false.
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false,
            Site site = Site::current()) const;
  // With an order of memory, which must be Contiguous or Preserve.
  Tensor to(ScalarType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> format,
            Site site = Site::current()) const;
  Tensor to(Device device, ScalarType dtype, bool non_blocking, bool copy,
            std::optional<MemoryFormat> format, Site site = Site::current()) const;
  Tensor to(const TensorOptions& options, bool non_blocking, bool copy,
            std::optional<MemoryFormat> format, Site site = Site::current()) const;
  Tensor to(const Tensor& other, bool non_blocking, bool copy, std::optional<MemoryFormat> format,
            Site site = Site::current()) const;
  Tensor to(Device device, bool non_blocking = false, bool copy = false,
            Site site = Site::current()) const;
  Tensor to(DeviceType device, bool non_blocking = false, bool copy = false,
            Site site = Site::current()) const;
  Tensor to(Device device, ScalarType dtype, bool non_blocking = false, bool copy = false,
            Site site = Site::current()) const;
  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false,
            Site site = Site::current()) const;
  /// dtype and device of `other`
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            Site site = Site::current()) const;
  Tensor to(TypeMeta dtype, bool non_blocking = false, bool copy = false,
            Site site = Site::current()) const;
  Tensor toType(ScalarType dtype, Site site = Site::current()) const;
  Tensor type_as(const Tensor& other, Site site = Site::current()) const;
  Tensor half(Site site = Site::current()) const;
  Tensor bfloat16(Site site = Site::current()) const;
  Tensor cpu(Site site = Site::current()) const;
  Tensor cuda(Site site = Site::current()) const;  // throws: there is no GPU backend yet

  Tensor clone(Site site = Site::current()) const;
  Tensor clone(std::optional<MemoryFormat> format, Site site = Site::current()) const;
  Tensor contiguous(Site site = Site::current()) const;
  Tensor contiguous(MemoryFormat format, Site site = Site::current()) const;
  Tensor& copy_(const Tensor& source, bool non_blocking = false, Site site = Site::current()) const;
  Tensor& fill_(Scalar value, Site site = Site::current()) const;
  Tensor& fill_(const Tensor& value, Site site = Site::current()) const;
  Tensor& zero_(Site site = Site::current()) const;

  // In-place random fills; each is one draw of the global generator.
  Tensor& uniform_(double from, double to, const std::optional<Generator>& generator,
                   Site site = Site::current()) const;
  Tensor& uniform_(double from = 0, double to = 1, Site site = Site::current()) const;
  Tensor& normal_(double mean, double std, const std::optional<Generator>& generator,
                  Site site = Site::current()) const;
  Tensor& normal_(double mean = 0, double std = 1, Site site = Site::current()) const;
  /// Whole numbers from `from` to below `to`; without bounds all that the dtype holds exactly.
  Tensor& random_(const std::optional<Generator>& generator, Site site = Site::current()) const;
  Tensor& random_(std::int64_t to, const std::optional<Generator>& generator,
                  Site site = Site::current()) const;
  Tensor& random_(std::int64_t from, std::optional<std::int64_t> to,
                  const std::optional<Generator>& generator, Site site = Site::current()) const;
  Tensor& random_(Site site = Site::current()) const;
  Tensor& random_(std::int64_t to, Site site = Site::current()) const;
  Tensor& random_(std::int64_t from, std::optional<std::int64_t> to,
                  Site site = Site::current()) const;
  /// 1 with probability p, else 0.
  Tensor& bernoulli_(double p, const std::optional<Generator>& generator,
                     Site site = Site::current()) const;
  Tensor& bernoulli_(const Tensor& p, const std::optional<Generator>& generator,
                     Site site = Site::current()) const;
  Tensor& bernoulli_(double p = 0.5, Site site = Site::current()) const;
  Tensor& bernoulli_(const Tensor& p, Site site = Site::current()) const;
};

}  // namespace groove
