// In-place methods of Tensor whose operators have their functions in groove/ops/math.h, and other
// names of methods. What a comparison or a truth value gives takes the dtype of the tensor.
#pragma once

#include "groove/methods/math.h"

namespace groove {

class InPlaceMethods : public MathMethods {
 public:
  using MathMethods::MathMethods;

  Tensor& remainder_(const Tensor& other, Site site = Site::current()) const;
  Tensor& remainder_(Scalar other, Site site = Site::current()) const;
  Tensor& fmod_(const Tensor& other, Site site = Site::current()) const;
  Tensor& fmod_(Scalar other, Site site = Site::current()) const;
  Tensor& eq_(const Tensor& other, Site site = Site::current()) const;
  Tensor& eq_(Scalar other, Site site = Site::current()) const;
  Tensor& ne_(const Tensor& other, Site site = Site::current()) const;
  Tensor& ne_(Scalar other, Site site = Site::current()) const;
  Tensor& lt_(const Tensor& other, Site site = Site::current()) const;
  Tensor& lt_(Scalar other, Site site = Site::current()) const;
  Tensor& le_(const Tensor& other, Site site = Site::current()) const;
  Tensor& le_(Scalar other, Site site = Site::current()) const;
  Tensor& gt_(const Tensor& other, Site site = Site::current()) const;
  Tensor& gt_(Scalar other, Site site = Site::current()) const;
  Tensor& ge_(const Tensor& other, Site site = Site::current()) const;
  Tensor& ge_(Scalar other, Site site = Site::current()) const;
  Tensor& bitwise_and_(const Tensor& other, Site site = Site::current()) const;
  Tensor& bitwise_and_(Scalar other, Site site = Site::current()) const;
  Tensor& bitwise_or_(const Tensor& other, Site site = Site::current()) const;
  Tensor& bitwise_or_(Scalar other, Site site = Site::current()) const;
  Tensor& bitwise_xor_(const Tensor& other, Site site = Site::current()) const;
  Tensor& bitwise_xor_(Scalar other, Site site = Site::current()) const;
  Tensor& floor_divide_(const Tensor& other, Site site = Site::current()) const;
  Tensor& floor_divide_(Scalar other, Site site = Site::current()) const;
  Tensor& atan2_(const Tensor& other, Site site = Site::current()) const;
  Tensor& logical_and_(const Tensor& other, Site site = Site::current()) const;
  Tensor& logical_or_(const Tensor& other, Site site = Site::current()) const;
  Tensor& logical_xor_(const Tensor& other, Site site = Site::current()) const;
  Tensor& logical_not_(Site site = Site::current()) const;
  Tensor& bitwise_not_(Site site = Site::current()) const;
  Tensor& frac_(Site site = Site::current()) const;
  Tensor& cumsum_(std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt,
                  Site site = Site::current()) const;
  Tensor& cumprod_(std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt,
                   Site site = Site::current()) const;
  Tensor& tril_(std::int64_t diagonal = 0, Site site = Site::current()) const;
  Tensor& triu_(std::int64_t diagonal = 0, Site site = Site::current()) const;
  Tensor polygamma(std::int64_t order, Site site = Site::current()) const;
  Tensor& polygamma_(std::int64_t order, Site site = Site::current()) const;

