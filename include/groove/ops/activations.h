// Activations besides those of math.h, with their in-place forms. They keep the floating dtype;
// an option out of its range throws groove::Error.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// scale * self where positive, else scale * alpha * (exp(input_scale * self) - 1).
Tensor elu(Arg self, Scalar alpha = 1, Scalar scale = 1, Scalar input_scale = 1);
/// 1.0507… times elu with alpha = 1.6732…, under which layers normalise themselves (Klambauer et
/// al. 2017).
Tensor selu(Arg self);
/// self where positive, else alpha * (exp(self / alpha) - 1), alpha not being 0 (Barron 2017).
Tensor celu(Arg self, Scalar alpha = 1);
/// self between the bounds; no gradient at them.
Tensor hardtanh(Arg self, Scalar min_val = -1, Scalar max_val = 1);
/// self between 0 and 6
Tensor relu6(Arg self);
/// (self + 3) / 6 between 0 and 1
Tensor hardsigmoid(Arg self);
/// self * hardsigmoid(self) (Howard et al. 2019)
Tensor hardswish(Arg self);
/// self, or 0 within [-lambd, lambd]
Tensor hardshrink(Arg self, Scalar lambd = 0.5);
/// self moved by lambd >= 0 towards 0 and no further
Tensor softshrink(Arg self, Scalar lambd = 0.5);
/// self above the threshold, else value
Tensor threshold(Arg self, Scalar threshold, Scalar value);
/// log(sigmoid(self)) without overflow
Tensor log_sigmoid(Arg self);
/// self * tanh(softplus(self)) (Misra 2019)
Tensor mish(Arg self);
/// self where positive, else weight * self; weight has one element or one per channel (axis 1).
Tensor prelu(Arg self, const Tensor& weight);
/// The first half along `dim` times the sigmoid of the second (Dauphin et al. 2017).
Tensor glu(Arg self, std::int64_t dim = -1);
/// self where positive, else self times a slope: uniform within [lower, upper] for each element in
/// training, else their mean (Xu et al. 2015).
Tensor rrelu(Arg self, Scalar lower = 0.125, Scalar upper = 1.0 / 3, bool training = false);

// In place.
Tensor& elu_(Arg self, Scalar alpha = 1, Scalar scale = 1, Scalar input_scale = 1);
Tensor& selu_(Arg self);
Tensor& celu_(Arg self, Scalar alpha = 1);
Tensor& leaky_relu_(Arg self, Scalar negative_slope = 0.01);
Tensor& hardtanh_(Arg self, Scalar min_val = -1, Scalar max_val = 1);
Tensor& relu6_(Arg self);
Tensor& hardsigmoid_(Arg self);
Tensor& hardswish_(Arg self);
Tensor& threshold_(Arg self, Scalar threshold, Scalar value);
Tensor& silu_(Arg self);
Tensor& mish_(Arg self);
Tensor& rrelu_(Arg self, Scalar lower = 0.125, Scalar upper = 1.0 / 3, bool training = false);

}  // namespace groove
