#include "tracer/calls/history_types.h"

#include <algorithm>

#include "src/core/graph.h"

namespace groove::tracer {
namespace {

using Node = HistoryPlan::Node;

class Types {
 public:
  Types(const HistoryPlan& history, const Segment& segment)
      : history_(history), segment_(segment) {}

  bool go_together() {
    if (!history_.code.empty()) return false;
    for (const Node& node : history_.nodes)
      if (!goes_together(node)) return false;
    const auto is_made = [this](const auto& made) {
      return is_type_of(made.made_by, type_of_slot(made.slot));
    };
    return std::all_of(history_.results.begin(), history_.results.end(), is_made) &&
           std::all_of(history_.values.begin(), history_.values.end(), is_made);
  }

 private:
  const Type& type_of_slot(std::int32_t slot) const {
    return segment_.slots[static_cast<std::size_t>(slot)].type;
  }
  static std::vector<Scalar> constants(const std::vector<NumberRef>& numbers) {
    std::vector<Scalar> result;
    for (const NumberRef& number : numbers) result.push_back(number.constant);
    return result;
  }
  static std::vector<Type> given_by(const Op& op, ArrayRef<Type> inputs, const Attrs& attrs,
                                    const std::vector<NumberRef>& numbers) {
    const std::vector<Scalar> values = constants(numbers);
    const TypeResult result = derive_types(Signature{op, inputs, attrs, values});
    return {result.outputs.begin(), result.outputs.end()};
  }

  bool goes_together(const Node& node) {
    if (node.kind == Node::Kind::kFunction || !node.hooks.empty()) return false;
    std::vector<Type>& outputs = outputs_.emplace_back();
    if (!node.steps.empty()) {
      Type view = node.steps.front().input;
      if (node.kind == Node::Kind::kWrite) outputs.push_back(view);
      for (const HistoryPlan::Step& step : node.steps) {
        if (!(step.input == view)) return false;
        view = given_by(*step.op, ArrayRef<Type>(step.input), step.attrs, step.numbers).at(0);
      }
      if (node.kind == Node::Kind::kView) outputs.push_back(view);
      if (node.kind == Node::Kind::kWrite && !(node.types.at(0).sizes == view.sizes)) return false;
    }
    if (node.op && !gives_its_types(node)) return false;
    if (node.kind == Node::Kind::kOp)
      outputs.assign(node.types.begin() + static_cast<std::ptrdiff_t>(node.edges.size()),
                     node.types.end());
    for (std::size_t i = 0; i < node.edges.size(); ++i)
      if (!is_type_of(node.edges[i], input(node, i))) return false;
    for (std::size_t i = 0; i < node.saved.size(); ++i) {
      const std::int32_t value = node.saved[i].value;
      if (value < 0) continue;
      const std::int32_t slot = history_.values[static_cast<std::size_t>(value)].slot;
      if (!(type_of_slot(slot).sizes == node.types[i].sizes)) return false;
    }
    return true;
  }

  // What a gradient for it must look like.
  static const Type& input(const Node& node, std::size_t index) {
    const bool is_base = index == 0 && node.kind != Node::Kind::kOp;
    return is_base ? node.steps.front().input : node.types[index];
  }

  // A dtype may be another one: what is written in place keeps its own.
  static bool gives_its_types(const Node& node) {
    const ArrayRef<Type> all(node.types);
    const std::size_t inputs = node.edges.size();
    const std::vector<Type> outputs =
        given_by(*node.op, all.slice(0, inputs), node.attrs, node.numbers);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (inputs + k >= all.size() || !(outputs[k].sizes == all[inputs + k].sizes)) return false;
    return true;
  }

  // Of what is behind the edge; nothing is known of no edge.
  bool is_type_of(const HistoryPlan::Edge& edge, const Type& type) const {
    if (edge.outside >= 0)
      return type_of_slot(history_.outside[static_cast<std::size_t>(edge.outside)]).sizes ==
             type.sizes;
    if (edge.node < 0) return true;
    const std::vector<Type>& made = outputs_.at(static_cast<std::size_t>(edge.node));
    return made.at(edge.index).sizes == type.sizes;
  }

  const HistoryPlan& history_;
  const Segment& segment_;
  std::vector<std::vector<Type>> outputs_;  // [node]
};

}  // namespace

bool has_types_of(const HistoryPlan& history, const Segment& segment) {
  return Types(history, segment).go_together();
}

}  // namespace groove::tracer
