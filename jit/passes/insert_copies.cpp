// Gives memory of their own to values that need it: the input of a view that its memory does not
// allow, operands that do not collapse to the axes of a reduction or a matrix, operands of host
// code, and outputs that are views, inputs, constants or outputs twice. Weights that several small
// products would each turn round are turned once. Copies are ordinary elementwise nodes, so fusion
// may make them part of the producer.
// Needs: expanded composites.  Keeps: inputs, order, places; the last pass before fusion.
#include <algorithm>
#include <map>
#include <optional>

#include "jit/fusion.h"
#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "kernels/build.h"
#include "kernels/contraction/contraction.h"
#include "kernels/ops/structural.h"
#include "src/core/check.h"
#include "src/core/faults.h"

namespace groove::jit {
namespace {

// Beyond this many rows a product hides what turning its right operand round costs, and beyond this
// many bytes the tiles had better find it packed.
constexpr std::int64_t kFewRows = 64, kSmallOperand = 512 << 10;

class Copier {
 public:
  explicit Copier(Graph& graph) : graph_(graph), count_(graph.nodes.size()) {
    for (const Node& node : graph.nodes) {
      const bool is_product =
          node.op->lowering &&
          std::holds_alternative<kernels::ContractionLowering>(node.op->lowering->how);
      if (is_product) ++products_[node.inputs[1]];
    }
  }

  bool run() {
    for (; current_ < count_; ++current_) prepare();
    std::vector<char> is_taken(graph_.values.size(), 0);
    std::vector<GraphOutput> outputs;
    for (GraphOutput output : graph_.outputs) {
      const Value& value = graph_.values[static_cast<std::size_t>(output.value)];
      // An input that keeps its value needs no launch.
      if (value.node < 0 && value.output == output.writes) {
        has_changed_ = true;
        continue;
      }
      char& is_output = is_taken[static_cast<std::size_t>(output.value)];
      if (value.node < 0 || is_view(graph_, output.value) ||
          is_splat(graph_.nodes[static_cast<std::size_t>(value.node)]) ||
          !is_row_major(graph_, output.value) || is_output) {
        output.value = fresh_copy(output.value, {}, output.stage);
      } else {
        is_output = 1;
      }
      outputs.push_back(output);
    }
    graph_.outputs = std::move(outputs);
    move_before(graph_, before_);
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
    Attrs attrs;
    attrs.add(IntArrayRef(order));
    const std::int32_t node = graph_.add_node(materialize_op(), {value}, attrs, {}, source_, stage);
    before_.push_back(static_cast<std::int32_t>(current_));
    return graph_.nodes[static_cast<std::size_t>(node)].outputs[0];
  }
  ValueId copy_of(ValueId value, const Shape& order = {}) {
    const auto key =
        std::make_pair(value, has_fault(Fault::kSwappedLayout)
                                  ? std::vector<std::int64_t>()
                                  : std::vector<std::int64_t>(order.begin(), order.end()));
    if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
    return copies_[key] = fresh_copy(value, order, stage_);
  }

  // The geometry in which new value `value` is found in memory; false when a view forbids it.
  bool geometry_of(ValueId value, Geometry& geometry) {
    std::vector<std::int32_t> views;
    while (is_view(graph_, value)) {
      views.push_back(graph_.values[static_cast<std::size_t>(value)].node);
      value = graph_.nodes[static_cast<std::size_t>(views.back())].inputs[0];
    }
    geometry = memory_geometry(graph_, value);
    try {
      for (std::size_t i = views.size(); i-- > 0;) {
        const Node& node = graph_.nodes[static_cast<std::size_t>(views[i])];
        const std::vector<Type> types = operand_types(graph_, node);
        const std::vector<Scalar> numbers = recorded_numbers(graph_, node);
        geometry = node.op->view(geometry, Signature{*node.op, types, node.attrs, numbers});
      }
    } catch (const Error&) {
      return false;
    }
    return true;
  }
  bool has_no_memory(ValueId value) {
    const ValueId root = root_of(graph_, value);
    const std::int32_t node = graph_.values[static_cast<std::size_t>(root)].node;
    return node >= 0 && is_splat(graph_.nodes[static_cast<std::size_t>(node)]);
  }

