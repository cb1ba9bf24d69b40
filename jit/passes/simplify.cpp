// Removes elementwise nodes that only give back one of their operands, and views that do nothing
// or do it in two steps. Looks at what ops compute (their scalar bodies, with the bodies of their
// operands in place), not at names. Exact rules only: each is proved bit by bit in tests/passes.
// Needs: expanded composites.  Keeps: inputs, outputs, order, places; leaves dead nodes behind.
#include <unordered_map>

#include "jit/form.h"
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

// What a dtype holds: integers or floats of so many digits, up to and down to these powers of two.
struct Digits {
  bool is_integer, is_signed;
  int count, least, most;
};
Digits digits_of(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return {false, true, 11, -24, 15};
    case kBFloat16:
      return {false, true, 8, -133, 127};
    case kFloat:
      return {false, true, 24, -149, 127};
    case kDouble:
      return {false, true, 53, -1074, 1023};
    default: {
      const bool is_signed = dtype != kBool && dtype != kByte;
      const int bits = dtype == kBool ? 1 : static_cast<int>(8 * element_size(dtype));
      return {true, is_signed, bits - is_signed, 0, bits};
    }
  }
}
bool holds_all(ScalarType wide, ScalarType narrow) {
  const Digits w = digits_of(wide), n = digits_of(narrow);
  return w.count >= n.count && w.is_signed >= n.is_signed && w.is_integer <= n.is_integer &&
         w.least <= n.least && (w.is_integer || w.most >= n.most);
}

constexpr std::size_t kMaxBody = 24;  // instructions; a longer body is nobody's identity

class Simplifier {
 public:
  explicit Simplifier(Graph& graph) : graph_(graph), names_(graph), form_(graph) {}

