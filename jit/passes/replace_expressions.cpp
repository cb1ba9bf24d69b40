// Replaces expressions by cheaper ones: x + neg(y) by x - y, x / 4 by x * 0.25. An operator takes
// part when all it computes is one primitive (or a function that a rule speaks of), whatever its
// name; what it computes is asked of its body, once for an op and a dtype.
// Needs: expanded composites.  Keeps: inputs, outputs, order, places; leaves dead nodes behind.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "jit/passes/passes.h"
#include "jit/passes/plain_operation.h"
#include "jit/rewrite.h"
#include "kernels/ops/structural.h"

namespace groove::jit {
namespace {

using kernels::Prim;

class Replacer {
 public:
  Replacer(Graph& graph, Exactness exactness, bool is_of_some_numbers = false)
      : graph_(graph),
        exactness_(exactness),
        is_of_some_numbers_(is_of_some_numbers),
        names_(graph) {}

  bool run() {
    bool has_changed = false;
    for (Node& node : graph_.nodes) {
      names_.rename_inputs(node);
      // Until no rule is left for it; each rule leaves fewer or cheaper operations.
      while (visit(node)) has_changed = true;
    }
    names_.rename_outputs(graph_);
    return has_changed;
  }

 private:
  const Node* producer(ValueId value) const { return producer_of(graph_, value); }

  bool visit(Node& node) {
    if (node.op->kind != OpKind::kElementwise || node.outputs.size() != 1 || node.inputs.empty() ||
        !node.attrs.words().empty() || names_.of(node.outputs[0]) != node.outputs[0]) {
      return false;
    }
    dtype_ = graph_.type(node.outputs[0]).dtype;
    const Operation& operation = operation_of(*node.op, dtype_);
    if (!operation.is_known) return false;
    for (const ExpressionRule& rule : expression_rules()) {
      if (rule.exactness != exactness_ || rule.is_of_some_numbers != is_of_some_numbers_) continue;
      values_.fill(kNoValue);
      numbers_ = {};
      if (matches(rule.left, node, operation) && replace(node, rule)) return true;
    }
    return false;
  }

  // ---- matching ----

  bool matches(const Term& term, const Node& node, const Operation& operation) {
    if (!is_operation(operation, term)) return false;
    if (term.prim == Prim::kDiv && !is_floating(dtype_)) return false;
    for (const ValueId id : node.inputs) {
      if (graph_.type(id).dtype != dtype_) return false;
    }
    if (matches_operands(term, node, operation, false)) return true;
    const bool commutes =
        term.kind == Term::Kind::kPrim && (term.prim == Prim::kAdd || term.prim == Prim::kMul);
    return commutes && matches_operands(term, node, operation, true);
  }
  bool matches_operands(const Term& term, const Node& node, const Operation& operation,
                        bool is_swapped) {
    const auto values = values_;
    const auto numbers = numbers_;
    const std::size_t count = term.operands.size();
    for (std::size_t i = 0; i < count; ++i) {
      const int operand = operation.operands[is_swapped ? count - 1 - i : i];
      const bool fits =
          operand == kNumberOperand
              ? matches_number(term.operands[i], node)
              : matches_value(term.operands[i], node.inputs[static_cast<std::size_t>(operand)]);
      if (fits) continue;
      values_ = values;
      numbers_ = numbers;
      return false;
    }
    return true;
  }
  bool matches_number(const Term& term, const Node& node) {
    if (term.kind != Term::Kind::kNumber) return false;
    numbers_[static_cast<std::size_t>(term.index)] = node.numbers[0];
    return true;
  }
  bool matches_value(const Term& term, ValueId value) {
    switch (term.kind) {
      case Term::Kind::kVariable: {
        ValueId& bound = values_[static_cast<std::size_t>(term.index)];
        if (bound == kNoValue) bound = value;
        return bound == value;
      }
      case Term::Kind::kNumber:
        return matches_constant(term, value);
      default: {
        const Node* const node = producer(value);
        return node && node->op->kind == OpKind::kElementwise && node->outputs.size() == 1 &&
               graph_.type(value).dtype == dtype_ &&
               matches(term, *node, operation_of(*node->op, dtype_));
      }
    }
  }
  bool matches_constant(const Term& term, ValueId value) {
    const Node* const node = producer(value);
    if (!node || node->op != &constant_op()) return false;
    const auto bits = static_cast<std::uint64_t>(AttrReader(*node->op, node->attrs).integer(2));
    double number = 0;
    if (dtype_ == kFloat)
      number = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    else if (dtype_ == kDouble)
      number = std::bit_cast<double>(bits);
    else
      return false;
    numbers_[static_cast<std::size_t>(term.index)] = {-1, Scalar(number)};
    return true;
  }