  Node& node() { return graph_.nodes[current_]; }
  void prepare() {
    source_ = node().source;
    stage_ = node().stage;
    if (node().op->kind == OpKind::kView) {
      prepare_view();
    } else if (node().op->lowering) {
      const auto& how = node().op->lowering->how;
      if (std::holds_alternative<kernels::ReductionLowering>(how)) prepare_reduction();
      if (std::holds_alternative<kernels::ContractionLowering>(how)) prepare_contraction();
      if (std::holds_alternative<kernels::OpaqueLowering>(how)) prepare_opaque();
      if (std::holds_alternative<kernels::GatherLowering>(how)) replace_splat(0);
    }
  }

  void replace_by_copy(std::size_t operand, const Shape& order = {}) {
    const ValueId copy = copy_of(node().inputs[operand], order);
    node().inputs[operand] = copy;
  }
  void replace_splat(std::size_t operand) {
    if (has_no_memory(node().inputs[operand])) replace_by_copy(operand);
  }

  void prepare_view() {
    Geometry geometry;
    if (!geometry_of(node().outputs[0], geometry)) replace_by_copy(0);
  }

  void prepare_opaque() {
    for (std::size_t i = 0; i < node().inputs.size(); ++i) {
      const ValueId value = node().inputs[i];
      if (value == kNoValue) continue;
      Geometry geometry;
      if (has_no_memory(value) || !geometry_of(value, geometry) ||
          !(without_strides_of_ones(geometry) == contiguous_strides(geometry.sizes))) {
        replace_by_copy(i);
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

  void prepare_reduction() {
    const std::vector<Type> types = operand_types(graph_, node());
    const std::vector<Scalar> numbers = recorded_numbers(graph_, node());
    const Shape axes = kernels::reduction_axes(Signature{*node().op, types, node().attrs, numbers});
    Geometry geometry;
    if (geometry_of(node().inputs[0], geometry) && is_one_axis(geometry, axes)) return;
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
    replace_by_copy(0, order);
  }

  void prepare_contraction() {
    const auto& how = std::get<kernels::ContractionLowering>(node().op->lowering->how);
    for (std::size_t i = 0; i < 2; ++i) {
      Geometry geometry;
      const bool is_found =
          !has_no_memory(node().inputs[i]) && geometry_of(node().inputs[i], geometry);
      if (!is_found || !is_matrix(geometry, how.transpose_b)) {
        replace_by_copy(i);
      } else if (i == 1 && is_turned(geometry, how.transpose_b) &&
                 products_[node().inputs[1]] > 1) {
        replace_by_copy(i, how.transpose_b ? Shape{1, 0} : Shape{});
      }
    }
    if (node().inputs.size() > 2 && node().inputs[2] != kNoValue) {
      Geometry geometry;
      if (!geometry_of(node().inputs[2], geometry)) replace_by_copy(2);
    }
  }
  // A matrix to the right of few rows whose columns do not lie side by side.
  bool is_turned(const Geometry& geometry, bool is_transposed) {
    if (geometry.sizes.size() != 2) return false;
    const std::size_t column = is_transposed ? 0 : 1, row = 1 - column;
    const std::int64_t columns = geometry.sizes[column], depth = geometry.sizes[row];
    if (geometry.strides[row] != 1 || geometry.strides[column] == 1 || columns < 2 || depth < 2) {
      return false;
    }
    const Type& type = graph_.type(node().outputs[0]);
    const std::int64_t rows = element_count(type.sizes) / columns;
    const auto element = static_cast<std::int64_t>(element_size(type.dtype));
    return rows <= kFewRows && columns * depth * element <= kSmallOperand &&
           kernels::order_class(rows, columns, depth) == kernels::OrderClass::kChain;
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

  Graph& graph_;
  const std::size_t count_;           // nodes before any copy is made
  std::size_t current_ = 0;           // the node whose operands are looked at
  std::vector<std::int32_t> before_;  // per copy: the node that it is made for
  Source source_;
  std::int32_t stage_ = 0;
  std::map<ValueId, int> products_;  // that have the value to the right
  bool has_changed_ = false;
  std::map<std::pair<ValueId, std::vector<std::int64_t>>, ValueId> copies_;
};

}  // namespace

bool insert_copies(Graph& graph) { return Copier(graph).run(); }

}  // namespace groove::jit
