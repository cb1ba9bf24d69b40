// A convolution with an epilogue over blocks of its finished sums.
#pragma once

#include <memory>

#include "kernels/backend.h"
#include "kernels/convolution/convolution.h"

namespace groove::kernels {

/// kForward and kBackwardData: the result [N, C, H, W] is the product [batch, m, n] of images,
/// channels and pixels.
ContractionShape convolution_product_shape(ConvolutionForm form, const ConvolutionShape& shape);
/// The epilogue runs in `backend`, and sums are added up by its code (run_convolution()).
std::shared_ptr<const ContractionCallable> make_convolution_product(ConvolutionForm form,
                                                                    ScalarType dtype,
                                                                    const ConvolutionShape& shape,
                                                                    Backend& backend,
                                                                    const Kernel& epilogue);

}  // namespace groove::kernels
