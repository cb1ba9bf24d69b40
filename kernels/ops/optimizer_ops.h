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

// ---- those that Python's torch has beside them ----

/// What the rules below share; `decoupled` only where a rule says so.
struct OptimizerRule {
  bool has_weight_decay = false;  // g += weight_decay * p
  bool maximize = false;          // g = -g first
  bool decoupled = false;         // instead p *= 1 - lr * weight_decay
};

using NadamNumbers = std::array<Scalar, 9>;
/// { lr (1 - mu) / (1 - mu_product), lr mu_next / (1 - mu_product mu_next), 1 / (1 - beta2^step),
/// beta1, 1 - beta1, beta2, 1 - beta2, eps, decoupled ? 1 - lr * weight_decay : weight_decay } with
/// mu = beta1 (1 - 0.96^(step momentum_decay) / 2), mu_next that of step + 1, mu_product those of
/// all steps up to this one, which is 1 on the first call.
NadamNumbers nadam_numbers(double lr, double beta1, double beta2, double eps, double weight_decay,
                           double momentum_decay, bool decoupled, double step, double mu_product);
double nadam_mu(double beta1, double momentum_decay, double step);
/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g²; d = sqrt(v / bias2) + eps;
/// p -= n0 (g / d); p -= n1 (m / d)
void nadam_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                 const Tensor& exp_avg_sq, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                 Site site = Site::current());

using RadamNumbers = std::array<Scalar, 9>;
/// { lr / (1 - beta1^step), r, 1 where the variance is tractable (rho > 5) else 0, beta1,
/// 1 - beta1, beta2, 1 - beta2, eps, decoupled ? 1 - lr * weight_decay : weight_decay } with
/// r = sqrt(1 - beta2^step) times the rectification.
RadamNumbers radam_numbers(double lr, double beta1, double beta2, double eps, double weight_decay,
                           bool decoupled, double step);
/// m and v as above; p -= n0 (tractable ? m (r / (sqrt(v) + eps)) : m)
void radam_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                 const Tensor& exp_avg_sq, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                 Site site = Site::current());

using AdamaxNumbers = std::array<Scalar, 6>;
/// { lr / (1 - beta1^step), beta1, 1 - beta1, beta2, eps, weight_decay }
AdamaxNumbers adamax_numbers(double lr, double beta1, double beta2, double eps, double weight_decay,
                             double step);
/// m = beta1 m + (1 - beta1) g; u = max(beta2 u, |g| + eps); p -= n0 (m / u)
void adamax_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                  const Tensor& exp_inf, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                  Site site = Site::current());

using AdadeltaNumbers = std::array<Scalar, 5>;
/// { lr, rho, 1 - rho, eps, weight_decay }
AdadeltaNumbers adadelta_numbers(double lr, double rho, double eps, double weight_decay);
/// s = rho s + (1 - rho) g²; d = sqrt(a + eps) / sqrt(s + eps) g; a = rho a + (1 - rho) d²;
/// p -= lr d
void adadelta_step_(const Tensor& parameter, const Tensor& grad, const Tensor& square_avg,
                    const Tensor& acc_delta, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                    Site site = Site::current());

using AsgdNumbers = std::array<Scalar, 5>;
/// { eta, 1 - lambd eta, mu, 1 where mu is below 1 else 0, weight_decay }
AsgdNumbers asgd_numbers(double eta, double mu, double lambd, double weight_decay);
/// p = n1 p - eta g; ax = mu < 1 ? ax + mu (p - ax) : p
void asgd_step_(const Tensor& parameter, const Tensor& grad, const Tensor& ax,
                const OptimizerRule& rule, ArrayRef<Scalar> numbers, Site site = Site::current());

using RpropNumbers = std::array<Scalar, 4>;
/// { etaminus, etaplus, step_size_min, step_size_max }. s = step_size * (etaplus where g * prev is
/// positive, etaminus where it is negative, else 1), clamped; g = 0 where g * prev is negative;
/// p -= sign(g) s; prev = g. Without weight decay.
void rprop_step_(const Tensor& parameter, const Tensor& grad, const Tensor& prev,
                 const Tensor& step_size, const OptimizerRule& rule, ArrayRef<Scalar> numbers,
                 Site site = Site::current());

using LionNumbers = std::array<Scalar, 6>;
/// { lr, beta1, 1 - beta1, beta2, 1 - beta2, 1 - lr * weight_decay }
LionNumbers lion_numbers(double lr, double beta1, double beta2, double weight_decay);
/// p *= 1 - lr * weight_decay; p -= lr sign(beta1 m + (1 - beta1) g); m = beta2 m + (1 - beta2) g.
/// Weight decay is always decoupled.
void lion_step_(const Tensor& parameter, const Tensor& grad, const Tensor& exp_avg,
                const OptimizerRule& rule, ArrayRef<Scalar> numbers, Site site = Site::current());

}  // namespace groove
