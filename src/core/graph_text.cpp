// The text form of a graph and its Graphviz form.
//
//   graph(x: f32[4, 8], w: f32[8, 8] strides [1, 8], #0: f64) stages 2 {
//     y = add(x, w) {alpha: 1} <scale: #0, shift: 0.5> stage 1 @ main.cpp:12
//     values, indices = max(x) {dim: [1], keepdim: false}
//     c = constant() {sizes: [4], dtype: f32, bits: 1073741824}
//     return y -> w, values stage 1
//   }
//
// An input without strides is contiguous; `_` is an undefined operand; `#k` is entry number k;
// `-> w` says that the output overwrites the input w.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "src/core/check.h"
#include "src/core/graph.h"
#include "src/core/graph_values.h"
#include "src/core/subgraph.h"

namespace groove {
namespace {

// Every value gets a name: its own where that is free, otherwise the next free of t0, t1, …
std::vector<std::string> unique_names(const Graph& graph) {
  std::unordered_set<std::string> used;
  std::vector<std::string> names(graph.values.size());
  const auto keep_own = [&](ValueId id) {
    const std::string& own = graph.values[static_cast<std::size_t>(id)].name;
    if (!own.empty() && used.insert(own).second) names[static_cast<std::size_t>(id)] = own;
  };
  for (const GraphInput& input : graph.inputs) keep_own(input.value);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) keep_own(id);
  }
  int next = 0;
  const auto invent = [&](ValueId id) {
    std::string& name = names[static_cast<std::size_t>(id)];
    while (name.empty()) {
      std::string candidate = fmt::format("t{}", next++);
      if (used.insert(candidate).second) name = candidate;
    }
  };
  for (const GraphInput& input : graph.inputs) invent(input.value);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) invent(id);
  }
  return names;
}

std::string type_text(const Type& type) { return short_name(type.dtype) + to_string(type.sizes); }

std::string real_text(double value) {
  if (std::isnan(value) && std::bit_cast<std::uint64_t>(value) != 0x7ff8000000000000u) {
    return fmt::format("bits {:#x}", std::bit_cast<std::uint64_t>(value));
  }
  if (std::isnan(value)) return "nan";
  std::string text = fmt::format("{}", value);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string number_text(const NumberRef& number) {
  if (number.entry >= 0) return fmt::format("#{}", number.entry);
  if (number.constant.isBoolean()) return number.constant.toBool() ? "true" : "false";
  if (number.constant.isIntegral()) return fmt::format("{}", number.constant.to_int());
  return real_text(number.constant.to_double());
}

std::string attribute_text(const Op& op, const Attrs& attrs, std::size_t field) {
  const AttrReader reader(op, attrs);
  switch (op.attributes[field].type) {
    case AttrType::kInt:
      return fmt::format("{}", reader.integer(field));
    case AttrType::kInts:
      return to_string(reader.integers(field));
    case AttrType::kBool:
      return reader.boolean(field) ? "true" : "false";
    case AttrType::kDtype:
      return short_name(reader.dtype(field));
    case AttrType::kDouble:
      return real_text(reader.real(field));
    case AttrType::kGraph: {
      // Lines of the inner graph stand further to the right.
      std::string inner = print(interned_graph(reader.integer(field)));
      inner.pop_back();
      std::string text;
      for (const char c : inner) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
      return text;
    }
  }
  return {};
}

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

std::string call_text(const Node& node, const std::vector<std::string>& names) {
  const Op& op = *node.op;
  std::string text = op.name + "(";
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (i) text += ", ";
    text += id == kNoValue ? "_" : names[static_cast<std::size_t>(id)];
  }
  text += ")";
  if (!op.attributes.empty()) text += fmt::format(" {}", print(op, node.attrs));
  for (std::size_t i = 0; i < node.numbers.size(); ++i) {
    text += i ? ", " : " <";
    if (i < op.number_names.size()) text += fmt::format("{}: ", op.number_names[i]);
    text += number_text(node.numbers[i]);
  }
  if (!node.numbers.empty()) text += ">";
  return text;
}

}  // namespace

