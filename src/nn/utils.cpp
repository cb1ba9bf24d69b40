#include "groove/nn/utils.h"

#include <cmath>

#include "groove/autograd.h"
#include "groove/detail/call_scope.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/check.h"

namespace groove::nn::utils {
namespace {

std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters)
    if (parameter.defined() && parameter.grad().defined()) gradients.push_back(parameter.grad());
  return gradients;
}

// As LibTorch: the norm of the gradients' norms, and their number for order 0.
Tensor total_norm(const std::vector<Tensor>& gradients, double order) {
  if (order == 0) return full({}, static_cast<double>(gradients.size()));
  std::vector<Tensor> norms;
  for (const Tensor& gradient : gradients) norms.push_back(norm(gradient, order));
  return norms.size() == 1 ? norms[0] : norm(stack(norms), order);
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite, Site site) {
  const CallFrame frame(site);
  const std::vector<Tensor> gradients = gradients_of(parameters);
  if (gradients.empty()) return 0;
  const NoGradGuard no_grad;
  const groove::detail::CallScope scope(site, __func__);
  const Tensor total = total_norm(gradients, norm_type);
  if (error_if_nonfinite) {
    const double value = total.item<double>();
    GROOVE_CHECK(std::isfinite(value),
                 "clip_grad_norm_: The total norm of order {} for gradients from `parameters` is "
                 "non-finite ({}), so it cannot be clipped. To disable this error and scale the "
                 "gradients with the non-finite norm anyway, set `error_if_nonfinite=false`",
                 norm_type, value);
  }
  const Tensor factor = clamp_max(div(full_like(total, max_norm), add(total, 1e-6)), 1.0);
  for (const Tensor& gradient : gradients)
    gradient.mul_(gradient.scalar_type() == factor.scalar_type()
                      ? factor
                      : factor.to(gradient.scalar_type()));
  return total.item<double>();
}

double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite, Site site) {
  return clip_grad_norm_(std::vector<Tensor>(parameters), max_norm, norm_type, error_if_nonfinite,
                         site);
}

double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type, bool error_if_nonfinite,
                       Site site) {
  return clip_grad_norm_(std::vector<Tensor>{std::move(parameter)}, max_norm, norm_type,
                         error_if_nonfinite, site);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(clip_value >= 0, "clip_grad_value_: clip_value is {}; it must not be negative",
               clip_value);
  const NoGradGuard no_grad;
  const groove::detail::CallScope scope(site, __func__);
  for (const Tensor& gradient : gradients_of(parameters)) gradient.clamp_(-clip_value, clip_value);
}

void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value, Site site) {
  clip_grad_value_(std::vector<Tensor>(parameters), clip_value, site);
}

void clip_grad_value_(Tensor parameter, double clip_value, Site site) {
  clip_grad_value_(std::vector<Tensor>{std::move(parameter)}, clip_value, site);
}

Tensor parameters_to_vector(const std::vector<Tensor>& parameters, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(!parameters.empty(), "parameters_to_vector: there are no parameters");
  const groove::detail::CallScope scope(site, __func__);
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters) flat.push_back(reshape(parameter, {-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  std::int64_t elements = 0;
  for (const Tensor& parameter : parameters) elements += parameter.numel();
  GROOVE_CHECK(vec.dim() == 1 && vec.numel() >= elements,
               "vector_to_parameters: the vector has {} elements, the "
               "parameters have {}",
               vec.numel(), elements);
  const NoGradGuard no_grad;
  std::int64_t at = 0;
  for (const Tensor& parameter : parameters) {
    parameter.set_data(vec.slice(0, at, at + parameter.numel()).view(parameter.sizes()));
    at += parameter.numel();
  }
}

}  // namespace groove::nn::utils
