// Gives memory of their own to values that need it: the input of a view that its memory does not
// allow, operands that do not collapse to the axes of a reduction or a matrix, operands of host
// code, and outputs that are views, inputs, constants or outputs twice. Copies are ordinary
// elementwise nodes, so fusion may make them part of the producer.
// Needs: expanded composites.  Keeps: inputs, order, places; the last pass before fusion.
#include <algorithm>
#include <map>
#include <optional>

#include "jit/fusion.h"
#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "kernels/build.h"
#include "kernels/ops/structural.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

class Copier {
 public:
  explicit Copier(Graph&& from) : rewriter_(std::move(from)), from_(rewriter_.from()) {}

  bool run(Graph& result) {
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) prepare(static_cast<std::int32_t>(i));
    Graph& to = rewriter_.graph();
    std::vector<char> is_taken(from_.values.size() * 2 + 8, 0);
    std::vector<GraphOutput> outputs;
    for (const GraphOutput& output : from_.outputs) {
      GraphOutput renamed{rewriter_.renamed(output.value), output.writes, output.stage};
      const Value& value = to.values[static_cast<std::size_t>(renamed.value)];
      // An input that keeps its value needs no launch.
      if (value.node < 0 && value.output == output.writes) {
        has_changed_ = true;
        continue;
      }
      if (value.node < 0 || is_view(to, renamed.value) ||
          is_splat(to.nodes[static_cast<std::size_t>(value.node)]) ||
          !is_row_major(to, renamed.value) ||
          (static_cast<std::size_t>(renamed.value) < is_taken.size() &&
           is_taken[static_cast<std::size_t>(renamed.value)])) {
        renamed.value = fresh_copy(renamed.value, {}, output.stage);
      } else if (static_cast<std::size_t>(renamed.value) < is_taken.size()) {
        is_taken[static_cast<std::size_t>(renamed.value)] = 1;
      }
      outputs.push_back(renamed);
    }
    result = rewriter_.finish();
    result.outputs = std::move(outputs);
    return has_changed_;
  }

 private:
  static bool is_row_major(const Graph& graph, ValueId value) {
    const Geometry memory = memory_geometry(graph, value);
    return without_strides_of_ones(memory) == contiguous_strides(memory.sizes);
  }
  static Shape without_strides_of_ones(const Geometry& geometry) {
    Shape strides = geometry.strides;
    const Shape plain = contiguous_strides(geometry.sizes);
    for (std::size_t i = 0; i < strides.size(); ++i) {
      if (geometry.sizes[i] == 1) strides[i] = plain[i];
    }
    return strides;
  }

  ValueId fresh_copy(ValueId value, const Shape& order, std::int32_t stage) {
    has_changed_ = true;
    Graph& to = rewriter_.graph();
    Attrs attrs;
    attrs.add(IntArrayRef(order));
    const std::int32_t node = to.add_node(materialize_op(), {value}, attrs, {}, place_, stage);
    return to.nodes[static_cast<std::size_t>(node)].outputs[0];
  }
  ValueId copy_of(ValueId value, const Shape& order = {}) {
    const auto key = std::make_pair(value, std::vector<std::int64_t>(order.begin(), order.end()));
    if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
    return copies_[key] = fresh_copy(value, order, stage_);
  }

  // The geometry in which new value `value` is found in memory; false when a view forbids it.
  bool geometry_of(ValueId value, Geometry& geometry) {
    Graph& to = rewriter_.graph();
    std::vector<std::int32_t> views;
    while (is_view(to, value)) {
      views.push_back(to.values[static_cast<std::size_t>(value)].node);
      value = to.nodes[static_cast<std::size_t>(views.back())].inputs[0];
    }
    geometry = memory_geometry(to, value);
    try {
      for (std::size_t i = views.size(); i-- > 0;) {
        const Node& node = to.nodes[static_cast<std::size_t>(views[i])];
        const std::vector<Type> types = operand_types(to, node);
        const std::vector<Scalar> numbers = recorded_numbers(to, node);
        geometry = node.op->view(geometry, Signature{*node.op, types, node.attrs, numbers});
      }
    } catch (const Error&) {
      return false;
    }
    return true;
  }
  bool has_no_memory(ValueId value) {
    Graph& to = rewriter_.graph();
    const ValueId root = root_of(to, value);
    const std::int32_t node = to.values[static_cast<std::size_t>(root)].node;
    return node >= 0 && is_splat(to.nodes[static_cast<std::size_t>(node)]);
  }

  void prepare(std::int32_t index) {
    const Node& node = from_.nodes[static_cast<std::size_t>(index)];
    place_ = node.place;
    stage_ = node.stage;
    const std::int32_t copied = rewriter_.copy(index);
    if (node.op->kind == OpKind::kView) {
      prepare_view(copied);
    } else if (node.op->lowering) {
      const auto& how = node.op->lowering->how;
      if (std::holds_alternative<kernels::ReductionLowering>(how)) prepare_reduction(copied);
      if (std::holds_alternative<kernels::ContractionLowering>(how)) prepare_contraction(copied);
      if (std::holds_alternative<kernels::OpaqueLowering>(how)) prepare_opaque(copied);
      if (std::holds_alternative<kernels::GatherLowering>(how)) replace_splat(copied, 0);
    }
  }

  // Nodes are appended in order: a copy made for the node that was appended last goes before it.
  template <typename Make>
  void replace(std::int32_t index, std::size_t operand, const Make& make) {
    Graph& to = rewriter_.graph();
    Node moved = std::move(to.nodes.back());
    to.nodes.pop_back();
    const ValueId fresh = make(moved.inputs[operand]);
    moved.inputs[operand] = fresh;
    const auto now = static_cast<std::int32_t>(to.nodes.size());
    for (const ValueId id : moved.outputs) to.values[static_cast<std::size_t>(id)].node = now;
    to.nodes.push_back(std::move(moved));
    (void)index;
  }
  void replace_by_copy(std::int32_t index, std::size_t operand, const Shape& order = {}) {
    replace(index, operand, [&](ValueId value) { return copy_of(value, order); });
  }
  Node& last() { return rewriter_.graph().nodes.back(); }
  void replace_splat(std::int32_t index, std::size_t operand) {
    if (has_no_memory(last().inputs[operand])) replace_by_copy(index, operand);
  }

  void prepare_view(std::int32_t index) {
    Geometry geometry;
    if (!geometry_of(last().outputs[0], geometry)) replace_by_copy(index, 0);
  }

  void prepare_opaque(std::int32_t index) {
    for (std::size_t i = 0; i < last().inputs.size(); ++i) {
      const ValueId value = last().inputs[i];
      if (value == kNoValue) continue;
      Geometry geometry;
      if (has_no_memory(value) || !geometry_of(value, geometry) ||
          !(without_strides_of_ones(geometry) == contiguous_strides(geometry.sizes))) {
        replace_by_copy(index, i);
      }
    }
  }

  // One step from each element of the flattened axes to the next?
  static bool is_one_axis(const Geometry& geometry, IntArrayRef axes) {
    std::optional<std::int64_t> expected;  // strides may be negative
    for (std::size_t i = axes.size(); i-- > 0;) {
      const auto axis = static_cast<std::size_t>(axes[i]);
      if (geometry.sizes[axis] == 1) continue;
      if (expected && geometry.strides[axis] != *expected) return false;
      expected = geometry.strides[axis] * geometry.sizes[axis];
    }
    return true;
  }

  void prepare_reduction(std::int32_t index) {
    Graph& to = rewriter_.graph();
    const std::vector<Type> types = operand_types(to, last());
    const std::vector<Scalar> numbers = recorded_numbers(to, last());
    const Shape axes = kernels::reduction_axes(Signature{*last().op, types, last().attrs, numbers});
    Geometry geometry;
    if (geometry_of(last().inputs[0], geometry) && is_one_axis(geometry, axes)) return;
    Shape order(axes);
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < types[0].sizes.size(); ++i) {
      const auto axis = static_cast<std::int64_t>(i);
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) kept.push_back(axis);
    }
    // Rows lie whole; columns side by side.
    const bool is_row =
        kernels::reduction_order(types[0].sizes.size(), axes) == kernels::Order::kRow;
    if (is_row) {
      order.clear();
    } else {
      for (const std::int64_t axis : kept) order.push_back(axis);
    }
    replace_by_copy(index, 0, order);
  }

  void prepare_contraction(std::int32_t index) {
    const auto& how = std::get<kernels::ContractionLowering>(last().op->lowering->how);
    for (std::size_t i = 0; i < 2; ++i) {
      Geometry geometry;
      const bool is_found =
          !has_no_memory(last().inputs[i]) && geometry_of(last().inputs[i], geometry);
      if (!is_found || !is_matrix(geometry, how.transpose_b)) replace_by_copy(index, i);
    }
    if (last().inputs.size() > 2 && last().inputs[2] != kNoValue) {
      Geometry geometry;
      if (!geometry_of(last().inputs[2], geometry)) replace_by_copy(index, 2);
    }
  }
  static bool is_matrix(const Geometry& geometry, bool leading_axes_are_rows) {
    const std::size_t rank = geometry.sizes.size();
    if (rank < 2) return true;
    if (geometry.strides[rank - 1] != 1 && geometry.strides[rank - 2] != 1 &&
        geometry.sizes[rank - 1] != 1 && geometry.sizes[rank - 2] != 1) {
      return false;
    }
    Shape leading;
    const std::size_t count = leading_axes_are_rows ? rank - 1 : rank - 2;
    for (std::size_t i = 0; i < count; ++i) leading.push_back(static_cast<std::int64_t>(i));
    return is_one_axis(geometry, leading);
  }

  Rewriter rewriter_;
  const Graph& from_;
  Place place_;
  std::int32_t stage_ = 0;
  bool has_changed_ = false;
  std::map<std::pair<ValueId, std::vector<std::int64_t>>, ValueId> copies_;
};

}  // namespace

bool insert_copies(Graph& graph) { return Copier(std::move(graph)).run(graph); }

}  // namespace groove::jit
