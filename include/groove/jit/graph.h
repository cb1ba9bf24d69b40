// A function as data: operators in the order they run, over typed values. jit::capture() makes one
// of ordinary code (groove/jit/capture.h), a pass is given one (groove/jit/pass.h), and it can be
// printed, read, run, compiled, changed, differentiated (groove/jit/differentiate.h) and saved.
//
//   const jit::Graph graph = jit::capture(net, {x});
//   std::cout << graph.text();
//   Tensor y = graph({x})[0];               // operator by operator
//   Tensor same = graph.compile()({x})[0];  // as machine code: the same bits
//   graph.save("net.json");
//
// Everything here throws groove::Error on misuse. A graph is a value: copies are independent.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "groove/tensor.h"

namespace groove::jit {

namespace detail {
struct GraphState;     // jit/graph/state.h
struct CompiledState;  // jit/graph/compile.cpp
}  // namespace detail

class Graph;
class Node;
struct Attribute;

struct TensorType {
  ScalarType dtype = kFloat;
  std::vector<std::int64_t> sizes = {};
  std::string text() const;  // "f32[3, 4]"
  bool operator==(const TensorType&) const = default;
};

/// An input of a graph or a result of a node. It is valid as long as its graph is there. One that
/// is not defined() stands for an optional operand that is absent.
class Value {
 public:
  Value() = default;
  bool defined() const { return state_ != nullptr; }
  /// May be empty; the text of a graph then calls it t0, t1, …
  std::string name() const;
  void set_name(const std::string& name);
  TensorType type() const;
  bool is_input() const;
  /// That makes it. Throws for an input.
  Node producer() const;
  /// The nodes that read it, in order.
  std::vector<Node> users() const;
  bool operator==(const Value&) const = default;

 private:
  friend class Graph;
  friend class Node;
  Value(detail::GraphState* state, std::int32_t id) : state_(state), id_(id) {}
  detail::GraphState* state_ = nullptr;
  std::int32_t id_ = -1;
};

/// A number that an operator is given besides tensors, such as the factor of `x * 2`.
struct Number {
  std::string name;
  bool is_constant = true;  // else given anew for every run, as a seed or a learning rate is
  Scalar value;             // otherwise what it was when the graph was made
};

/// One call of an operator. It is valid as long as its graph is there and it is not erased.
class Node {
 public:
  const std::string& op() const;  // "add"; operators are named as their functions
  int version() const;            // of the operator's meaning
  /// "elementwise", "view", "index map", "reduction", "contraction", "composite" or "opaque".
  std::string kind() const;
  std::vector<Value> inputs() const;
  Value input(std::size_t index) const;
  std::vector<Value> outputs() const;
  Value output(std::size_t index = 0) const;
  /// What shapes and meaning depend on: axes, flags, dtypes, functions of control flow.
  std::vector<Attribute> attributes() const;
  Attribute attribute(const std::string& name) const;
  std::vector<Number> numbers() const;
  /// The user's line; empty and 0 when it is not known.
  std::string file() const;
  std::uint32_t line() const;
  /// Of a training loop's graph: which part of the step it belongs to.
  int stage() const;
  /// "y = add(a, b) {…} <…> @ train.cpp:12"
  std::string text() const;
  bool operator==(const Node&) const = default;

 private:
  friend class Graph;
  friend class Value;
  Node(detail::GraphState* state, std::int32_t index) : state_(state), index_(index) {}
  detail::GraphState* state_ = nullptr;
  std::int32_t index_ = -1;
};

/// A graph as machine code. It can be copied and called from any thread.
class CompiledGraph {
 public:
  /// What Graph::run() gives, in the same bits, without history: to train with it, compile the
  /// graph that autodiff::differentiate() gives as well.
  Tensors operator()(const Tensors& arguments) const;

 private:
  friend class Graph;
  std::shared_ptr<const detail::CompiledState> state_;
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph& other);
  Graph& operator=(const Graph& other);
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  // ---- text ----

