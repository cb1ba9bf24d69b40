// groove::Tensor: LibTorch's tensor. A handle with shared ownership; copies alias. The methods
// come from one base header per family; `methods/…` and `ops/…` declare the same operators.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "groove/detail/tensor_base.h"
#include "groove/dtype.h"
#include "groove/error.h"
#include "groove/methods/data.h"

namespace groove {

// TensorBase <- MathMethods <- InPlaceMethods <- ElementwiseMethods <- ReductionMethods <-
// ViewMethods <- IndexMethods <- PartMethods <- LinearAlgebraMethods <- StatisticsMethods <-
// DataMethods <- Tensor
class Tensor : public DataMethods {
 public:
  Tensor() = default;
  /// None, as where an argument may be left out.
  template <std::same_as<std::nullopt_t> None>
  Tensor(None) {}
  explicit Tensor(TensorImpl* impl) : DataMethods(impl) {}
  explicit Tensor(detail::RefPtr<TensorImpl> impl) : DataMethods(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;

  // `x[i] = value` writes through the view; only a named tensor is assigned as a handle.
  Tensor& operator=(Arg value) &&;
  Tensor& operator=(detail::ScalarArg value) &&;
  template <typename T>
  Tensor& operator=(const std::complex<T>& value) && {
    return assign(value);
  }

 private:
  Tensor& assign(const std::complex<double>& value);
};

using Tensors = std::vector<Tensor>;
using TensorList = ArrayRef<Tensor>;

inline const Tensor& TensorBase::self() const { return static_cast<const Tensor&>(*this); }
template <std::same_as<bool> Flag>
Tensor ReductionMethods::var(Flag unbiased, Site site) const {
  return var(OptionalIntArrayRef(), unbiased, false, site);
}
template <std::same_as<bool> Flag>
Tensor ReductionMethods::std(Flag unbiased, Site site) const {
  return std(OptionalIntArrayRef(), unbiased, false, site);
}

/// As LibTorch prints: values, then "[ CPUFloatType{2,3} ]".
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
/// The same in lines of another width; without a stream on the standard output.
std::ostream& print(std::ostream& out, const Tensor& tensor, std::int64_t linesize);
void print(const Tensor& tensor, std::int64_t linesize = 80);
/// One after the other, each as above with a line of its own behind it.
std::ostream& operator<<(std::ostream& out, TensorList tensors);

}  // namespace groove