  bool run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) visit(graph_.nodes[i]);
    names_.rename_outputs(graph_);
    return has_changed_;
  }

 private:
  const Node* producer(ValueId value) const { return producer_of(graph_, value); }

  void visit(Node& node) {
    names_.rename_inputs(node);
    if (node.outputs.size() != 1 || node.op == &constant_op()) return;
    ValueId same = kNoValue;
    if (node.op->kind == OpKind::kView) {
      read_part(node);
      skip_inner_view(node);
      same = behind_view(node);
    } else if (is_elementwise(node) && node.op != &materialize_op() && !node.inputs.empty()) {
      same = skip_inner_conversion(node) ? node.inputs[0] : operand_given_back(node);
    }
    if (same == kNoValue) return;
    names_.rename(node.outputs[0], same);
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
    const std::vector<Type> types{graph_.type(input)};
    const std::vector<Scalar> numbers = recorded_numbers(graph_, node);
    return node.op->view(geometry, Signature{*node.op, types, node.attrs, numbers});
  }
  static bool has_entry_numbers(const Node& node) {
    for (const NumberRef& number : node.numbers) {
      if (number.entry >= 0) return true;
    }
    return false;
  }
  static Geometry contiguous(const Shape& sizes) { return {sizes, contiguous_strides(sizes), 0}; }

  // A view that begins somewhere in a concatenation and sees one part alone reads that part, as the
  // steps of a loop do that what was collected by another loop is given back to.
  void read_part(Node& node) {
    const Node* const whole = producer(node.inputs[0]);
    if (!whole || !whole->op->lowering ||
        !std::holds_alternative<kernels::ConcatenateLowering>(whole->op->lowering->how) ||
        node.numbers.size() != 1 || node.numbers[0].entry >= 0)
      return;
    const Shape& sizes = graph_.type(node.inputs[0]).sizes;
    const auto axis = static_cast<std::size_t>(AttrReader(*whole->op, whole->attrs).integer(0));
    // Then parts lie one after the other.
    if (std::any_of(sizes.begin(), sizes.begin() + axis, [](auto size) { return size != 1; }))
      return;
    const Geometry memory = contiguous(sizes);
    const Type output = graph_.type(node.outputs[0]);
    std::int64_t start = node.numbers[0].constant.to_int(), begin = 0;
    if (start < 0) start += sizes[axis];
    for (const ValueId part : whole->inputs) {
      const Shape& own = graph_.type(part).sizes;
      if (own.size() != sizes.size()) return;  // LibTorch's empty 1-d tensors
      const std::int64_t end = begin + own[axis];
      if (start < begin || start >= end) {
        begin = end;
        continue;
      }
      Node direct = node;
      direct.inputs[0] = part;
      direct.numbers[0].constant = Scalar(start - begin);
      try {
        Geometry seen = apply(direct, contiguous(own), part);
        seen.offset += begin * memory.strides[axis];
        if (!(seen == apply(node, memory, node.inputs[0])) ||
            !(derive_types(graph_, direct).outputs[0] == output))
          return;
      } catch (const Error&) {
        return;  // it goes on into the next part
      }
      node = std::move(direct);
      has_changed_ = true;
      return;
    }
  }

  // A view that gives the same elements of the input of an inner view as it gives of the inner
  // view need not wait for that: reshape of reshape.
  void skip_inner_view(Node& node) {
    for (;;) {
      const Node* const inner = producer(node.inputs[0]);
      if (!inner || inner->op->kind != OpKind::kView || has_entry_numbers(node) ||
          has_entry_numbers(*inner)) {
        return;
      }
      const ValueId source = inner->inputs[0];
      const Type output = graph_.type(node.outputs[0]);
      try {
        const Geometry memory = contiguous(graph_.type(source).sizes);
        const Geometry stepwise = apply(node, apply(*inner, memory, source), node.inputs[0]);
        if (!(apply(node, memory, source) == stepwise)) return;
        Node direct = node;
        direct.inputs[0] = source;
        if (!(derive_types(graph_, direct).outputs[0] == output)) return;
      } catch (const Error&) {
        return;
      }
      node.inputs[0] = source;
      has_changed_ = true;
    }
  }

  // The value at some distance behind the view that has exactly the view's elements in order.
  ValueId behind_view(const Node& view) {
    const Node* node = &view;
    const Type type = graph_.type(node->outputs[0]);
    std::vector<const Node*> chain;
    ValueId same = kNoValue;
    while (node && node->op->kind == OpKind::kView && !has_entry_numbers(*node)) {
      chain.push_back(node);
      const ValueId source = node->inputs[0];
      if (graph_.type(source) == type) {
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

  // ---- conversions ----

  // Does the node convert its operand and do nothing else?
  bool is_conversion(const Node& node) const {
    if (!is_elementwise(node) || node.op->inputs != 1 || !node.numbers.empty()) return false;
    const Type& from = graph_.type(node.inputs[0]);
    const Type& to = graph_.type(node.outputs[0]);
    if (!(from.sizes == to.sizes)) return false;
    const std::vector<Type> types{from};
    Builder builder;
    const Expr input = builder.load(from.dtype, kernels::StrideClass::kContiguous);
    const Exprs body =
        kernels::emit_elementwise(builder, Signature{*node.op, types, node.attrs, {}},
                                  derive_types(graph_, node), {input}, {});
    return body[0].id() == kernels::convert(input, to.dtype).id();
  }

  // A conversion to a dtype that holds all there is changes nothing for the one after it. True when
  // that one then has nothing left to convert.
  bool skip_inner_conversion(Node& node) {
    for (;;) {
      const Node* const inner = producer(node.inputs[0]);
      if (!inner || inner->op->kind != OpKind::kElementwise || inner->inputs.size() != 1)
        return false;
      const ScalarType source = graph_.type(inner->inputs[0]).dtype;
      const ScalarType between = graph_.type(node.inputs[0]).dtype;
      if (source == between || !holds_all(between, source) || !is_conversion(node) ||
          !is_conversion(*inner)) {
        return false;
      }
      // A copy gives the dtype that it is given.
      Node direct = node;
      direct.inputs[0] = inner->inputs[0];
      if (!(derive_types(graph_, direct).outputs[0] == graph_.type(node.outputs[0]))) return false;
      node.inputs[0] = direct.inputs[0];
      has_changed_ = true;
      if (graph_.type(node.inputs[0]) == graph_.type(node.outputs[0])) return true;
    }
  }

  // ---- scalar bodies ----

  // The operand (or operand's operand) that the node gives back unchanged. Which of them it is
  // depends on the form of the node and of those before it, so it is found out once for each form:
  // bodies know dtypes, attributes and numbers, but no sizes.
  ValueId operand_given_back(const Node& node) {
    form_.clear();
    leaves_.clear();
    add_form(node, 1);
    static auto& given_back = *new KnownForms<std::int32_t>;
    const std::int32_t leaf = given_back.of(form_.words(), [&] { return leaf_given_back(node); });
    if (leaf < 0) return kNoValue;
    const ValueId same = leaves_[static_cast<std::size_t>(leaf)];
    return graph_.type(same) == graph_.type(node.outputs[0]) ? same : kNoValue;
  }

  // The number of a leaf, or -1.
  std::int32_t leaf_given_back(const Node& node) {
    Builder builder;
    std::vector<ValueId> leaves;
    const Exprs results = emit(builder, node, leaves, 1);
    GROOVE_ASSERT(leaves == leaves_, "{}: its form is not what it computes", node.op->name);
    if (static_cast<std::size_t>(results[0].id()) > kMaxBody) return -1;
    return simplified_to_load(builder, results[0]);
  }

  // Walks as emit() does.
  void add_form(const Node& node, int depth) {
    form_.add_call(node);
    form_.add_list(node.inputs, [&](ValueId id) {
      form_.add(id != kNoValue);
      if (id == kNoValue) return;
      form_.add_dtype(id);
      const Node* const from = emitted_producer(id, depth);
      form_.add(from != nullptr);
      if (!from) return form_.add_counted(leaves_, id);
      form_.add(graph_.values[static_cast<std::size_t>(id)].output);
      add_form(*from, depth - 1);
    });
  }

  Exprs emit(Builder& builder, const Node& node, std::vector<ValueId>& leaves, int depth) {
    const std::vector<Type> types = operand_types(graph_, node);
    const std::vector<Scalar> numbers = recorded_numbers(graph_, node);
    const Signature signature{*node.op, types, node.attrs, numbers};
    const TypeResult result = derive_types(graph_, node);
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
    if (const Node* const from = emitted_producer(id, depth)) {
      const Value& value = graph_.values[static_cast<std::size_t>(id)];
      return emit(builder, *from, leaves, depth - 1)[static_cast<std::size_t>(value.output)];
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (leaves[i] == id) return builder.load(static_cast<int>(i));
    }
    leaves.push_back(id);
    return builder.load(graph_.type(id).dtype, kernels::StrideClass::kContiguous);
  }
  // Constants, and nodes without broadcasting: an operand's operand then has the same elements.
  const Node* emitted_producer(ValueId id, int depth) const {
    const Node* const from = producer(id);
    if (!from || from->op == &constant_op()) return from;
    return depth > 0 && is_elementwise(*from) && !broadcasts(*from) ? from : nullptr;
  }
  bool broadcasts(const Node& node) const {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && !(graph_.type(id).sizes == graph_.type(node.outputs[0]).sizes))
        return true;
    }
    return false;
  }

  Graph& graph_;
  Names names_;
  bool has_changed_ = false;
  FormWriter form_;
  std::vector<ValueId> leaves_;  // of the form
};

}  // namespace

bool simplify(Graph& graph) { return Simplifier(graph).run(); }

}  // namespace groove::jit
