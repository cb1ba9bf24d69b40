// new_zeros and its kin: a new tensor of a size of its own, in the dtype of another one.
#include "groove/ops/creation.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

TensorOptions options_of(const char* op, const Tensor& like, const TensorOptions& options) {
  return options.dtype(options.dtype_opt().value_or(checked(op, like).dtype));
}

}  // namespace

Tensor DataMethods::new_empty(IntArrayRef size, TensorOptions options, Site site) const {
  const CallFrame frame(site);
  return empty(size, options_of("new_empty", self(), options), site);
}
Tensor DataMethods::new_zeros(IntArrayRef size, TensorOptions options, Site site) const {
  const CallFrame frame(site);
  return zeros(size, options_of("new_zeros", self(), options), site);
}
Tensor DataMethods::new_ones(IntArrayRef size, TensorOptions options, Site site) const {
  const CallFrame frame(site);
  return ones(size, options_of("new_ones", self(), options), site);
}
Tensor DataMethods::new_full(IntArrayRef size, Scalar value, TensorOptions options,
                             Site site) const {
  const CallFrame frame(site);
  return full(size, value, options_of("new_full", self(), options), site);
}

}  // namespace groove
