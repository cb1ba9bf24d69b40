// What the three convolution ops share: attributes, sizes, samples and the reference. Each is
// linear in both of its operands and their gradients are one another:
//
//   y = convolution(x, w)    x = convolution_backward_data(y, w)    w = …_backward_weight(y, x)
#pragma once

#include "kernels/convolution/convolution.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

// stride, padding, dilation and, for the backward forms, the size of the result as lists for
// (height, width).
struct ConvolutionAttrs {
  Shape stride, padding, dilation;
  std::int64_t groups = 1;
  Attrs attrs(IntArrayRef result_size = {}) const;
};
ConvolutionAttrs convolution_attrs(const AttrReader& attr);

/// An argument for all axes, given as one number or one for each.
Shape spatial(const char* op, const char* what, IntArrayRef values, std::size_t axes);

Tensor convolution(Arg x, const Tensor& weight, const ConvolutionAttrs& how);
Tensor convolution_backward_data(Arg y, const Tensor& weight, IntArrayRef x_sizes,
                                 const ConvolutionAttrs& how);
Tensor convolution_backward_weight(const Tensor& y, const Tensor& x, IntArrayRef weight_sizes,
                                   const ConvolutionAttrs& how);

/// The record of a form; `size_name` is the attribute that holds the size of a backward form's
/// result.
const Op& define_convolution(const char* name, const char* size_name, kernels::ConvolutionForm form,
                             GradientRule gradient);

}  // namespace groove
