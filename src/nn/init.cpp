#include "groove/nn/init.h"

#include <cmath>
#include <numeric>

#include "groove/autograd.h"
#include "groove/ops/creation.h"
#include "src/core/check.h"
#include "src/nn/fan_in.h"

namespace groove::nn::init {
namespace {

double kaiming_std(const Tensor& tensor, double a, FanModeType mode, NonlinearityType kind) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  const auto fan = mode.is_fan_in ? fan_in : fan_out;
  return calculate_gain(kind, a) / std::sqrt(static_cast<double>(fan));
}

double xavier_std(const Tensor& tensor, double gain) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

}  // namespace

std::tuple<std::int64_t, std::int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  const auto dims = tensor.dim();
  GROOVE_CHECK(dims >= 2,
               "fan in and fan out can not be computed for a tensor with fewer than 2 dimensions "
               "(it has {})",
               dims);
  std::int64_t receptive = 1;
  for (std::int64_t i = 2; i < dims; ++i) receptive *= tensor.size(i);
  return {tensor.size(1) * receptive, tensor.size(0) * receptive};
}

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (nonlinearity.kind == NonlinearityType::kIsTanh) return 5.0 / 3.0;
  if (nonlinearity.kind == NonlinearityType::kIsReLU) return std::sqrt(2.0);
  if (nonlinearity.kind == NonlinearityType::kIsLeakyReLU)
    return std::sqrt(2.0 / (1 + param * param));
  return 1.0;
}

Tensor constant_(Tensor tensor, Scalar value) {
  const NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }

Tensor eye_(Tensor matrix) {
  const NoGradGuard no_grad;
  GROOVE_CHECK(matrix.dim() == 2, "eye_: only matrices, not tensors with {} dimensions",
               matrix.dim());
  matrix.zero_();
  for (std::int64_t i = 0; i < std::min(matrix.size(0), matrix.size(1)); ++i)
    matrix.select(0, i).select(0, i).fill_(1);
  return matrix;
}

Tensor dirac_(Tensor tensor) {
  const NoGradGuard no_grad;
  const std::int64_t dims = tensor.dim();
  GROOVE_CHECK(dims >= 3 && dims <= 5, "dirac_: only tensors with 3, 4 or 5 dimensions, not {}",
               dims);
  tensor.zero_();
  for (std::int64_t d = 0; d < std::min(tensor.size(0), tensor.size(1)); ++d) {
    Tensor place = tensor.select(0, d).select(0, d);
    for (std::int64_t axis = 2; axis < dims; ++axis) place = place.select(0, tensor.size(axis) / 2);
    place.fill_(1);
  }
  return tensor;
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  const NoGradGuard no_grad;
  GROOVE_CHECK(tensor.dim() == 2, "sparse_: only matrices, not tensors with {} dimensions",
               tensor.dim());
  const std::int64_t rows = tensor.size(0);
  const auto zeros = static_cast<std::int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (std::int64_t column = 0; column < tensor.size(1); ++column)
    tensor.select(1, column).index_fill_(0, randperm(rows).slice(0, 0, zeros), 0);
  return tensor;
}

Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}

Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

// Gram–Schmidt in double, twice for each row: the same as the Q of a QR decomposition whose R has a
// positive diagonal.
Tensor orthogonal_(Tensor tensor, double gain) {
  const NoGradGuard no_grad;
  GROOVE_CHECK(tensor.dim() >= 2, "orthogonal_: only tensors with 2 or more dimensions, not {}",
               tensor.dim());
  if (tensor.numel() == 0) return tensor;
  const std::int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  const bool is_wide = rows < columns;
  const std::int64_t count = is_wide ? rows : columns, length = is_wide ? columns : rows;
  // The orthonormal vectors are rows of `matrix`.
  const Tensor drawn = randn({rows, columns}).to(kDouble);
  const Tensor matrix = (is_wide ? drawn : drawn.t()).clone();
  auto* const data = matrix.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < count; ++i) {
    double* const row = data + i * length;
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t k = 0; k < i; ++k) {
        const double* const other = data + k * length;
        const double along = std::inner_product(row, row + length, other, 0.0);
        for (std::int64_t j = 0; j < length; ++j) row[j] -= along * other[j];
      }
    const double size = std::sqrt(std::inner_product(row, row + length, row, 0.0));
    for (std::int64_t j = 0; j < length; ++j) row[j] /= size;
  }
  const Tensor shaped = (is_wide ? matrix : matrix.t()).reshape(tensor.sizes());
  return tensor.copy_(shaped.mul(gain).to(tensor.scalar_type()));
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  const double bound = std::sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity);
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return normal_(std::move(tensor), 0, std);
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  const double bound = std::sqrt(3.0) * xavier_std(tensor, gain);
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor xavier_normal_(Tensor tensor, double gain) {
  const double std = xavier_std(tensor, gain);
  return normal_(std::move(tensor), 0, std);
}

}  // namespace groove::nn::init

namespace groove::nn {

void reset_by_fan_in(const Tensor& weight, const Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto [fan_in, fan_out] = init::_calculate_fan_in_and_fan_out(weight);
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  init::uniform_(bias, -bound, bound);
}

}  // namespace groove::nn