  // Other names of the same.
  Tensor greater(const Tensor& other, Site site = Site::current()) const;
  Tensor greater(Scalar other, Site site = Site::current()) const;
  Tensor& greater_(const Tensor& other, Site site = Site::current()) const;
  Tensor& greater_(Scalar other, Site site = Site::current()) const;
  Tensor greater_equal(const Tensor& other, Site site = Site::current()) const;
  Tensor greater_equal(Scalar other, Site site = Site::current()) const;
  Tensor& greater_equal_(const Tensor& other, Site site = Site::current()) const;
  Tensor& greater_equal_(Scalar other, Site site = Site::current()) const;
  Tensor less(const Tensor& other, Site site = Site::current()) const;
  Tensor less(Scalar other, Site site = Site::current()) const;
  Tensor& less_(const Tensor& other, Site site = Site::current()) const;
  Tensor& less_(Scalar other, Site site = Site::current()) const;
  Tensor less_equal(const Tensor& other, Site site = Site::current()) const;
  Tensor less_equal(Scalar other, Site site = Site::current()) const;
  Tensor& less_equal_(const Tensor& other, Site site = Site::current()) const;
  Tensor& less_equal_(Scalar other, Site site = Site::current()) const;
  Tensor not_equal(const Tensor& other, Site site = Site::current()) const;
  Tensor not_equal(Scalar other, Site site = Site::current()) const;
  Tensor& not_equal_(const Tensor& other, Site site = Site::current()) const;
  Tensor& not_equal_(Scalar other, Site site = Site::current()) const;
  Tensor multiply(const Tensor& other, Site site = Site::current()) const;
  Tensor multiply(Scalar other, Site site = Site::current()) const;
  Tensor& multiply_(const Tensor& other, Site site = Site::current()) const;
  Tensor& multiply_(Scalar other, Site site = Site::current()) const;
  Tensor divide(const Tensor& other, Site site = Site::current()) const;
  Tensor divide(Scalar other, Site site = Site::current()) const;
  Tensor& divide_(const Tensor& other, Site site = Site::current()) const;
  Tensor& divide_(Scalar other, Site site = Site::current()) const;
  Tensor true_divide(const Tensor& other, Site site = Site::current()) const;
  Tensor true_divide(Scalar other, Site site = Site::current()) const;
  Tensor& true_divide_(const Tensor& other, Site site = Site::current()) const;
  Tensor& true_divide_(Scalar other, Site site = Site::current()) const;
  Tensor divide(const Tensor& other, std::optional<std::string_view> rounding_mode,
                Site site = Site::current()) const;
  Tensor& divide_(const Tensor& other, std::optional<std::string_view> rounding_mode,
                  Site site = Site::current()) const;
  Tensor divide(Scalar other, std::optional<std::string_view> rounding_mode,
                Site site = Site::current()) const;
  Tensor& divide_(Scalar other, std::optional<std::string_view> rounding_mode,
                  Site site = Site::current()) const;
  Tensor subtract(const Tensor& other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor& subtract_(const Tensor& other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor subtract(Scalar other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor& subtract_(Scalar other, Scalar alpha = 1, Site site = Site::current()) const;
  Tensor negative(Site site = Site::current()) const;
  Tensor& negative_(Site site = Site::current()) const;
  Tensor absolute(Site site = Site::current()) const;
  Tensor& absolute_(Site site = Site::current()) const;
  Tensor fix(Site site = Site::current()) const;
  Tensor& fix_(Site site = Site::current()) const;
  Tensor arccos(Site site = Site::current()) const;
  Tensor& arccos_(Site site = Site::current()) const;
  Tensor arcsin(Site site = Site::current()) const;
  Tensor& arcsin_(Site site = Site::current()) const;
  Tensor arctan(Site site = Site::current()) const;
  Tensor& arctan_(Site site = Site::current()) const;
  Tensor positive(Site site = Site::current()) const;
  Tensor arctan2(const Tensor& other, Site site = Site::current()) const;
  Tensor& arctan2_(const Tensor& other, Site site = Site::current()) const;
  Tensor clip(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt,
              Site site = Site::current()) const;
  Tensor& clip_(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt,
                Site site = Site::current()) const;
  Tensor clip(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
              Site site = Site::current()) const;
  Tensor& clip_(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                Site site = Site::current()) const;

  // The operators of integers by their names in Python; << and >> are shifts.
  Tensor __and__(const Tensor& other, Site site = Site::current()) const;
  Tensor __and__(Scalar other, Site site = Site::current()) const;
  Tensor& __iand__(const Tensor& other, Site site = Site::current()) const;
  Tensor& __iand__(Scalar other, Site site = Site::current()) const;
  Tensor __or__(const Tensor& other, Site site = Site::current()) const;
  Tensor __or__(Scalar other, Site site = Site::current()) const;
  Tensor& __ior__(const Tensor& other, Site site = Site::current()) const;
  Tensor& __ior__(Scalar other, Site site = Site::current()) const;
  Tensor __xor__(const Tensor& other, Site site = Site::current()) const;
  Tensor __xor__(Scalar other, Site site = Site::current()) const;
  Tensor& __ixor__(const Tensor& other, Site site = Site::current()) const;
  Tensor& __ixor__(Scalar other, Site site = Site::current()) const;
  Tensor __lshift__(const Tensor& other, Site site = Site::current()) const;
  Tensor __lshift__(Scalar other, Site site = Site::current()) const;
  Tensor& __ilshift__(const Tensor& other, Site site = Site::current()) const;
  Tensor& __ilshift__(Scalar other, Site site = Site::current()) const;
  Tensor __rshift__(const Tensor& other, Site site = Site::current()) const;
  Tensor __rshift__(Scalar other, Site site = Site::current()) const;
  Tensor& __irshift__(const Tensor& other, Site site = Site::current()) const;
  Tensor& __irshift__(Scalar other, Site site = Site::current()) const;
};

}  // namespace groove
