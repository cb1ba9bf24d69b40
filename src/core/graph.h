// The one graph type: recordings, gradients, optimised programs and saved files. Nodes are op
// calls in topological order over typed values; everything is functional. What a recording wrote
// in place is a new value; the last one of a live-in is an output that `writes` that input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/core/dispatch.h"
#include "src/core/op.h"

namespace groove {

using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;  // an undefined optional operand

// A number of a node: a constant of the graph, or a run-time number of its entry.
struct NumberRef {
  std::int32_t entry = -1;  // index among Graph::numbers; -1: constant
  Scalar constant;          // of an entry number: the value it had when recorded
};

struct Value {
  Type type;
  std::int32_t node = -1;   // producer; -1: a graph input
  std::int32_t output = 0;  // which output of the producer, or which graph input
  std::string name;         // of the text form; may be empty
};

struct Source {  // the user's line, kept by every pass
  const char* file = "";
  std::uint32_t line = 0;
};

struct Node {
  const Op* op = nullptr;
  std::vector<ValueId> inputs;
  Attrs attrs;
  std::vector<NumberRef> numbers;
  std::vector<ValueId> outputs;
  Source source;
  std::int32_t stage = 0;  // earliest stage this node may run in (when it was matched)
};

struct GraphInput {
  ValueId value = kNoValue;
  Shape strides;  // of the live-in, in elements; guarded
};

struct GraphOutput {
  ValueId value = kNoValue;
  std::int32_t writes = -1;  // >= 0: overwrites that graph input's memory
  std::int32_t stage = 0;    // must be real at the end of this stage
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  std::vector<ScalarType> numbers;  // kind of each entry number: kDouble or kLong
  std::int32_t stages = 1;

  ValueId add_value(Type type, std::int32_t node, std::int32_t output);
  ValueId add_input(Type type, Shape strides);
  /// Runs the type rule, appends the node and its values; returns the node's index.
  std::int32_t add_node(const Op& op, std::vector<ValueId> inputs, Attrs attrs,
                        std::vector<NumberRef> numbers, Source source = {}, std::int32_t stage = 0);
  const Type& type(ValueId value) const { return values[static_cast<std::size_t>(value)].type; }
};

/// Types of a node's operands; an undefined one has dtype Undefined.
std::vector<Type> operand_types(const Graph& graph, const Node& node);
/// A node's numbers as its type rule sees them: constants, and for an entry number the value it had
/// when the node was made (NumberRef::constant) in the kind that the graph declares.
std::vector<Scalar> recorded_numbers(const Graph& graph, const Node& node);
/// Runs the type rule (view ops without one: the view rule on contiguous memory).
TypeResult derive_types(const Signature& signature);
TypeResult derive_types(const Graph& graph, const Node& node);

/// "{dim: [1], keepdim: false}"; empty without attributes.
std::string print(const Op& op, const Attrs& attrs);
/// "graph(x: f32[4]) { a = constant 2; b = mul(a, x); return b }", one statement a line.
std::string print(const Graph& graph);
/// Throws groove::Error with line, column and reason.
Graph parse_graph(const std::string& text);
/// Empty when well formed (types re-derived by every type rule), otherwise what is wrong.
std::string verify(const Graph& graph);
/// Graphviz text.
std::string dot(const Graph& graph);

}  // namespace groove
