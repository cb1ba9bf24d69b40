// nn::init: fills tensors in place, without a tape.
#pragma once

#include <tuple>

#include "groove/enums.h"
#include "groove/tensor.h"

namespace groove::nn::init {

class NonlinearityType {
 public:
  enum Kind { kIsLinear, kIsSigmoid, kIsTanh, kIsReLU, kIsLeakyReLU };
  constexpr NonlinearityType(enumtype::kLinear) : kind(kIsLinear) {}
  constexpr NonlinearityType(enumtype::Convolution) : kind(kIsLinear) {}
  constexpr NonlinearityType(enumtype::kSigmoid) : kind(kIsSigmoid) {}
  constexpr NonlinearityType(enumtype::kTanh) : kind(kIsTanh) {}
  constexpr NonlinearityType(enumtype::kReLU) : kind(kIsReLU) {}
  constexpr NonlinearityType(enumtype::kLeakyReLU) : kind(kIsLeakyReLU) {}
  Kind kind;
};
class FanModeType {
 public:
  constexpr FanModeType(enumtype::kFanIn) : is_fan_in(true) {}
  constexpr FanModeType(enumtype::kFanOut) : is_fan_in(false) {}
  bool is_fan_in;
};

Tensor constant_(Tensor tensor, Scalar value);
Tensor zeros_(Tensor tensor);
Tensor ones_(Tensor tensor);
/// A matrix with ones on its diagonal.
Tensor eye_(Tensor matrix);
/// Of a convolution's weight [out, in, ...] (3 to 5 axes): channel d of the output is channel d of
/// the input, the rest is 0.
Tensor dirac_(Tensor tensor);
/// Rows (or columns, of which there are fewer) of the tensor as a matrix [size(0), rest] become
/// orthonormal, times gain (Saxe et al. 2013).
Tensor orthogonal_(Tensor tensor, double gain = 1.0);
Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
/// A matrix of normal numbers, where a share of each column, at random, is 0 (Martens 2010).
Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);
Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                        NonlinearityType nonlinearity = kLeakyReLU);
Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                       NonlinearityType nonlinearity = kLeakyReLU);
Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);
Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);
std::tuple<std::int64_t, std::int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

}  // namespace groove::nn::init
