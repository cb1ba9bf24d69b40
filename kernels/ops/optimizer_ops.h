// The update rules of optimizers as operators: each overwrites its parameter and state in one
// elementwise kernel. src/optim calls these inside its big word; the numbers are made on the host
// in double, once for a group, and travel as the word's numbers (Scalar::with_origin).
#pragma once

#include <array>

#include "groove/tensor.h"

namespace groove {

// ---- SGD ----

struct SgdRule {  // structure
  bool has_momentum = false;
  bool nesterov = false;
  bool has_weight_decay = false;
  bool is_first = false;  // the buffer becomes g itself, whatever it held
};
using SgdNumbers = std::array<Scalar, 4>;
/// { lr, momentum, 1 - dampening, weight_decay }
SgdNumbers sgd_numbers(double lr, double momentum, double dampening, double weight_decay);
/// g += weight_decay * p; buffer = momentum * buffer + (1 - dampening) * g; p -= lr * d with
/// d = buffer, g + momentum * buffer (nesterov) or g (no momentum: the buffer may be undefined).
void sgd_step_(const Tensor& parameter, const Tensor& grad, const Tensor& momentum_buffer,
               const SgdRule& rule, ArrayRef<Scalar> numbers, Site site = Site::current());

// ---- Adam, AdamW ----

struct AdamRule {
  bool decoupled = false;  // AdamW: p *= 1 - lr * weight_decay; else g += weight_decay * p
  bool has_weight_decay = false;
};
using AdamNumbers = std::array<Scalar, 8>;
/// { lr / (1 - beta1^step), 1 / sqrt(1 - beta2^step), beta1, 1 - beta1, beta2, 1 - beta2, eps,
/// decoupled ? 1 - lr * weight_decay : weight_decay }; `step` is 1 on the first call.
AdamNumbers adam_numbers(double lr, double beta1, double beta2, double eps, double weight_decay,
                         bool decoupled, double step);
/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g²; with amsgrad v̂ = max(v̂, v);
/// p -= step_size * (m / (sqrt(v or v̂) * inv_sqrt_bias2 + eps)). `max_exp_avg_sq` is undefined
/// without amsgrad.
void adam_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                const Tensor& exp_avg_sq, const Tensor& max_exp_avg_sq, const AdamRule& rule,
                ArrayRef<Scalar> numbers, Site site = Site::current());

}  // namespace groove
