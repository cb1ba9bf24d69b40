// Adagrad (Duchi, Hazan, Singer 2011), as LibTorch defines it.
#pragma once

#include "groove/optim/listed.h"

namespace groove::optim {

struct AdagradOptions : ListedOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2);
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, lr_decay) = 0;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(double, initial_accumulator_value) = 0;
  GROOVE_ARG(double, eps) = 1e-10;
};

struct AdagradParamState : ListedParamState<AdagradParamState> {
  GROOVE_ARG(Tensor, sum);
  GROOVE_ARG(std::int64_t, step) = 0;
};

class Adagrad : public ListedOptimizer<AdagradOptions, AdagradParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