std::string print(const Op& op, const Attrs& attrs) {
  std::string text;
  for (std::size_t i = 0; i < op.attributes.size(); ++i) {
    text += fmt::format("{}{}: {}", i ? ", " : "{", op.attributes[i].name,
                        attribute_text(op, attrs, i));
  }
  return text.empty() ? text : text + "}";
}

namespace {

std::string statement_text(const Node& node, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    text += (i ? ", " : "") + names[static_cast<std::size_t>(node.outputs[i])];
  }
  text += " = " + call_text(node, names);
  if (node.stage != 0) text += fmt::format(" stage {}", node.stage);
  if (node.source.line != 0) {
    text += fmt::format(" @ {}:{}", base_name(node.source.file), node.source.line);
  }
  return text;
}

std::string graph_text(const Graph& graph, ArrayRef<std::optional<Scalar>> values,
                       std::uint64_t draws) {
  const std::vector<std::string> names = unique_names(graph);
  const auto name = [&](ValueId id) { return names[static_cast<std::size_t>(id)]; };
  std::string text = "graph(";
  const char* separator = "";
  for (const GraphInput& input : graph.inputs) {
    const Type& type = graph.type(input.value);
    text += fmt::format("{}{}: {}", separator, name(input.value), type_text(type));
    if (!(input.strides == contiguous_strides(type.sizes))) {
      text += " strides " + to_string(input.strides);
    }
    separator = ", ";
  }
  for (std::size_t i = 0; i < graph.numbers.size(); ++i) {
    text += fmt::format("{}#{}: {}", separator, i, short_name(graph.numbers[i]));
    if (i < values.size() && values[i]) text += " = " + number_text({-1, *values[i]});
    separator = ", ";
  }
  text += ")";
  if (draws != 0) text += fmt::format(" draws {}", draws);
  if (graph.stages != 1) text += fmt::format(" stages {}", graph.stages);
  text += " {\n";
  for (const Node& node : graph.nodes) text += "  " + statement_text(node, names) + "\n";
  text += "  return";
  separator = " ";
  for (const GraphOutput& output : graph.outputs) {
    text += separator + name(output.value);
    if (output.writes >= 0) {
      text += " -> " + name(graph.inputs[static_cast<std::size_t>(output.writes)].value);
    }
    if (output.stage != 0) text += fmt::format(" stage {}", output.stage);
    separator = ", ";
  }
  return text + "\n}\n";
}

}  // namespace

std::vector<std::string> value_names(const Graph& graph) { return unique_names(graph); }

std::string print(const Graph& graph) { return graph_text(graph, {}, 0); }

std::string print(const GraphWithValues& given) {
  return graph_text(given.graph, given.numbers, given.draws);
}

std::string print_node(const Graph& graph, std::size_t node) {
  return statement_text(graph.nodes[node], unique_names(graph));
}

std::string dot(const Graph& graph) {
  const std::vector<std::string> names = unique_names(graph);
  std::string text = "digraph graph_ {\n  node [shape=box];\n";
  const auto source = [&](ValueId id) {
    const Value& value = graph.values[static_cast<std::size_t>(id)];
    return value.node < 0 ? fmt::format("i{}", value.output) : fmt::format("n{}", value.node);
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i].value;
    text += fmt::format("  i{} [shape=oval, label=\"{}: {}\"];\n", i,
                        names[static_cast<std::size_t>(id)], type_text(graph.type(id)));
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    text += fmt::format("  n{} [label=\"{}\"];\n", i, call_text(graph.nodes[i], names));
    for (const ValueId id : graph.nodes[i].inputs) {
      if (id == kNoValue) continue;
      text +=
          fmt::format("  {} -> n{} [label=\"{}\"];\n", source(id), i, type_text(graph.type(id)));
    }
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const GraphOutput& output = graph.outputs[i];
    text += fmt::format("  o{} [shape=oval, label=\"output {}\"];\n  {} -> o{};\n", i, i,
                        source(output.value), i);
    if (output.writes >= 0) text += fmt::format("  o{} -> i{} [style=dotted];\n", i, output.writes);
  }
  return text + "}\n";
}

}  // namespace groove
