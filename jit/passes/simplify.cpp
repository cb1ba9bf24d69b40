// Removes elementwise nodes that only give back one of their operands, and views that do nothing
// or do it in two steps. Looks at what ops compute (their scalar bodies, with the bodies of their
// operands in place), not at names. Exact rules only: each is proved bit by bit in tests/passes.
// Needs: expanded composites.  Keeps: inputs, outputs, order, places; leaves dead nodes behind.
#include <array>

#include "jit/fusion.h"
#include "jit/passes/passes.h"
#include "jit/passes/scalar_rules.h"
#include "jit/rewrite.h"
#include "kernels/build.h"
#include "kernels/ops/structural.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

using kernels::Builder;
using kernels::Expr;
using kernels::Exprs;

constexpr std::size_t kMaxBody = 24;  // instructions; a longer body is nobody's identity

class Simplifier {
 public:
  explicit Simplifier(const Graph& from) : from_(from), rewriter_(from) {}

  bool run(Graph& result) {
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) visit(static_cast<std::int32_t>(i));
    if (!has_changed_) return false;
    result = rewriter_.finish();
    return true;
  }

 private:
  Graph& to() { return rewriter_.graph(); }
  const Node* producer(ValueId value) {
    const std::int32_t index = to().values[static_cast<std::size_t>(value)].node;
    return index < 0 ? nullptr : &to().nodes[static_cast<std::size_t>(index)];
  }

  void visit(std::int32_t index) {
    const std::int32_t copied = rewriter_.copy(index);
    const Node& node = to().nodes[static_cast<std::size_t>(copied)];
    if (node.outputs.size() != 1 || node.op == &constant_op()) return;
    ValueId same = kNoValue;
    if (node.op->kind == OpKind::kView) {
      skip_inner_view(copied);
      same = behind_view(copied);
    } else if (is_elementwise(node) && node.op != &materialize_op() && !node.inputs.empty()) {
      same = operand_given_back(node);
    }
    if (same == kNoValue) return;
    rewriter_.rename(from_.nodes[static_cast<std::size_t>(index)].outputs[0], same);
    has_changed_ = true;
  }

  static bool is_elementwise(const Node& node) {
    if (node.op->kind != OpKind::kElementwise || node.op->is_random || !node.op->lowering) {
      return false;
    }
    const auto* how = std::get_if<kernels::ElementwiseLowering>(&node.op->lowering->how);
    return how && !how->uses_flat_index && !how->uses_last_index;
  }

  // ---- views ----

  Geometry apply(const Node& node, const Geometry& geometry, ValueId input) {
    const std::vector<Type> types{to().type(input)};
    const std::vector<Scalar> numbers = recorded_numbers(to(), node);
    return node.op->view(geometry, Signature{*node.op, types, node.attrs, numbers});
  }
  static bool has_entry_numbers(const Node& node) {
    for (const NumberRef& number : node.numbers) {
      if (number.entry >= 0) return true;
    }
    return false;
  }
  static Geometry contiguous(const Shape& sizes) { return {sizes, contiguous_strides(sizes), 0}; }

  // A view that gives the same elements of the input of an inner view as it gives of the inner
  // view need not wait for that: reshape of reshape.
  void skip_inner_view(std::int32_t index) {
    for (;;) {
      Node& node = to().nodes[static_cast<std::size_t>(index)];
      const Node* const inner = producer(node.inputs[0]);
      if (!inner || inner->op->kind != OpKind::kView || has_entry_numbers(node) ||
          has_entry_numbers(*inner)) {
        return;
      }
      const ValueId source = inner->inputs[0];
      const Type output = to().type(node.outputs[0]);
      try {
        const Geometry memory = contiguous(to().type(source).sizes);
        const Geometry stepwise = apply(node, apply(*inner, memory, source), node.inputs[0]);
        if (!(apply(node, memory, source) == stepwise)) return;
        Node direct = node;
        direct.inputs[0] = source;
        if (!(derive_types(to(), direct).outputs[0] == output)) return;
      } catch (const Error&) {
        return;
      }
      to().nodes[static_cast<std::size_t>(index)].inputs[0] = source;
      has_changed_ = true;
    }
  }

  // The value at some distance behind the view that has exactly the view's elements in order.
  ValueId behind_view(std::int32_t index) {
    const Node* node = &to().nodes[static_cast<std::size_t>(index)];
    const Type type = to().type(node->outputs[0]);
    std::vector<const Node*> chain;
    ValueId same = kNoValue;
    while (node && node->op->kind == OpKind::kView && !has_entry_numbers(*node)) {
      chain.push_back(node);
      const ValueId source = node->inputs[0];
      if (to().type(source) == type) {
        const Geometry memory = contiguous(type.sizes);
        try {
          Geometry seen = memory;
          for (std::size_t i = chain.size(); i-- > 0;)
            seen = apply(*chain[i], seen, chain[i]->inputs[0]);
          if (is_same(seen, memory)) same = source;
        } catch (const Error&) {
          return same;
        }
      }
      node = producer(source);
    }
    return same;
  }
  static bool is_same(const Geometry& a, const Geometry& b) {
    if (!(a.sizes == b.sizes) || a.offset != b.offset) return false;
    for (std::size_t i = 0; i < a.sizes.size(); ++i) {
      if (a.sizes[i] != 1 && a.strides[i] != b.strides[i]) return false;
    }
    return true;
  }

  // ---- scalar bodies ----

  // The operand (or operand's operand) that the node gives back unchanged.
  ValueId operand_given_back(const Node& node) {
    Builder builder;
    std::vector<ValueId> leaves;
    const Exprs results = emit(builder, node, leaves, 1);
    if (static_cast<std::size_t>(results[0].id()) > kMaxBody) return kNoValue;
    const std::int32_t access = simplified_to_load(builder, results[0]);
    if (access < 0) return kNoValue;
    const ValueId same = leaves[static_cast<std::size_t>(access)];
    return to().type(same) == to().type(node.outputs[0]) ? same : kNoValue;
  }

  Exprs emit(Builder& builder, const Node& node, std::vector<ValueId>& leaves, int depth) {
    const std::vector<Type> types = operand_types(to(), node);
    const std::vector<Scalar> numbers = recorded_numbers(to(), node);
    const Signature signature{*node.op, types, node.attrs, numbers};
    const TypeResult result = derive_types(to(), node);
    const auto& how = std::get<kernels::ElementwiseLowering>(node.op->lowering->how);
    Exprs inputs, parameters;
    for (const ValueId id : node.inputs) inputs.push_back(operand(builder, id, leaves, depth));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const ScalarType dtype = kernels::number_dtype(signature, how, result.compute, i);
      parameters.push_back(node.numbers[i].entry >= 0
                               ? builder.param(dtype)
                               : builder.constant_bits(dtype, numbers[i].bits_as(dtype)));
    }
    return kernels::emit_elementwise(builder, signature, result, inputs, parameters);
  }

  Expr operand(Builder& builder, ValueId id, std::vector<ValueId>& leaves, int depth) {
    if (id == kNoValue) return {};
    const Node* const from = producer(id);
    const auto output = static_cast<std::size_t>(to().values[static_cast<std::size_t>(id)].output);
    if (from && from->op == &constant_op()) return emit(builder, *from, leaves, 0)[output];
    // Only nodes without broadcasting: an operand's operand then has the same elements.
    if (depth > 0 && from && is_elementwise(*from) && !broadcasts(*from)) {
      return emit(builder, *from, leaves, depth - 1)[output];
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (leaves[i] == id) return builder.load(static_cast<int>(i));
    }
    leaves.push_back(id);
    return builder.load(to().type(id).dtype, kernels::StrideClass::kContiguous);
  }
  bool broadcasts(const Node& node) {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && !(to().type(id).sizes == to().type(node.outputs[0]).sizes)) return true;
    }
    return false;
  }

  const Graph& from_;
  Rewriter rewriter_;
  bool has_changed_ = false;
};

}  // namespace

bool simplify(Graph& graph) {
  Graph simpler;
  if (!Simplifier(graph).run(simpler)) return false;
  graph = std::move(simpler);
  return true;
}

}  // namespace groove::jit
