// What ops compute, asked of their bodies: which of them are one primitive or one function.
#include "jit/passes/plain_operation.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "kernels/build.h"
#include "src/core/fork.h"

namespace groove::jit {
namespace {

void collect_functions(const Term& term, std::vector<ScalarFunction>& functions) {
  if (term.kind == Term::Kind::kFunction) functions.push_back(term.function);
  for (const Term& operand : term.operands) collect_functions(operand, functions);
}
const std::vector<ScalarFunction>& functions_of_rules() {
  static const auto& functions = *new std::vector<ScalarFunction>([] {
    std::vector<ScalarFunction> found;
    for (const ExpressionRule& rule : expression_rules()) {
      collect_functions(rule.left, found);
      collect_functions(rule.right, found);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }());
  return functions;
}

Operation find_operation(const Op& op, ScalarType dtype) {
  if (op.kind != OpKind::kElementwise || op.is_random || !op.lowering || op.outputs != 1 ||
      op.inputs < 1 || !op.attributes.empty() || op.number_names.size() > 1) {
    return {};
  }
  const auto* how = std::get_if<kernels::ElementwiseLowering>(&op.lowering->how);
  if (!how || how->uses_flat_index || how->uses_last_index || how->raw_inputs || how->raw_numbers)
    return {};
  const std::vector<Type> types(static_cast<std::size_t>(op.inputs), Type{dtype, {2}});
  std::vector<Scalar> numbers;
  if (!op.number_names.empty())
    numbers.push_back(is_floating(dtype) ? Scalar(3.0) : Scalar(std::int64_t{3}));
  const Attrs none{};
  const Signature signature{op, types, none, numbers};
  try {
    const TypeResult result = op.type(signature);
    if (result.compute != dtype || !(result.outputs[0] == types[0])) return {};
    kernels::Builder builder;
    kernels::Exprs inputs, parameters;
    for (const Type& type : types)
      inputs.push_back(builder.load(type.dtype, kernels::StrideClass::kContiguous));
    if (!numbers.empty()) parameters.push_back(builder.param(dtype));
    const auto body =
        kernels::emit_elementwise(builder, signature, result, inputs, parameters)[0].id();
    Operation found;
    // A builder makes equal instructions once.
    if (types.size() == 1 && numbers.empty() && is_floating(dtype)) {
      for (const ScalarFunction function : functions_of_rules()) {
        if (function(inputs[0]).id() != body) continue;
        found.is_known = true;
        found.function = function;
        found.operands = {0};
        return found;
      }
    }
    const kernels::Instr& instr = builder.at(body);
    found.prim = instr.prim;
    for (const std::int32_t id : instr.args) {
      if (id < 0) continue;
      const auto input = std::find_if(inputs.begin(), inputs.end(),
                                      [&](const kernels::Expr& expr) { return expr.id() == id; });
      if (input != inputs.end())
        found.operands.push_back(static_cast<int>(input - inputs.begin()));
      else if (!parameters.empty() && parameters[0].id() == id)
        found.operands.push_back(kNumberOperand);
      else
        return {};
    }
    found.is_known = !found.operands.empty();
    return found;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

const Operation& operation_of(const Op& op, ScalarType dtype) {
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::map<std::pair<int, ScalarType>, Operation>;
  const ForkGate gate;
  const std::lock_guard lock(mutex);
  const auto key = std::make_pair(op.id, static_cast<ScalarType>(ComputeDtype(dtype)));
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, find_operation(op, key.second)).first->second;
}

bool is_operation(const Operation& operation, const Term& term) {
  if (!operation.is_known || operation.operands.size() != term.operands.size()) return false;
  if (term.kind == Term::Kind::kFunction) return operation.function == term.function;
  return !operation.function && operation.prim == term.prim;
}

}  // namespace groove::jit
