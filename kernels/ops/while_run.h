// Running the functions of a while_loop, for the loop itself and for its gradient.
#pragma once

#include <functional>

#include "kernels/ops/control_flow.h"
#include "src/core/host_value.h"

namespace groove {

class WhileRun {
 public:
  /// Numbers: those of the condition, then those of the body. max_iterations < 0: no limit.
  WhileRun(std::int64_t condition, std::int64_t body, std::size_t carried,
           std::int64_t max_iterations, ArrayRef<Scalar> numbers);
  /// The last carried values. `on_turn` is given all outputs of the body and may keep them.
  Tensors run(ArrayRef<Tensor> inputs, const std::function<void(ArrayRef<Tensor>)>& on_turn);

 private:
  std::size_t carried_;
  std::int64_t max_iterations_;
  kernels::SubgraphRun condition_, body_;
};

struct WhileBackward {
  std::int64_t condition = -1, body = -1, backward = -1;
  std::size_t carried = 0, cotangents = 0;
  std::vector<std::int64_t> residuals;  // which outputs of the body the derivative reads
  std::int64_t max_iterations = -1;
};
/// Operands: those of the loop, a seed for every wanted gradient, the cotangents of the floating
/// carried values. Gives the wanted gradients, those of the carried values first.
Tensors call_while_backward(const WhileBackward& call, ArrayRef<Tensor> operands,
                            ArrayRef<Scalar> numbers, Site site);
/// The gradient rule of that operator.
Tensors while_backward_gradient(const WhileBackward& call, const Grad& g);

}  // namespace groove