  /// One statement a line:
  ///   graph(x: f32[4, 8], w: f32[8, 8]) {
  ///     y = mm(x, w) @ main.cpp:12
  ///     return y
  ///   }
  std::string text() const;
  /// Reads that form: types come from the operators' rules, errors name line and column. Weights
  /// are arguments then.
  static Graph parse(const std::string& text);
  /// For Graphviz.
  std::string dot() const;

  // ---- looking at it ----

  std::vector<Value> inputs() const;  // arguments and weights
  /// What run() is given, in this order: inputs that hold no tensor.
  std::vector<Value> arguments() const;
  std::vector<Value> outputs() const;
  /// In the order they run.
  std::vector<Node> nodes() const;
  /// Tensors that the function closed over, with the inputs that stand for them. They are kept, not
  /// copied: run() reads what they hold then.
  std::vector<std::pair<Value, Tensor>> weights() const;
  /// Gives that input its tensor: of the same type, or an undefined one to make it an argument.
  void set_weight(const Value& input, const Tensor& tensor);
  /// Empty when it is well formed, otherwise what is wrong.
  std::string problem() const;

  // ---- running it ----

  /// Operator by operator, as if its lines stood here: with gradients, and seen by the tracer. What
  /// draws random numbers draws anew. Arguments must have the types of the graph's.
  Tensors run(const Tensors& arguments, Site site = Site::current()) const;
  Tensors operator()(const Tensors& arguments, Site site = Site::current()) const {
    return run(arguments, site);
  }
  /// Now, on this thread. The weights stay shared with this graph.
  CompiledGraph compile() const;

  // ---- changing it ----

  Value add_input(const std::string& name, const TensorType& type);
  /// An input that holds this tensor.
  Value add_weight(const std::string& name, const Tensor& tensor);
  /// At the end. All attributes and numbers must be given, in the order of the operator's.
  Node add_node(const std::string& op, const std::vector<Value>& inputs);
  Node add_node(const std::string& op, const std::vector<Value>& inputs,
                const std::vector<Attribute>& attributes, const std::vector<Scalar>& numbers = {});
  Node insert_before(const Node& node, const std::string& op, const std::vector<Value>& inputs);
  Node insert_before(const Node& node, const std::string& op, const std::vector<Value>& inputs,
                     const std::vector<Attribute>& attributes,
                     const std::vector<Scalar>& numbers = {});
  /// Ordinary tensor code as nodes before that one: `function` is called once with tensors that
  /// stand for `inputs`; the values of those that it gives.
  std::vector<Value> insert_before(const Node& node, const std::vector<Value>& inputs,
                                   const std::function<Tensors(const Tensors&)>& function);
  void set_input(const Node& node, std::size_t index, const Value& value);
  /// `fresh` wherever `old` is read, also as an output.
  void replace(const Value& old, const Value& fresh);
  void set_outputs(const std::vector<Value>& values);
  /// Nothing may read its results.
  void erase(const Node& node);
  /// Erases what no output depends on; whether there was any.
  bool remove_dead_code();

  // ---- files ----

  /// JSON; weights go beside it, with the ending .safetensors in place of the path's own.
  void save(const std::string& path) const;

  // For Groove itself.
  explicit Graph(std::unique_ptr<detail::GraphState> state);
  detail::GraphState& state() const { return *state_; }

 private:
  std::int32_t insert(std::size_t position, const std::string& op, const std::vector<Value>& inputs,
                      const std::vector<Attribute>& attributes, const std::vector<Scalar>& numbers);
  std::unique_ptr<detail::GraphState> state_;
};

/// Reads what Graph::save() wrote. Nothing in a file is trusted: operators are known by name and
/// version, and every type is derived again.
Graph load_graph(const std::string& path);

struct Attribute {
  std::string name;
  std::variant<std::int64_t, bool, double, ScalarType, std::vector<std::int64_t>, Graph> value;
  std::int64_t integer() const;
  bool boolean() const;
  double real() const;
  ScalarType dtype() const;
  const std::vector<std::int64_t>& integers() const;
  const Graph& graph() const;
};

}  // namespace groove::jit
