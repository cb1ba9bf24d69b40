// Changing graphs. Each step keeps the types right; that nothing is read before it is there is seen
// when the graph is used.
#include "jit/graph/state.h"

#include <algorithm>

#include "kernels/ops/graph_builder.h"
#include "src/core/generator.h"

namespace groove::jit {

using detail::GraphState;

namespace {

std::size_t position_of(const GraphState& state, std::int32_t index) {
  const auto at = std::find(state.order.begin(), state.order.end(), index);
  GROOVE_CHECK(at != state.order.end(), "this node was erased");
  return static_cast<std::size_t>(at - state.order.begin());
}

Shape shape_of(const TensorType& type) {
  const Shape sizes{IntArrayRef(type.sizes)};
  check_sizes("an input", Type{type.dtype, sizes});
  return sizes;
}

Type type_of(const Tensor& tensor) { return {tensor.impl()->dtype, tensor.impl()->geometry.sizes}; }

std::string text_of(const Type& type) { return short_name(type.dtype) + to_string(type.sizes); }

}  // namespace

Value Graph::add_input(const std::string& name, const TensorType& type) {
  state_->is_good = false;
  const Shape sizes = shape_of(type);
  const ValueId id = state_->graph.add_input(Type{type.dtype, sizes}, contiguous_strides(sizes));
  state_->weights.emplace_back();
  Value value(state_.get(), id);
  value.set_name(name);
  return value;
}

Value Graph::add_weight(const std::string& name, const Tensor& tensor) {
  GROOVE_CHECK(tensor.defined(), "add_weight: the tensor `{}` is undefined", name);
  const Type type = type_of(tensor);
  const Value value = add_input(name, {type.dtype, IntArrayRef(type.sizes).vec()});
  state_->weights.back() = tensor;
  return value;
}

void Graph::set_weight(const Value& input, const Tensor& tensor) {
  GROOVE_CHECK(input.state_ == state_.get() && input.is_input(),
               "set_weight: this is no input of the graph");
  const groove::Value& value = state_->value(input.id_);
  GROOVE_CHECK(!tensor.defined() || type_of(tensor) == value.type,
               "set_weight: the tensor is {}, the input `{}` {}", text_of(type_of(tensor)),
               value.name, text_of(value.type));
  state_->weights[static_cast<std::size_t>(value.output)] = tensor;
}

std::int32_t Graph::insert(std::size_t position, const std::string& name,
                           const std::vector<Value>& inputs,
                           const std::vector<Attribute>& attributes,
                           const std::vector<Scalar>& numbers) {
  state_->is_good = false;
  GraphState& state = *state_;
  const Op& op = detail::op_of(name);
  GROOVE_CHECK(op.inputs < 0 || inputs.size() == static_cast<std::size_t>(op.inputs),
               "{} takes {} operands, not {}", name, op.inputs, inputs.size());
  GROOVE_CHECK(numbers.size() == op.number_names.size(), "{} takes {} numbers, not {}", name,
               op.number_names.size(), numbers.size());
  const Attrs attrs = detail::attrs_of(op, attributes);
  Source source;
  std::int32_t stage = 0;
  if (position < state.order.size()) {
    const groove::Node& next = state.node(state.order[position]);
    source = next.source;
    stage = next.stage;
  }
  std::vector<ValueId> operands;
  for (const Value& value : inputs) {
    GROOVE_CHECK(!value.defined() || value.state_ == state_.get(),
                 "{}: an operand is a value of another graph", name);
    operands.push_back(value.defined() ? value.id_ : kNoValue);
    if (!value.defined() || value.is_input()) continue;
    stage = std::max(stage, state.node(state.value(value.id_).node).stage);
  }
  std::vector<NumberRef> refs;
  for (const Scalar& number : numbers) refs.push_back({-1, number.with_origin(-1)});
  const std::int32_t index =
      state.graph.add_node(op, std::move(operands), attrs, std::move(refs), source, stage);
  state.order.insert(state.order.begin() + static_cast<std::ptrdiff_t>(position), index);
  return index;
}

Node Graph::add_node(const std::string& op, const std::vector<Value>& inputs) {
  return add_node(op, inputs, {});
}
Node Graph::add_node(const std::string& op, const std::vector<Value>& inputs,
                     const std::vector<Attribute>& attributes, const std::vector<Scalar>& numbers) {
  return Node(state_.get(), insert(state_->order.size(), op, inputs, attributes, numbers));
}

Node Graph::insert_before(const Node& node, const std::string& op,
                          const std::vector<Value>& inputs) {
  return insert_before(node, op, inputs, std::vector<Attribute>());
}
Node Graph::insert_before(const Node& node, const std::string& op, const std::vector<Value>& inputs,
                          const std::vector<Attribute>& attributes,
                          const std::vector<Scalar>& numbers) {
  GROOVE_CHECK(node.state_ == state_.get(), "insert_before: a node of another graph");
  return Node(state_.get(),
              insert(position_of(*state_, node.index_), op, inputs, attributes, numbers));
}

std::vector<Value> Graph::insert_before(const Node& node, const std::vector<Value>& inputs,
                                        const std::function<Tensors(const Tensors&)>& function) {
  state_->is_good = false;
  GROOVE_CHECK(node.state_ == state_.get(), "insert_before: a node of another graph");
  GraphState& state = *state_;
  const std::size_t position = position_of(state, node.index_);
  const std::size_t before = state.graph.nodes.size();
  kernels::GraphBuilder builder(state.graph, kernels::GraphBuilder::Composites::kKeep);
  builder.adopt = [](const Tensor&) -> ValueId {
    throw_error(
        "insert_before: the function reads a tensor that is not one of its inputs; a graph "
        "has its inputs and what operators make (full, arange, …)");
  };
  Source source = state.node(node.index_).source;
  std::int32_t stage = state.node(node.index_).stage;
  Tensors given;
  for (const Value& value : inputs) {
    GROOVE_CHECK(value.defined() && value.state_ == state_.get(),
                 "insert_before: an input is absent or a value of another graph");
    given.push_back(builder.tensor(value.id_));
    if (!value.is_input()) stage = std::max(stage, state.node(state.value(value.id_).node).stage);
  }
  builder.set_context(source, stage, nullptr);
  std::vector<Value> results;
  const DrawScope draws(0);
  for (const Tensor& tensor : builder.record([&] { return function(given); })) {
    GROOVE_CHECK(tensor.defined(), "insert_before: result {} is undefined", results.size());
    results.push_back(Value(state_.get(), builder.value(tensor)));
  }
  GROOVE_CHECK(draws.next() == 0,
               "insert_before: the function draws random numbers; they would be the same ones in "
               "every run");
  std::vector<std::int32_t> made;
  for (std::size_t i = before; i < state.graph.nodes.size(); ++i)
    made.push_back(static_cast<std::int32_t>(i));
  state.order.insert(state.order.begin() + static_cast<std::ptrdiff_t>(position), made.begin(),
                     made.end());
  return results;
}

void Graph::set_input(const Node& node, std::size_t index, const Value& value) {
  state_->is_good = false;
  GROOVE_CHECK(node.state_ == state_.get() && (!value.defined() || value.state_ == state_.get()),
               "set_input: a node or value of another graph");
  auto& ids = state_->node(node.index_).inputs;
  GROOVE_CHECK(index < ids.size(), "{} has {} inputs; there is no input {}", node.op(), ids.size(),
               index);
  const ValueId old = ids[index];
  ids[index] = value.defined() ? value.id_ : kNoValue;
  groove::Node& changed = state_->node(node.index_);
  try {
    const TypeResult types = derive_types(state_->graph, changed);
    for (std::size_t k = 0; k < changed.outputs.size(); ++k)
      GROOVE_CHECK(types.outputs[k] == state_->value(changed.outputs[k]).type,
                   "set_input: {} would give {} instead of {}", node.op(),
                   text_of(types.outputs[k]), text_of(state_->value(changed.outputs[k]).type));
  } catch (const Error&) {
    ids[index] = old;
    throw;
  }
}

// What `fresh` is computed from goes on reading `old`: otherwise it would depend on itself.
void Graph::replace(const Value& old, const Value& fresh) {
  state_->is_good = false;
  GROOVE_CHECK(old.defined() && fresh.defined() && old.state_ == state_.get() &&
                   fresh.state_ == state_.get(),
               "replace: a value is absent or of another graph");
  GraphState& state = *state_;
  GROOVE_CHECK(state.value(old.id_).type == state.value(fresh.id_).type,
               "replace: a value of type {} cannot stand for one of type {}", fresh.type().text(),
               old.type().text());
  std::vector<char> leads_to_fresh(state.graph.values.size());
  leads_to_fresh[static_cast<std::size_t>(fresh.id_)] = 1;
  for (std::size_t i = state.order.size(); i-- > 0;) {
    groove::Node& node = state.node(state.order[i]);
    const bool leads = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return leads_to_fresh[static_cast<std::size_t>(id)] != 0;
    });
    for (ValueId& id : node.inputs) {
      if (leads && id != kNoValue) leads_to_fresh[static_cast<std::size_t>(id)] = 1;
      if (!leads && id == old.id_) id = fresh.id_;
    }
  }
  for (GraphOutput& output : state.graph.outputs)
    if (output.value == old.id_) output.value = fresh.id_;
}

