// What makes a graph well formed. Types are re-derived by every type rule, so that a pass cannot
// leave a value whose type its op would not give.
#include <fmt/format.h>

#include "src/core/check.h"
#include "src/core/graph.h"
#include "src/core/subgraph.h"

namespace groove {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.values.size()) {}

  std::string run() {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      std::string problem = check_input(i);
      if (!problem.empty()) return fmt::format("input {}: {}", i, problem);
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      std::string problem = check_node(i);
      if (!problem.empty()) {
        const Op* const op = graph_.nodes[i].op;
        return fmt::format("node {} ({}): {}", i, op ? op->name : "no op", problem);
      }
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      std::string problem = check_output(graph_.outputs[i]);
      if (!problem.empty()) return fmt::format("output {}: {}", i, problem);
    }
    return {};
  }

 private:
  bool exists(ValueId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < graph_.values.size();
  }
  bool is_stage(std::int32_t stage) const { return stage >= 0 && stage < graph_.stages; }

  std::string check_input(std::size_t index) {
    const GraphInput& input = graph_.inputs[index];
    if (!exists(input.value)) return "no such value";
    const Value& value = graph_.values[static_cast<std::size_t>(input.value)];
    if (value.node != -1 || value.output != static_cast<std::int32_t>(index)) {
      return "its value does not point back at it";
    }
    if (input.strides.size() != value.type.sizes.size())
      return "strides and sizes differ in length";
    defined_[static_cast<std::size_t>(input.value)] = true;
    return {};
  }

  std::string check_node(std::size_t index) {
    const Node& node = graph_.nodes[index];
    if (!node.op) return "no op";
    if (node.op->inputs >= 0 && node.inputs.size() != static_cast<std::size_t>(node.op->inputs)) {
      return fmt::format("takes {} operands, has {}", node.op->inputs, node.inputs.size());
    }
    if (!is_stage(node.stage)) return fmt::format("stage {} does not exist", node.stage);
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      if (!exists(id)) return fmt::format("operand {} does not exist", id);
      if (!defined_[static_cast<std::size_t>(id)]) {
        return fmt::format("operand {} is not defined before its use", id);
      }
    }
    for (const NumberRef& number : node.numbers) {
      if (number.entry >= static_cast<std::int32_t>(graph_.numbers.size())) {
        return fmt::format("entry number {} does not exist", number.entry);
      }
    }
    TypeResult types;
    try {
      for (std::size_t field = 0; field < node.op->attributes.size(); ++field) {
        if (node.op->attributes[field].type != AttrType::kGraph) continue;
        const AttrReader reader(*node.op, node.attrs);
        const std::string problem = verify(interned_graph(reader.integer(field)));
        if (!problem.empty())
          return fmt::format("{}: {}", node.op->attributes[field].name, problem);
      }
      types = derive_types(graph_, node);
    } catch (const Error& error) {
      return error.msg();
    }
    if (types.outputs.size() != node.outputs.size()) return "its type rule gives other outputs";
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!exists(node.outputs[i])) return fmt::format("output {} does not exist", i);
      const auto id = static_cast<std::size_t>(node.outputs[i]);
      const Value& value = graph_.values[id];
      if (value.node != static_cast<std::int32_t>(index) ||
          value.output != static_cast<std::int32_t>(i)) {
        return fmt::format("value {} does not point back at it", id);
      }
      if (!(value.type == types.outputs[i])) {
        return fmt::format("output {} has type {}{}, its type rule gives {}{}", i,
                           short_name(value.type.dtype), to_string(value.type.sizes),
                           short_name(types.outputs[i].dtype), to_string(types.outputs[i].sizes));
      }
      defined_[id] = true;
    }
    return {};
  }

  std::string check_output(const GraphOutput& output) const {
    if (!exists(output.value) || !defined_[static_cast<std::size_t>(output.value)]) {
      return "its value is not defined";
    }
    if (!is_stage(output.stage)) return fmt::format("stage {} does not exist", output.stage);
    if (output.writes < 0) return {};
    if (static_cast<std::size_t>(output.writes) >= graph_.inputs.size()) {
      return "overwrites an input that does not exist";
    }
    const GraphInput& input = graph_.inputs[static_cast<std::size_t>(output.writes)];
    if (!(graph_.type(input.value) == graph_.type(output.value))) {
      return "its type is not that of the input it overwrites";
    }
    return {};
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

std::string verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace groove
