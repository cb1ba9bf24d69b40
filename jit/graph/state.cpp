// Editable graphs to ordinary ones and back, and attributes by name.
#include "jit/graph/state.h"

#include <mutex>
#include <unordered_map>

#include "kernels/lowering.h"
#include "kernels/ops/graph_builder.h"
#include "kernels/ops/widen.h"
#include "src/core/fork.h"
#include "src/core/subgraph.h"

namespace groove::jit::detail {

GraphState::GraphState(groove::Graph from) : graph(std::move(from)) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    order.push_back(static_cast<std::int32_t>(i));
  weights.resize(graph.inputs.size());
  numbers.resize(graph.numbers.size());
}

groove::Graph in_order(const GraphState& state) {
  const groove::Graph& from = state.graph;
  groove::Graph to;
  to.numbers = from.numbers;
  to.stages = from.stages;
  std::vector<ValueId> names(from.values.size(), kNoValue);
  const auto rename = [&](ValueId id) {
    if (id == kNoValue) return kNoValue;
    const ValueId fresh = names[static_cast<std::size_t>(id)];
    GROOVE_CHECK(fresh != kNoValue, "a value{} is read before it is there, or was erased",
                 from.values[static_cast<std::size_t>(id)].name.empty()
                     ? ""
                     : fmt::format(" `{}`", from.values[static_cast<std::size_t>(id)].name));
    return fresh;
  };
  const auto add = [&](ValueId id, std::int32_t node, std::int32_t output) {
    const groove::Value& value = from.values[static_cast<std::size_t>(id)];
    const ValueId fresh = to.add_value(value.type, node, output);
    to.values[static_cast<std::size_t>(fresh)].name = value.name;
    names[static_cast<std::size_t>(id)] = fresh;
    return fresh;
  };
  for (const GraphInput& input : from.inputs) {
    const auto index = static_cast<std::int32_t>(to.inputs.size());
    to.inputs.push_back({add(input.value, -1, index), input.strides});
  }
  for (const std::int32_t index : state.order) {
    groove::Node node = from.nodes[static_cast<std::size_t>(index)];
    for (ValueId& id : node.inputs) id = rename(id);
    const auto fresh = static_cast<std::int32_t>(to.nodes.size());
    std::int32_t output = 0;
    for (ValueId& id : node.outputs) id = add(id, fresh, output++);
    to.nodes.push_back(std::move(node));
  }
  for (const GraphOutput& output : from.outputs)
    to.outputs.push_back({rename(output.value), output.writes, output.stage});
  return to;
}

GraphWithValues with_values(const GraphState& state) {
  return {in_order(state), state.numbers, state.draws};
}

namespace {

// Which operands of an operator may be absent: bits of those that are in some of its samples.
std::uint64_t optional_operands(const Op& op) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::unordered_map<const Op*, std::uint64_t>;
  const ForkGate gate;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(&op, 0);
  if (!is_new || !op.samples || op.dtypes.empty()) return at->second;
  for (const Sample& sample : op.samples(op.dtypes.front()))
    for (std::size_t i = 0; i < sample.inputs.size() && i < 64; ++i)
      if (sample.inputs[i].dtype == ScalarType::Undefined) at->second |= std::uint64_t{1} << i;
  return at->second;
}

// What a composite is made of must run on these types and give those that its rule says. Throws
// groove::Error where it does not.
void check_parts(const groove::Graph& graph, const groove::Node& node) {
  const auto* const lowering = node.op->lowering.get();
  if (!lowering || !std::holds_alternative<kernels::CompositeLowering>(lowering->how)) return;
  groove::Graph parts;
  kernels::GraphBuilder builder(parts, kernels::GraphBuilder::Composites::kKeep);
  const std::vector<Type> types = operand_types(graph, node);
  Tensors inputs;
  for (const Type& type : types)
    inputs.push_back(type.dtype == ScalarType::Undefined
                         ? Tensor()
                         : builder.tensor(parts.add_input(type, contiguous_strides(type.sizes))));
  const std::vector<Scalar> numbers = recorded_numbers(graph, node);
  const Tensors results = builder.record([&] {
    return kernels::compose(Signature{*node.op, types, node.attrs, numbers}, inputs);
  });
  bool fits = results.size() == node.outputs.size();
  for (std::size_t k = 0; fits && k < results.size(); ++k)
    fits = parts.type(builder.value(results[k])) == graph.type(node.outputs[k]);
  GROOVE_CHECK(fits, "{}: does not take these operands together", node.op->name);
  for (const groove::Node& part : parts.nodes) check_parts(parts, part);
}

}  // namespace

