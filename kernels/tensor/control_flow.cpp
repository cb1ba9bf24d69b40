// groove::cond, while_loop and scan: functions to graphs, types compared, one operator called.
#include "groove/control_flow.h"

#include "groove/ops/views.h"
#include "kernels/ops/control_flow.h"
#include "kernels/ops/rules.h"
#include "kernels/tensor/capture.h"
#include "src/core/check.h"

namespace groove::detail {
namespace {

std::vector<Type> types_of(const char* op, const char* what, const Tensors& tensors) {
  std::vector<Type> types;
  for (const Tensor& tensor : tensors) {
    GROOVE_CHECK(tensor.defined(), "{}: {} {} is undefined", op, what, types.size());
    types.push_back(type_of(tensor));
  }
  return types;
}
std::string text(const Type& type) { return short_name(type.dtype) + to_string(type.sizes); }

void check_carried(const char* op, ArrayRef<Type> before, ArrayRef<Type> after) {
  GROOVE_CHECK(after.size() >= before.size(),
               "{}: the body gives {} carried values for {}; it must give as many as it is given",
               op, after.size(), before.size());
  for (std::size_t k = 0; k < before.size(); ++k)
    GROOVE_CHECK(after[k] == before[k],
                 "{}: carried value {} is {} before a step and {} after it; shape and dtype must "
                 "stay, so reshape it, convert it with to(), or start with another one",
                 op, k, text(before[k]), text(after[k]));
}

Tensors operands_of(const Tensors& given, const FunctionCapture& capture) {
  Tensors operands = given;
  operands.insert(operands.end(), capture.closed_over().begin(), capture.closed_over().end());
  return operands;
}

}  // namespace

Tensors run_cond(const Tensor& predicate, const TensorFunction& if_true,
                 const TensorFunction& if_false, const Tensors& operands, const Site& site) {
  const CallFrame frame(site, nullptr);  // errors have their own names
  GROOVE_CHECK(predicate.defined() && predicate.impl()->numel == 1,
               "cond: the predicate has shape {}; it must have one element: use all() or any()",
               predicate.defined() ? to_string(predicate.impl()->geometry.sizes) : "(undefined)");
  const std::vector<Type> types = types_of("cond", "operand", operands);
  FunctionCapture capture("cond");
  capture.add("true_fn", if_true, types);
  capture.add("false_fn", if_false, types);
  const std::vector<Type> first = capture.results(0), second = capture.results(1);
  GROOVE_CHECK(first.size() == second.size(), "cond: true_fn gives {} tensors, false_fn {}",
               first.size(), second.size());
  for (std::size_t k = 0; k < first.size(); ++k)
    GROOVE_CHECK(first[k] == second[k],
                 "cond: result {} is {} of true_fn and {} of false_fn; shape and dtype must agree",
                 k, text(first[k]), text(second[k]));
  const std::int64_t graphs[] = {capture.finish(0), capture.finish(1)};
  capture.take_draws(1);
  Tensors all{predicate};
  for (const Tensor& operand : operands_of(operands, capture)) all.push_back(operand);
  return call_cond(graphs[0], graphs[1], all, capture.numbers(), site);
}

Tensors run_while(const TensorFunction& condition, const TensorFunction& body,
                  const Tensors& carried, const WhileLoopOptions& options, const Site& site) {
  const CallFrame frame(site, nullptr);  // errors have their own names
  const std::vector<Type> types = types_of("while_loop", "carried value", carried);
  GROOVE_CHECK(!types.empty(), "while_loop: nothing is carried, so the loop could not end");
  FunctionCapture capture("while_loop");
  capture.add("cond_fn", condition, types);
  const std::vector<Type> answer = capture.results(0);
  GROOVE_CHECK(element_count(answer[0].sizes) == 1,
               "while_loop: cond_fn gives {}; it must give one element: use all() or any()",
               text(answer[0]));
  capture.add("body_fn", body, types, capture.draws());
  check_carried("while_loop", types, capture.results(1));
  const std::int64_t graphs[] = {capture.finish(0), capture.finish(1)};
  capture.take_draws(1);
  return call_while(graphs[0], graphs[1], carried.size(), options.max_iterations,
                    operands_of(carried, capture), capture.numbers(), site);
}

Tensors run_scan(const TensorFunction& body, const Tensors& init, const Tensors& xs,
                 const ScanOptions& options, const Site& site) {
  const SiteScope scope(site, nullptr);
  Tensors given = init;
  std::vector<Type> types = types_of("scan", "carried value", init);
  types_of("scan", "scanned tensor", xs);
  std::int64_t steps = options.length;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Tensor x = options.dim == 0 ? xs[i] : movedim(xs[i], options.dim, 0);
    Type type = type_of(x);
    GROOVE_CHECK(!type.sizes.empty(), "scan: scanned tensor {} has no axis to walk along", i);
    GROOVE_CHECK(steps < 0 || steps == type.sizes[0],
                 "scan: scanned tensor {} has {} slices along axis {}, others {}", i, type.sizes[0],
                 options.dim, steps);
    steps = type.sizes[0];
    type.sizes = Shape(IntArrayRef(type.sizes.data() + 1, type.sizes.size() - 1));
    types.push_back(std::move(type));
    given.push_back(x);
  }
  GROOVE_CHECK(steps >= 0, "scan: no tensor to walk along; give options.length");
  FunctionCapture capture("scan");
  capture.add("f", body, types);
  const std::vector<Type> results = capture.results(0);
  check_carried("scan", ArrayRef<Type>(types.data(), init.size()), results);
  ScanCall call;
  call.body = capture.finish(0);
  call.steps = steps;
  call.carried = init.size();
  call.scanned = xs.size();
  call.is_reverse = options.reverse;
  call.draws = capture.draws();
  capture.take_draws(static_cast<std::uint64_t>(steps));
  Tensors outputs = call_scan(call, operands_of(given, capture), capture.numbers(), site);
  outputs.resize(results.size());
  for (std::size_t k = init.size(); k < outputs.size() && options.dim != 0; ++k)
    outputs[k] = movedim(outputs[k], 0, options.dim);
  return outputs;
}

}  // namespace groove::detail
