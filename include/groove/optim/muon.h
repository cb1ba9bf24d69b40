// Muon (Jordan, "Muon: An optimizer for hidden layers in neural networks", 2024), as Python's torch
// defines it: the direction of momentum, made orthogonal by iterations of Newton and Schulz. With
// x = d / max(|d|, eps), each is
//   x = a x + (b x x' + c (x x')²) x
// For matrices only; other parameters take another optimizer.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "groove/optim/listed.h"

namespace groove::optim {

struct MuonOptions : ListedOptions<MuonOptions> {
  using ns_coefficients_t = std::tuple<double, double, double>;
  MuonOptions(double lr = 1e-3);
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, weight_decay) = 0.1;
  GROOVE_ARG(double, momentum) = 0.95;
  GROOVE_ARG(bool, nesterov) = true;
  GROOVE_ARG(ns_coefficients_t, ns_coefficients) = {3.4445, -4.7750, 2.0315};
  GROOVE_ARG(double, eps) = 1e-7;
  GROOVE_ARG(std::int64_t, ns_steps) = 5;
  /// Of a matrix with m rows and n columns the rate is multiplied by sqrt(max(1, m / n)) with
  /// "original" or none, 0.2 sqrt(max(m, n)) with "match_rms_adamw" (Liu et al., "Muon is Scalable
  /// for LLM Training", 2025), sqrt(m / n) with "spectral_unclamped" (Bernstein, "Deriving Muon").
  GROOVE_ARG(std::optional<std::string>, adjust_lr_fn) = std::nullopt;
};

struct MuonParamState : ListedParamState<MuonParamState> {
  GROOVE_ARG(Tensor, momentum_buffer);
};

/// The iterations are in the parameter's dtype; Python's torch rounds to bfloat16 before them.
/// Throws groove::Error for a parameter that is not 2-d.
class Muon : public ListedOptimizer<MuonOptions, MuonParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
