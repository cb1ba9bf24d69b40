// Graphs as JSON. Operators are known by name and version, values by name:
//   {"format": "groove.graph", "version": 1, "id": "…", "weights": "net.safetensors",
//    "draws": 0, "graph": {
//      "inputs": [{"name": "x", "dtype": "f32", "sizes": [3, 4]},
//                 {"name": "w", "dtype": "f32", "sizes": [4, 4], "weight": "w"}],
//      "numbers": [{"dtype": "f64", "value": 0.5}],
//      "stages": 1,
//      "nodes": [{"op": "mm", "version": 1, "inputs": ["x", "w"], "attributes": {},
//                 "numbers": [{"entry": 0}, 0.5], "file": "a.cpp", "line": 3, "stage": 0,
//                 "outputs": [{"name": "y", "dtype": "f32", "sizes": [3, 4]}]}],
//      "outputs": [{"value": "y", "writes": "w", "stage": 0}]}}
// An absent operand is null; strides, numbers, stages and weights stand where they say something. A
// real number that JSON has no form for is a text of its bits, "0x7ff0000000000000".
#pragma once

#include <string>

#include "jit/graph/state.h"

namespace groove::serialize {

constexpr const char* kGraphFormat = "groove.graph";
constexpr int kGraphVersion = 1;

/// `weights`: the file's name without a folder.
std::string graph_json(const jit::detail::GraphState& state, const std::string& weights);

struct GraphFile {
  std::unique_ptr<jit::detail::GraphState> state;  // without its weights
  std::string id, weights;                         // the file of the weights, without a folder
  std::vector<std::string> keys;                   // per input: of its weight; empty for none
};
/// `source` begins the messages of groove::Error.
GraphFile read_graph_json(const std::string& text, const std::string& source);

}  // namespace groove::serialize