std::string problem_of(const groove::Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const groove::Node& node = graph.nodes[i];
    bool has_functions = false;
    for (const AttrField& field : node.op->attributes)
      has_functions |= field.type == AttrType::kGraph;
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      if (node.inputs[k] == kNoValue && (k >= 64 || !(optional_operands(*node.op) >> k & 1)))
        return fmt::format("node {} ({}): operand {} is absent", i, node.op->name, k);
    if (node.op->kind == OpKind::kBig)
      return fmt::format("node {} ({}): is no operator on tensors", i, node.op->name);
    // Numbers of control flow are those of its functions.
    if (!has_functions && node.numbers.size() != node.op->number_names.size()) {
      return fmt::format("node {} ({}): takes {} numbers, has {}", i, node.op->name,
                         node.op->number_names.size(), node.numbers.size());
    }
    const AttrReader attr(*node.op, node.attrs);
    for (std::size_t field = 0; has_functions && field < node.op->attributes.size(); ++field) {
      if (node.op->attributes[field].type != AttrType::kGraph) continue;
      const std::string inner = problem_of(interned_graph(attr.integer(field)));
      if (!inner.empty())
        return fmt::format("node {} ({}): {}: {}", i, node.op->name,
                           node.op->attributes[field].name, inner);
    }
  }
  const std::string problem = verify(graph);
  if (!problem.empty()) return problem;
  try {
    for (const groove::Value& value : graph.values) check_sizes("a value", value.type);
    for (const groove::Node& node : graph.nodes) check_parts(graph, node);
  } catch (const Error& error) {
    return error.msg();
  }
  return {};
}

std::string problem_of(GraphState& state) {
  if (state.is_good) return {};
  try {
    std::string problem = problem_of(in_order(state));
    state.is_good = problem.empty();
    return problem;
  } catch (const Error& error) {
    return error.msg();
  }
}

const Op& op_of(const std::string& name) {
  const Op* const op = find_op(name);
  GROOVE_CHECK(op, "there is no operator `{}`", name);
  GROOVE_CHECK(op->kind != OpKind::kBig, "`{}` is no operator on tensors", name);
  return *op;
}

namespace {

template <typename T>
const T& value_as(const Attribute& attribute, const char* wanted) {
  const T* const value = std::get_if<T>(&attribute.value);
  GROOVE_CHECK(value, "the attribute `{}` is not {}", attribute.name, wanted);
  return *value;
}

}  // namespace

std::vector<Attribute> attributes_of(const Op& op, const Attrs& attrs) {
  const AttrReader reader(op, attrs);
  std::vector<Attribute> result;
  for (std::size_t i = 0; i < op.attributes.size(); ++i) {
    Attribute one{op.attributes[i].name, {}};
    switch (op.attributes[i].type) {
      case AttrType::kInt:
        one.value = reader.integer(i);
        break;
      case AttrType::kInts:
        one.value = reader.integers(i).vec();
        break;
      case AttrType::kBool:
        one.value = reader.boolean(i);
        break;
      case AttrType::kDtype:
        one.value = reader.dtype(i);
        break;
      case AttrType::kDouble:
        one.value = reader.real(i);
        break;
      case AttrType::kGraph:
        one.value =
            Graph(std::make_unique<GraphState>(groove::Graph(interned_graph(reader.integer(i)))));
        break;
    }
    result.push_back(std::move(one));
  }
  return result;
}

Attrs attrs_of(const Op& op, const std::vector<Attribute>& attributes) {
  std::string names;
  for (const AttrField& field : op.attributes)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
  GROOVE_CHECK(attributes.size() == op.attributes.size(), "{} takes {} attributes{}{}, not {}",
               op.name, op.attributes.size(), names.empty() ? "" : ": ", names, attributes.size());
  Attrs attrs;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const Attribute& given = attributes[i];
    GROOVE_CHECK(given.name == op.attributes[i].name, "{}: attribute {} is `{}`, not `{}`", op.name,
                 i, op.attributes[i].name, given.name);
    switch (op.attributes[i].type) {
      case AttrType::kInt:
        attrs.add(given.integer());
        break;
      case AttrType::kInts:
        attrs.add(IntArrayRef(given.integers()));
        break;
      case AttrType::kBool:
        attrs.add(std::int64_t{given.boolean()});
        break;
      case AttrType::kDtype:
        attrs.add(given.dtype());
        break;
      case AttrType::kDouble:
        attrs.add_double(given.real());
        break;
      case AttrType::kGraph: {
        groove::Graph inner = in_order(given.graph().state());
        const std::string problem = problem_of(inner);
        GROOVE_CHECK(problem.empty(), "{}: {}: {}", op.name, given.name, problem);
        attrs.add(intern(std::move(inner)));
        break;
      }
    }
  }
  return attrs;
}

}  // namespace groove::jit::detail

namespace groove::jit {

using detail::value_as;

std::int64_t Attribute::integer() const { return value_as<std::int64_t>(*this, "an integer"); }
bool Attribute::boolean() const { return value_as<bool>(*this, "a bool"); }
double Attribute::real() const { return value_as<double>(*this, "a real number"); }
ScalarType Attribute::dtype() const { return value_as<ScalarType>(*this, "a dtype"); }
const std::vector<std::int64_t>& Attribute::integers() const {
  return value_as<std::vector<std::int64_t>>(*this, "a list of integers");
}
const Graph& Attribute::graph() const { return value_as<Graph>(*this, "a graph"); }

}  // namespace groove::jit
