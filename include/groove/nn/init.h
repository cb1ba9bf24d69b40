// nn::init: fills tensors in place, without a tape.
#pragma once

#include <tuple>
#include <variant>

#include "groove/enums.h"
#include "groove/tensor.h"

namespace groove::nn::init {

using NonlinearityType = std::variant<enumtype::kLinear, enumtype::kSigmoid, enumtype::kTanh,
                                      enumtype::kReLU, enumtype::kLeakyReLU>;
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

Tensor constant_(Tensor tensor, Scalar value);
Tensor zeros_(Tensor tensor);
Tensor ones_(Tensor tensor);
/// A matrix with ones on its diagonal.
Tensor eye_(Tensor matrix);
Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                        NonlinearityType nonlinearity = kLeakyReLU);
Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                       NonlinearityType nonlinearity = kLeakyReLU);
Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);
Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);
std::tuple<std::int64_t, std::int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

}  // namespace groove::nn::init
