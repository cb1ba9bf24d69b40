// The record of a loss that is a function of each element pair: input and target broadcast, the
// mean or sum of all comes after. Its slope is taken apart likewise.
#pragma once

#include "groove/ops/losses.h"
#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

struct ElementwiseLoss {
  const char* name;
  /// In ordinary ops. `parameter` is what the attribute of that name holds (0 without one).
  Tensor (*loss)(const Tensor& input, const Tensor& target, double parameter);
  /// By input and by target; those not needed may be left undefined.
  Tensors (*slopes)(const Tensor& input, const Tensor& target, double parameter,
                    ArrayRef<bool> needs);
  double (*reference)(double input, double target, double parameter);
  const char* parameter_name = nullptr;
  std::vector<double> parameters = {0};  // of samples
  Domain domain = {};
  std::function<void(const Signature&, ArrayRef<Tensor>)> check = {};
  int check_reads = 0;
  AllowedRule allowed = {};
  double tolerance_ulp = 16;
};
const Op& define(const ElementwiseLoss& spec);

/// The attributes of such a loss.
inline Attrs loss_attrs(std::int64_t reduction) { return Attrs().add(reduction); }
inline Attrs loss_attrs(std::int64_t reduction, double parameter) {
  return Attrs().add(reduction).add_double(parameter);
}
/// Warns when the two differ in shape: [N, 1] against [N] is a loss of N x N pairs.
void warn_where_broadcast(const char* op, const Arg& input, const Tensor& target);
/// All elements, their mean or their sum.
Tensor reduce_loss(const Tensor& losses, std::int64_t reduction);
void check_reduction(const char* op, std::int64_t reduction);

}  // namespace groove
