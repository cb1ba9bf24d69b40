// Sums of slices placed in zeros become one concatenation:
//
//     place_slice(a, 0…2) + place_slice(b, 2…5)  ->  cat(a + 0.0, b + 0.0)
//
// as the gradients of the pieces of a split are. Each element of such a sum is one piece's plus
// zeros; the first zero makes -0.0 to +0.0 and the others change nothing. A single placed slice is
// a concatenation with zeros, without any addition.
// Needs: expanded composites.  Keeps: inputs, outputs, places; leaves dead nodes behind.
#include <algorithm>
#include <map>

#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "kernels/build.h"
#include "kernels/ops/graph_builder.h"
#include "kernels/ops/structural.h"
#include "src/core/faults.h"

namespace groove::jit {
namespace {

struct Piece {
  std::int64_t begin = 0, end = 0;
  ValueId value = kNoValue;  // in the new graph
  bool is_summed = false;
};
struct Placed {
  std::int64_t dim = 0;
  std::vector<Piece> pieces;  // ascending, without overlap
};

// Is the node's body exactly the sum of its two operands, element by element?
bool is_plain_sum(const Graph& graph, const Node& node) {
  if (node.op->kind != OpKind::kElementwise || !node.op->lowering || node.inputs.size() != 2 ||
      !node.numbers.empty() || node.op->is_random) {
    return false;
  }
  const auto* how = std::get_if<kernels::ElementwiseLowering>(&node.op->lowering->how);
  const std::vector<Type> types = operand_types(graph, node);
  const Type& result = graph.type(node.outputs[0]);
  if (!how || node.outputs.size() != 1 || !(types[0] == result) || !(types[1] == result)) {
    return false;
  }
  kernels::Builder builder;
  kernels::Exprs inputs;
  for (const Type& type : types) {
    inputs.push_back(builder.load(type.dtype, kernels::StrideClass::kContiguous));
  }
  const Signature signature{*node.op, types, node.attrs, {}};
  const kernels::Exprs body =
      kernels::emit_elementwise(builder, signature, derive_types(graph, node), inputs, {});
  const kernels::Instr& instr = builder.at(body[0].id());
  return instr.prim == kernels::Prim::kAdd && instr.args[0] == inputs[0].id() &&
         instr.args[1] == inputs[1].id();
}

class Joiner {
 public:
  explicit Joiner(Graph&& from)
      : rewriter_(std::move(from)), from_(rewriter_.from()), readers_(from_.values.size()) {
    for (const Node& node : from_.nodes) {
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) ++readers_[static_cast<std::size_t>(id)];
      }
    }
    for (const GraphOutput& output : from_.outputs) {
      ++readers_[static_cast<std::size_t>(output.value)];
    }
  }

  bool run(Graph& result) {
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) visit(static_cast<std::int32_t>(i));
    for (const GraphOutput& output : from_.outputs) make(output.value);
    result = rewriter_.finish();
    return !placed_.empty();
  }

 private:
  void visit(std::int32_t index) {
    const Node& node = from_.nodes[static_cast<std::size_t>(index)];
    if (place(node) || sum(node)) {
      maker_[node.outputs[0]] = index;
      return;
    }
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) make(id);
    }
    rewriter_.copy(index);
  }

  bool place(const Node& node) {
    if (node.op != &place_slice_op() || node.numbers[0].entry >= 0) return false;
    const AttrReader attr(*node.op, node.attrs);
    if (attr.integer(2) != 1) return false;
    make(node.inputs[0]);
    const std::int64_t dim = attr.integer(1), begin = node.numbers[0].constant.to_int();
    const Shape& sizes = from_.type(node.inputs[0]).sizes;
    const std::int64_t end = begin + sizes[static_cast<std::size_t>(dim)];
    placed_[node.outputs[0]] = {dim, {{begin, end, rewriter_.renamed(node.inputs[0]), false}}};
    return true;
  }

  bool sum(const Node& node) {
    if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return false;
    const auto left = placed_.find(node.inputs[0]), right = placed_.find(node.inputs[1]);
    if (left == placed_.end() || right == placed_.end()) return false;
    if (left->second.dim != right->second.dim || !is_plain_sum(from_, node)) return false;
    for (const ValueId id : node.inputs) {
      if (readers_[static_cast<std::size_t>(id)] != 1) return false;
    }
    Placed both = left->second;
    both.pieces.insert(both.pieces.end(), right->second.pieces.begin(), right->second.pieces.end());
    std::sort(both.pieces.begin(), both.pieces.end(),
              [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    for (std::size_t i = 0; i < both.pieces.size(); ++i) {
      if (i > 0 && both.pieces[i - 1].end > both.pieces[i].begin) return false;
      both.pieces[i].is_summed = true;
    }
    placed_[node.outputs[0]] = std::move(both);
    return true;
  }

  // Emits the concatenation of a value that was put off.
  void make(ValueId old) {
    const auto found = maker_.find(old);
    if (found == maker_.end()) return;
    const Node& node = from_.nodes[static_cast<std::size_t>(found->second)];
    maker_.erase(found);
    const Placed& placed = placed_.at(old);
    const Type& type = from_.type(old);
    kernels::GraphBuilder builder(rewriter_.graph());
    builder.set_context(node.source, node.stage, nullptr);
    const Tensor whole = builder.record([&] {
      Tensors parts;
      std::int64_t at = 0;
      const auto fill_to = [&](std::int64_t end) {
        if (end <= at) return;
        Shape sizes = type.sizes;
        sizes[static_cast<std::size_t>(placed.dim)] = end - at;
        parts.push_back(zeros(sizes, TensorOptions().dtype(type.dtype)));
      };
      for (const Piece& piece : placed.pieces) {
        fill_to(piece.begin);
        const Tensor part = builder.tensor(piece.value);
        if (piece.end > piece.begin)
          parts.push_back(piece.is_summed && !has_fault(Fault::kNegativeZeroJoined) ? add(part, 0)
                                                                                    : part);
        at = std::max(at, piece.end);
      }
      fill_to(type.sizes[static_cast<std::size_t>(placed.dim)]);
      return parts.size() == 1 ? parts[0] : cat(parts, placed.dim);
    });
    rewriter_.rename(old, builder.value(whole));
  }

  Rewriter rewriter_;
  const Graph& from_;
  std::vector<int> readers_;               // per old value
  std::map<ValueId, Placed> placed_;       // by old value
  std::map<ValueId, std::int32_t> maker_;  // put off: old value -> old node
};

}  // namespace

bool join_slices(Graph& graph) {
  const auto is_slice = [](const Node& node) {
    return node.op == &place_slice_op() && node.numbers[0].entry < 0;
  };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_slice)) return false;
  return Joiner(std::move(graph)).run(graph);
}

}  // namespace groove::jit
