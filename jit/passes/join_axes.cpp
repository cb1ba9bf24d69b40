// What is computed behind a view that divides axes is computed before it: a product of rows is
// seen as [images, positions, channels], what follows element by element or row by row need not
// be. Products, their epilogues and the rows between them then share one shape.
//
//     p = mm(a, b)    [768, 512]            p = mm(a, b)    [768, 512]
//     v = view(p)     [12, 64, 512]    →    y = gelu(p)     [768, 512]
//     y = gelu(v)     [12, 64, 512]         view(y)         [12, 64, 512]
//
// Elements keep their order, and axes are joined only where all of them are reduced or none is, so
// every sum has the terms it had, in the order it had them.
// Needs: expanded composites.  Keeps: inputs, outputs, order, places; leaves dead nodes behind.
#include <algorithm>
#include <map>
#include <optional>

#include "groove/error.h"
#include "groove/ops/views.h"
#include "jit/fusion.h"
#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "kernels/build.h"
#include "kernels/lowering.h"
#include "kernels/ops/graph_builder.h"
#include "kernels/ops/structural.h"
#include "src/core/view_strides.h"

namespace groove::jit {
namespace {

using kernels::ElementwiseLowering;
using kernels::ReductionLowering;

// Per axis of the joined shape: where those that it is made of end.
using Joints = std::vector<std::size_t>;

std::optional<Joints> joints_of(const Shape& fine, const Shape& joined) {
  Joints ends;
  std::size_t at = 0;
  for (const std::int64_t size : joined) {
    if (at == fine.size() || size == 0) return std::nullopt;
    std::int64_t product = fine[at++];
    while (product < size && at < fine.size()) product *= fine[at++];
    if (product != size) return std::nullopt;
    ends.push_back(at);
  }
  if (at != fine.size()) return std::nullopt;
  return ends;
}

// An operand of the fine shape, or broadcast to it: its sizes when the axes are joined. Nothing
// where it is broadcast along some axes that become one, and not along others.
std::optional<Shape> joined_operand(const Shape& sizes, const Shape& fine, const Joints& ends) {
  const std::size_t padding = fine.size() - sizes.size();
  Shape result;
  for (std::size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++]) {
    if (ends[i] <= padding) continue;
    std::int64_t own = 1, whole = 1;
    for (std::size_t axis = begin; axis < ends[i]; ++axis) {
      own *= axis < padding ? 1 : sizes[axis - padding];
      whole *= fine[axis];
    }
    if (own != 1 && own != whole) return std::nullopt;
    result.push_back(own);
  }
  return result;
}

bool is_entry_number(const NumberRef& number) { return number.entry >= 0; }

class Joiner {
 public:
  explicit Joiner(Graph&& graph)
      : rewriter_(std::move(graph)), from_(rewriter_.from()), joined_(from_.values.size()) {
    is_output_.assign(from_.values.size(), 0);
    for (const GraphOutput& output : from_.outputs)
      is_output_[static_cast<std::size_t>(output.value)] = 1;
  }

  Graph run(bool& has_changed) {
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      const auto index = static_cast<std::int32_t>(i);
      if (joins(index)) {
        has_changed = true;
        continue;
      }
      const ValueId first = from_.nodes[i].outputs[0];
      rewriter_.copy(index);
      note_view(first);
    }
    return rewriter_.finish();
  }

 private:
  // A value as it was before its axes were divided.
  struct Whole {
    Shape sizes;
    ValueId value = kNoValue;  // of the new graph; none: nothing is known
  };

  const Type& type(ValueId value) const { return from_.type(value); }
  Whole& whole_of(ValueId value) { return joined_[static_cast<std::size_t>(value)]; }

  // The node copied last gives what was `old`: is it a view that divides axes, and nothing else?
  void note_view(ValueId old) {
    const Graph& graph = rewriter_.graph();
    const Node& view = graph.nodes.back();
    if (view.op->kind != OpKind::kView ||
        std::any_of(view.numbers.begin(), view.numbers.end(), is_entry_number))
      return;
    const Shape &before = graph.type(view.inputs[0]).sizes,
                &after = graph.type(view.outputs[0]).sizes;
    if (before.size() >= after.size() || !joints_of(after, before)) return;
    const std::vector<Type> types = operand_types(graph, view);
    const std::vector<Scalar> numbers = recorded_numbers(graph, view);
    const Geometry seen = view.op->view({before, contiguous_strides(before), 0},
                                        Signature{*view.op, types, view.attrs, numbers});
    if (!(seen == Geometry{after, contiguous_strides(after), 0})) return;
    whole_of(old) = {before, view.inputs[0]};
  }

  // The shape that the elements or the reduced elements of a node have.
  const Shape* fine_shape(const Node& node) const {
    if (!node.op->lowering || node.op == &materialize_op() || node.inputs.empty()) return nullptr;
    const auto& how = node.op->lowering->how;
    if (std::holds_alternative<ReductionLowering>(how))
      return node.inputs.size() == 1 ? &type(node.inputs[0]).sizes : nullptr;
    if (!std::holds_alternative<ElementwiseLowering>(how)) return nullptr;
    const Shape& sizes = type(node.outputs[0]).sizes;
    for (const ValueId id : node.outputs) {
      if (type(id).sizes != sizes) return nullptr;
    }
    return &sizes;
  }