void Graph::set_outputs(const std::vector<Value>& values) {
  state_->is_good = false;
  std::vector<GraphOutput> outputs;
  for (const Value& value : values) {
    GROOVE_CHECK(value.defined() && value.state_ == state_.get(),
                 "set_outputs: a value is absent or of another graph");
    const std::int32_t node = state_->value(value.id_).node;
    outputs.push_back({value.id_, -1, node < 0 ? 0 : state_->node(node).stage});
  }
  state_->graph.outputs = std::move(outputs);
}

void Graph::erase(const Node& node) {
  state_->is_good = false;
  GROOVE_CHECK(node.state_ == state_.get(), "erase: a node of another graph");
  const std::size_t position = position_of(*state_, node.index_);
  for (const Value& value : node.outputs()) {
    const auto& outputs = state_->graph.outputs;
    const bool is_output = std::any_of(outputs.begin(), outputs.end(), [&](const GraphOutput& one) {
      return one.value == value.id_;
    });
    GROOVE_CHECK(value.users().empty() && !is_output,
                 "erase: a result of {} is still read{}; replace it first", node.op(),
                 is_output ? " as an output" : " by " + value.users()[0].op());
  }
  state_->order.erase(state_->order.begin() + static_cast<std::ptrdiff_t>(position));
}

bool Graph::remove_dead_code() {
  state_->is_good = false;
  GraphState& state = *state_;
  std::vector<char> is_live(state.graph.values.size());
  for (const GraphOutput& output : state.graph.outputs)
    is_live[static_cast<std::size_t>(output.value)] = 1;
  std::vector<std::int32_t> left;
  for (std::size_t i = state.order.size(); i-- > 0;) {
    const groove::Node& node = state.node(state.order[i]);
    const bool stays = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return is_live[static_cast<std::size_t>(id)] != 0;
    });
    if (!stays) continue;
    left.push_back(state.order[i]);
    for (const ValueId id : node.inputs)
      if (id != kNoValue) is_live[static_cast<std::size_t>(id)] = 1;
  }
  if (left.size() == state.order.size()) return false;
  state.order.assign(left.rbegin(), left.rend());
  return true;
}

}  // namespace groove::jit
