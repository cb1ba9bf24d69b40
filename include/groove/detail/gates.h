// Cells of recurrent networks after their two products, for layers that make those of the input for
// all time steps at once.
#pragma once

#include <tuple>

#include "groove/detail/tensor_base.h"

namespace groove::detail {

/// The next {h, c}, given x W_ih^T + b_ih and h W_hh^T + b_hh, both [N, 4 H], and c, [N, H].
std::tuple<Tensor, Tensor> lstm_after_products(const Tensor& from_input, const Tensor& from_hidden,
                                               const Tensor& c, Site site);
/// The next h, given the products, both [N, 3 H], and h, [N, H].
Tensor gru_after_products(const Tensor& from_input, const Tensor& from_hidden, const Tensor& h,
                          Site site);

}  // namespace groove::detail