  bool joins(std::int32_t index) {
    const Node& node = from_.nodes[static_cast<std::size_t>(index)];
    const Shape* const fine = fine_shape(node);
    if (!fine || std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
          return is_output_[static_cast<std::size_t>(id)] != 0;
        }))
      return false;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || whole_of(id).value == kNoValue || type(id).sizes != *fine) continue;
      if (joins_as(index, *fine, whole_of(id).sizes)) return true;
    }
    return false;
  }

  bool joins_as(std::int32_t index, const Shape& fine, const Shape& joined) {
    const std::optional<Joints> ends = joints_of(fine, joined);
    const Node& node = from_.nodes[static_cast<std::size_t>(index)];
    if (!ends) return false;
    const auto* how = std::get_if<ElementwiseLowering>(&node.op->lowering->how);
    // The index along the last axis has to stay one.
    const std::size_t last = ends->size() > 1 ? (*ends)[ends->size() - 2] : 0;
    if (how && how->uses_last_index && last + 1 != fine.size()) return false;
    Attrs attrs = node.attrs;
    if (!how && !join_reduced(node, *ends, attrs)) return false;
    std::vector<Shape> operands(node.inputs.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      std::optional<Shape> sizes = joined_operand(type(node.inputs[i]).sizes, fine, *ends);
      if (!sizes || !has_view(node.inputs[i], *sizes)) return false;
      operands[i] = std::move(*sizes);
    }
    return place(node, attrs, operands);
  }

  // The axes that are reduced, when every joined axis is reduced whole or not at all.
  static bool join_reduced(const Node& node, const Joints& ends, Attrs& attrs) {
    const AttrReader attr(*node.op, node.attrs);
    const IntArrayRef reduced = attr.integers(0);
    if (reduced.empty()) return true;
    const auto is_reduced = [&](std::size_t axis) {
      return std::find(reduced.begin(), reduced.end(), static_cast<std::int64_t>(axis)) !=
             reduced.end();
    };
    Shape axes;
    for (std::size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++]) {
      for (std::size_t axis = begin + 1; axis < ends[i]; ++axis) {
        if (is_reduced(axis) != is_reduced(begin)) return false;
      }
      if (is_reduced(begin)) axes.push_back(static_cast<std::int64_t>(i));
    }
    attrs = Attrs().add(IntArrayRef(axes));
    // The list and its length come first; what follows stays as it is.
    const auto& words = node.attrs.words();
    for (std::size_t i = 1 + reduced.size(); i < words.size(); ++i) attrs.add(words[i]);
    return true;
  }

  // May the value be seen like this without a copy?
  bool has_view(ValueId value, const Shape& sizes) {
    if (type(value).sizes == sizes || whole_of(value).sizes == sizes) return true;
    const ValueId fresh = rewriter_.renamed(value);
    Geometry geometry;
    std::vector<Start> starts;
    locate(rewriter_.graph(), fresh, geometry, starts);
    return view_strides(geometry, sizes).has_value();
  }

  ValueId viewed(ValueId fresh, const Shape& sizes, const Node& node) {
    if (rewriter_.graph().type(fresh).sizes == sizes) return fresh;
    const auto key = std::make_pair(fresh, std::vector<std::int64_t>(sizes.begin(), sizes.end()));
    const auto known = views_.find(key);
    if (known != views_.end()) return known->second;
    kernels::GraphBuilder builder(rewriter_.graph());
    builder.set_context(node.source, node.stage, nullptr);
    const Tensor source = builder.tensor(fresh);
    const Tensor view = builder.record([&] { return reshape(source, sizes); });
    return views_[key] = builder.value(view);
  }

  // The node over joined axes, and views that divide its results again.
  bool place(const Node& node, const Attrs& attrs, const std::vector<Shape>& operands) {
    Graph& graph = rewriter_.graph();
    Node trial = node;
    trial.attrs = attrs;
    std::vector<Type> types = operand_types(from_, node);
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (node.inputs[i] != kNoValue) types[i].sizes = operands[i];
    }
    const std::vector<Scalar> numbers = recorded_numbers(from_, node);
    TypeResult result;
    try {
      result = node.op->type(Signature{*node.op, types, attrs, numbers});
    } catch (const Error&) {
      return false;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const Type& before = type(node.outputs[i]);
      const Type& after = result.outputs[i];
      if (after.dtype != before.dtype || !joints_of(before.sizes, after.sizes)) return false;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const ValueId old = node.inputs[i];
      if (old == kNoValue) continue;
      trial.inputs[i] = whole_of(old).sizes == operands[i] && whole_of(old).value != kNoValue
                            ? whole_of(old).value
                            : viewed(rewriter_.renamed(old), operands[i], node);
    }
    const std::int32_t made = graph.add_node(*trial.op, trial.inputs, trial.attrs, trial.numbers,
                                             trial.source, trial.stage);
    const std::vector<ValueId> results = graph.nodes[static_cast<std::size_t>(made)].outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Value& old = from_.values[static_cast<std::size_t>(node.outputs[i])];
      graph.values[static_cast<std::size_t>(results[i])].name = old.name;
      const ValueId divided = viewed(results[i], old.type.sizes, node);
      rewriter_.rename(node.outputs[i], divided);
      if (divided != results[i])
        whole_of(node.outputs[i]) = {graph.type(results[i]).sizes, results[i]};
    }
    return true;
  }

  Rewriter rewriter_;
  const Graph& from_;
  std::vector<Whole> joined_;    // per old value
  std::vector<char> is_output_;  // per old value
  std::map<std::pair<ValueId, std::vector<std::int64_t>>, ValueId> views_;
};

// Most graphs have no view of more axes than what it looks at.
bool divides_axes(const Graph& graph, const Node& node) {
  return node.op->kind == OpKind::kView &&
         graph.type(node.outputs[0]).sizes.size() > graph.type(node.inputs[0]).sizes.size();
}

}  // namespace

bool join_axes(Graph& graph) {
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                   [&](const Node& node) { return divides_axes(graph, node); }))
    return false;
  bool has_changed = false;
  graph = Joiner(std::move(graph)).run(has_changed);
  return has_changed;
}

}  // namespace groove::jit
