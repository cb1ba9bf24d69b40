// Hands the questions on to whatever is registered.
#include "kernels/derivative.h"

#include "src/core/check.h"

namespace groove::kernels {
namespace {

const Differentiator* registered = nullptr;

const Differentiator& differentiator() {
  GROOVE_CHECK(registered, "this build of Groove has no gradients");
  return *registered;
}

}  // namespace

void register_differentiator(const Differentiator& given) { registered = &given; }

std::int64_t derivative(const DerivativeRequest& request, ArrayRef<Scalar> numbers) {
  return differentiator().derivative(request, numbers);
}
std::int64_t with_residuals(const SplitRequest& request, ArrayRef<Scalar> numbers) {
  return differentiator().with_residuals(request, numbers);
}
SplitDerivative split_derivative(const SplitRequest& request, ArrayRef<Scalar> numbers) {
  return differentiator().split(request, numbers);
}

}  // namespace groove::kernels
