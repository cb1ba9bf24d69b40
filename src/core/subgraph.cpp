// The table of interned graphs: structure as words, words to numbers.
#include "src/core/subgraph.h"

#include <bit>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "src/core/check.h"
#include "src/core/fork.h"
#include "src/core/hash.h"

namespace groove {
namespace {

using Key = std::vector<std::int64_t>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t h = key.size();
    for (const std::int64_t word : key) {
      h = mixed(h, static_cast<std::uint64_t>(word));
    }
    return h;
  }
};

void append(Key& key, const Shape& values) {
  key.push_back(static_cast<std::int64_t>(values.size()));
  key.insert(key.end(), values.begin(), values.end());
}

// Types of results follow from those of the inputs; stages are those of whole segments.
Key structure_of(const Graph& graph) {
  Key key;
  key.reserve(16 + graph.nodes.size() * 8);
  for (const ScalarType kind : graph.numbers) key.push_back(static_cast<std::int64_t>(kind));
  key.push_back(-1);
  for (const GraphInput& input : graph.inputs) {
    const Type& type = graph.type(input.value);
    key.push_back(input.value);
    key.push_back(static_cast<std::int64_t>(type.dtype));
    append(key, type.sizes);
    append(key, input.strides);
  }
  key.push_back(-2);
  for (const Node& node : graph.nodes) {
    key.push_back(node.op->id);
    key.push_back(static_cast<std::int64_t>(node.inputs.size() << 16 | node.numbers.size()));
    key.insert(key.end(), node.inputs.begin(), node.inputs.end());
    key.insert(key.end(), node.attrs.words().begin(), node.attrs.words().end());
    for (const NumberRef& number : node.numbers) {
      key.push_back(number.entry);
      if (number.entry >= 0) continue;
      const Scalar& value = number.constant;
      key.push_back(static_cast<std::int64_t>(value.type()));
      key.push_back(value.isFloatingPoint() ? std::bit_cast<std::int64_t>(value.to_double())
                                            : value.to_int());
    }
    key.insert(key.end(), node.outputs.begin(), node.outputs.end());
  }
  key.push_back(-3);
  for (const GraphOutput& output : graph.outputs) key.push_back(output.value);
  return key;
}

struct Table {
  std::mutex mutex;
  std::unordered_map<Key, std::int64_t, KeyHash> numbers;
  std::deque<Graph> graphs;  // a deque: references stay
};
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

}  // namespace

std::int64_t intern(Graph graph) {
  Key key = structure_of(graph);
  Table& known = table();
  const ForkGate gate;
  const std::lock_guard lock(known.mutex);
  const auto next = static_cast<std::int64_t>(known.graphs.size());
  const auto [at, is_new] = known.numbers.try_emplace(std::move(key), next);
  if (is_new) known.graphs.push_back(std::move(graph));
  return at->second;
}

const Graph& interned_graph(std::int64_t number) {
  Table& known = table();
  const ForkGate gate;
  const std::lock_guard lock(known.mutex);
  GROOVE_CHECK(number >= 0 && number < static_cast<std::int64_t>(known.graphs.size()),
               "there is no subgraph {}", number);
  return known.graphs[static_cast<std::size_t>(number)];
}

}  // namespace groove
