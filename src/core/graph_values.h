// Graphs in text form together with the values of their entry numbers, for graphs that are run from
// what is written: `#0: f64 = 0.5` in the header, and `draws 3` behind it for the random numbers
// that one run takes.
#pragma once

#include <optional>

#include "src/core/graph.h"

namespace groove {

struct GraphWithValues {
  Graph graph;
  std::vector<std::optional<Scalar>> numbers;  // per entry number
  std::uint64_t draws = 0;
};

/// As print(Graph), with the values.
std::string print(const GraphWithValues& given);
/// As parse_graph(), where values may stand.
GraphWithValues parse_graph_with_values(const std::string& text);

/// Where a value is defined or used by this node: "y = add(a, b) {…} @ main.cpp:12".
std::string print_node(const Graph& graph, std::size_t node);

/// The names that print() gives the values, each another; empty for values that nothing defines.
std::vector<std::string> value_names(const Graph& graph);
/// The same text for ever: what Source::file points to when it was read.
const char* lasting_text(const std::string& text);
/// The dtype that short_name() calls so, or Undefined.
ScalarType dtype_of_short_name(const std::string& text);

/// Throws groove::Error for sizes that are negative or of which no memory could hold a tensor: for
/// types that come from a file. `what` begins the message.
void check_sizes(const std::string& what, const Type& type);
/// The same for strides: none may lead out of what an address can reach.
void check_strides(const std::string& what, const Type& type, const Shape& strides);

}  // namespace groove
