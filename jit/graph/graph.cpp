// Looking at graphs: values, nodes, text.
#include "jit/graph/state.h"
#include "src/core/op_kind.h"

namespace groove::jit {

using detail::GraphState;

namespace {

TensorType public_type(const Type& type) {
  return {type.dtype, std::vector<std::int64_t>(type.sizes.begin(), type.sizes.end())};
}

}  // namespace

std::string TensorType::text() const { return short_name(dtype) + to_string(IntArrayRef(sizes)); }

// ---- values ----

std::string Value::name() const {
  GROOVE_CHECK(defined(), "this value is absent");
  return state_->value(id_).name;
}

void Value::set_name(const std::string& name) {
  GROOVE_CHECK(defined(), "this value is absent");
  state_->graph.values[static_cast<std::size_t>(id_)].name = name;
}

TensorType Value::type() const {
  GROOVE_CHECK(defined(), "this value is absent");
  return public_type(state_->value(id_).type);
}

bool Value::is_input() const { return defined() && state_->value(id_).node < 0; }

Node Value::producer() const {
  GROOVE_CHECK(defined() && !is_input(), "this value is {}; it has no producer",
               defined() ? "an input" : "absent");
  return Node(state_, state_->value(id_).node);
}

std::vector<Node> Value::users() const {
  std::vector<Node> result;
  if (!defined()) return result;
  for (const std::int32_t index : state_->order) {
    for (const ValueId id : state_->node(index).inputs) {
      if (id != id_) continue;
      result.push_back(Node(state_, index));
      break;
    }
  }
  return result;
}

// ---- nodes ----

const std::string& Node::op() const { return state_->node(index_).op->name; }
int Node::version() const { return state_->node(index_).op->version; }

std::string Node::kind() const { return name(state_->node(index_).op->kind); }

std::vector<Value> Node::inputs() const {
  std::vector<Value> result;
  for (const ValueId id : state_->node(index_).inputs)
    result.push_back(id == kNoValue ? Value() : Value(state_, id));
  return result;
}

Value Node::input(std::size_t index) const {
  const auto& ids = state_->node(index_).inputs;
  GROOVE_CHECK(index < ids.size(), "{} has {} inputs; there is no input {}", op(), ids.size(),
               index);
  return ids[index] == kNoValue ? Value() : Value(state_, ids[index]);
}

std::vector<Value> Node::outputs() const {
  std::vector<Value> result;
  for (const ValueId id : state_->node(index_).outputs) result.push_back(Value(state_, id));
  return result;
}

Value Node::output(std::size_t index) const {
  const auto& ids = state_->node(index_).outputs;
  GROOVE_CHECK(index < ids.size(), "{} has {} outputs; there is no output {}", op(), ids.size(),
               index);
  return Value(state_, ids[index]);
}

std::vector<Attribute> Node::attributes() const {
  const groove::Node& node = state_->node(index_);
  return detail::attributes_of(*node.op, node.attrs);
}

Attribute Node::attribute(const std::string& name) const {
  for (Attribute& one : attributes())
    if (one.name == name) return std::move(one);
  throw_error(fmt::format("{} has no attribute `{}`", op(), name));
}

std::vector<Number> Node::numbers() const {
  const groove::Node& node = state_->node(index_);
  std::vector<Number> result;
  for (std::size_t i = 0; i < node.numbers.size(); ++i) {
    const auto& names = node.op->number_names;
    result.push_back({i < names.size() ? names[i] : "", node.numbers[i].entry < 0,
                      node.numbers[i].constant.with_origin(-1)});
  }
  return result;
}

std::string Node::file() const {
  const char* const file = state_->node(index_).source.file;
  return file ? file : "";
}
std::uint32_t Node::line() const { return state_->node(index_).source.line; }
int Node::stage() const { return state_->node(index_).stage; }
std::string Node::text() const {
  return print_node(state_->graph, static_cast<std::size_t>(index_));
}

// ---- graphs ----

Graph::Graph() : state_(std::make_unique<GraphState>(groove::Graph())) {}
Graph::Graph(std::unique_ptr<GraphState> state) : state_(std::move(state)) {}
Graph::~Graph() = default;
Graph::Graph(const Graph& other) : state_(std::make_unique<GraphState>(*other.state_)) {}
Graph& Graph::operator=(const Graph& other) {
  if (this != &other) state_ = std::make_unique<GraphState>(*other.state_);
  return *this;
}
// What was moved from is an empty graph.
Graph::Graph(Graph&& other) noexcept : Graph() { state_.swap(other.state_); }
Graph& Graph::operator=(Graph&& other) noexcept {
  state_.swap(other.state_);
  return *this;
}

std::string Graph::text() const { return print(detail::with_values(*state_)); }

Graph Graph::parse(const std::string& text) {
  GraphWithValues given = parse_graph_with_values(text);
  const std::string problem = detail::problem_of(given.graph);
  GROOVE_CHECK(problem.empty(), "graph text: {}", problem);
  auto state = std::make_unique<GraphState>(std::move(given.graph));
  state->numbers = std::move(given.numbers);
  state->draws = given.draws;
  return Graph(std::move(state));
}

std::string Graph::dot() const { return groove::dot(detail::in_order(*state_)); }

std::vector<Value> Graph::inputs() const {
  std::vector<Value> result;
  for (const GraphInput& input : state_->graph.inputs)
    result.push_back(Value(state_.get(), input.value));
  return result;
}

std::vector<Value> Graph::arguments() const {
  std::vector<Value> result;
  for (std::size_t i = 0; i < state_->weights.size(); ++i)
    if (!state_->weights[i].defined())
      result.push_back(Value(state_.get(), state_->graph.inputs[i].value));
  return result;
}

std::vector<Value> Graph::outputs() const {
  std::vector<Value> result;
  for (const GraphOutput& output : state_->graph.outputs)
    result.push_back(Value(state_.get(), output.value));
  return result;
}

std::vector<Node> Graph::nodes() const {
  std::vector<Node> result;
  for (const std::int32_t index : state_->order) result.push_back(Node(state_.get(), index));
  return result;
}

std::vector<std::pair<Value, Tensor>> Graph::weights() const {
  std::vector<std::pair<Value, Tensor>> result;
  for (std::size_t i = 0; i < state_->weights.size(); ++i)
    if (state_->weights[i].defined())
      result.emplace_back(Value(state_.get(), state_->graph.inputs[i].value), state_->weights[i]);
  return result;
}

std::string Graph::problem() const { return detail::problem_of(*state_); }

}  // namespace groove::jit
