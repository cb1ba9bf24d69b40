// nn::utils: gradients kept within bounds, parameters as one vector.
#pragma once

#include <initializer_list>
#include <vector>

#include "groove/tensor.h"

namespace groove::nn::utils {

/// Scales all gradients by max_norm / (norm + 1e-6) where that is below 1; norm is that of order
/// norm_type over all of them, and is returned, so the call waits for it. Order infinity is the
/// greatest magnitude, and 0, as in LibTorch, the number of gradients.
/// Parameters without a gradient count nothing. With error_if_nonfinite throws groove::Error, and
/// changes nothing, when the norm is infinite or NaN (Pascanu et al. 2013).
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                       double norm_type = 2.0, bool error_if_nonfinite = false,
                       Site site = Site::current());
double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm,
                       double norm_type = 2.0, bool error_if_nonfinite = false,
                       Site site = Site::current());
double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0,
                       bool error_if_nonfinite = false, Site site = Site::current());

/// Every element of the gradients becomes at least -clip_value and at most clip_value.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value,
                      Site site = Site::current());
void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value,
                      Site site = Site::current());
void clip_grad_value_(Tensor parameter, double clip_value, Site site = Site::current());

/// All elements one after the other, 1-d.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters, Site site = Site::current());
/// The parameters' data become views of `vec` (LibTorch's meaning).
void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

}  // namespace groove::nn::utils
