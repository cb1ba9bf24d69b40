// Adadelta (Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012), as Python's torch defines
// it.
#pragma once

#include "groove/optim/listed.h"

namespace groove::optim {

struct AdadeltaOptions : ListedOptions<AdadeltaOptions> {
  AdadeltaOptions(double lr = 1.0);
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, rho) = 0.9;
  GROOVE_ARG(double, eps) = 1e-6;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(bool, maximize) = false;
};

struct AdadeltaParamState : ListedParamState<AdadeltaParamState> {
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, square_avg);
  GROOVE_ARG(Tensor, acc_delta);
};

class Adadelta : public ListedOptimizer<AdadeltaOptions, AdadeltaParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
