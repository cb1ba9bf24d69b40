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

// ---- RMSprop ----

struct RmspropRule {
  bool has_weight_decay = false;
};
using RmspropNumbers = std::array<Scalar, 6>;
/// { lr, alpha, 1 - alpha, eps, weight_decay, momentum }
RmspropNumbers rmsprop_numbers(double lr, double alpha, double eps, double weight_decay,
                               double momentum);
/// g += weight_decay * p; s = alpha s + (1 - alpha) g²; where grad_avg a is defined (centered)
/// a = alpha a + (1 - alpha) g and r = sqrt(s - a²) + eps, else r = sqrt(s) + eps; where the
/// momentum_buffer b is defined b = momentum b + g / r and p -= lr b, else p -= lr (g / r).
void rmsprop_step_(const Tensor& parameter, const Tensor& grad, const Tensor& square_avg,
                   const Tensor& momentum_buffer, const Tensor& grad_avg, const RmspropRule& rule,
                   ArrayRef<Scalar> numbers, Site site = Site::current());

// ---- Adagrad ----

struct AdagradRule {
  bool has_weight_decay = false;
};
using AdagradNumbers = std::array<Scalar, 3>;
/// { lr / (1 + (step - 1) lr_decay), eps, weight_decay }; `step` is 1 on the first call.
AdagradNumbers adagrad_numbers(double lr, double lr_decay, double eps, double weight_decay,
                               double step);
/// g += weight_decay * p; s += g²; p -= rate * (g / (sqrt(s) + eps))
void adagrad_step_(const Tensor& parameter, const Tensor& grad, const Tensor& sum,
                   const AdagradRule& rule, ArrayRef<Scalar> numbers, Site site = Site::current());

}  // namespace groove