  // ---- replacing ----

  bool replace(Node& node, const ExpressionRule& rule) {
    NumberRef number = numbers_[0];
    if (rule.number) {
      if (!is_exact_constant(number) || !is_exact_constant(numbers_[1])) return false;
      const std::optional<double> found = rule.number(
          ComputeDtype(dtype_), number.constant.to_double(), numbers_[1].constant.to_double());
      if (!found) return false;
      number = {-1, Scalar(*found)};
    }
    const Type type = graph_.type(node.outputs[0]);
    ValueId same = kNoValue;
    if (rule.right.kind == Term::Kind::kVariable)
      same = values_[static_cast<std::size_t>(rule.right.index)];
    else if (!rule.number && rule.left.operands.size() == 1 && rule.left.operands[0] == rule.right)
      same = node.inputs[0];
    if (same != kNoValue) {
      if (!(graph_.type(same) == type)) return false;
      names_.rename(node.outputs[0], same);
      return true;
    }
    Node cheaper = node;
    cheaper.inputs.clear();
    cheaper.numbers.clear();
    std::vector<int> operands;
    for (const Term& operand : rule.right.operands) {
      if (operand.kind == Term::Kind::kNumber) {
        operands.push_back(kNumberOperand);
        cheaper.numbers.push_back(number);
        continue;
      }
      const ValueId value = values_[static_cast<std::size_t>(operand.index)];
      operands.push_back(static_cast<int>(cheaper.inputs.size()));
      cheaper.inputs.push_back(value);
    }
    cheaper.op = op_for(rule.right, operands);
    if (!cheaper.op) return false;
    try {
      if (!(derive_types(graph_, cheaper).outputs[0] == type)) return false;
    } catch (const Error&) {
      return false;
    }
    node = std::move(cheaper);
    return true;
  }

  // Known at compile time, and as a double what it is as an integer.
  static bool is_exact_constant(const NumberRef& number) {
    constexpr double kExactIntegers = 0x1p53;
    return number.entry < 0 && (number.constant.isFloatingPoint() ||
                                std::fabs(number.constant.to_double()) < kExactIntegers);
  }

  // The op that computes just that.
  const Op* op_for(const Term& term, const std::vector<int>& operands) const {
    const auto numbers =
        static_cast<std::size_t>(std::count(operands.begin(), operands.end(), kNumberOperand));
    for (const Op* const op : all_ops()) {
      if (op->inputs != static_cast<int>(operands.size() - numbers) ||
          op->number_names.size() != numbers) {
        continue;
      }
      const Operation& operation = operation_of(*op, dtype_);
      if (is_operation(operation, term) && operation.operands == operands) return op;
    }
    return nullptr;
  }

  Graph& graph_;
  const Exactness exactness_;
  const bool is_of_some_numbers_;
  Names names_;
  ScalarType dtype_ = kFloat;  // of the expression
  std::array<ValueId, 2> values_{};
  std::array<NumberRef, 2> numbers_{};
};

}  // namespace

bool replace_expressions(Graph& graph) { return Replacer(graph, Exactness::kExact).run(); }

bool replace_divisions(Graph& graph) { return Replacer(graph, Exactness::kExact, true).run(); }

bool replace_expressions_fast(Graph& graph) { return Replacer(graph, Exactness::kFast).run(); }

}  // namespace groove::jit
