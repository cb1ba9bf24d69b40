// Walks back from a value through the operators that made it.
#include "src/core/graph_ranges.h"

#include <bit>
#include <string_view>

namespace groove {
namespace {

constexpr int kFarthest = 12;  // operators on the way back
constexpr int kMost = 64;      // operators in all

// What a random operator draws with names the place in the stream; no range depends on it.
bool names_a_draw(const Op& op, std::size_t number) {
  if (!op.is_random || number >= op.number_names.size()) return false;
  const std::string_view name = op.number_names[number];
  return name == "seed" || name == "draw";
}

class Walk {
 public:
  Walk(const Graph& graph, const KnownNumbers& numbers) : graph_(graph), numbers_(numbers) {}

  ValueRange range(ValueId id, int distance) {
    if (id == kNoValue) return {};
    const Value& value = graph_.values[static_cast<std::size_t>(id)];
    const ValueRange all = values_of(value.type.dtype);
    if (value.node < 0 || distance > kFarthest || ++seen_ > kMost) return all;
    const Node& node = graph_.nodes[static_cast<std::size_t>(value.node)];
    if (node.op->kind == OpKind::kView) return range(node.inputs[0], distance + 1);
    if (!node.op->range) return all;
    std::vector<ValueRange> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(range(input, distance + 1));
    const std::vector<Type> types = operand_types(graph_, node);
    const std::vector<Scalar> numbers = numbers_of(node);
    const ValueRange own =
        node.op->range(Signature{*node.op, types, node.attrs, numbers}, inputs, value.output);
    return all.holds(own) ? own : all;
  }

 private:
  std::vector<Scalar> numbers_of(const Node& node) {
    std::vector<Scalar> numbers = recorded_numbers(graph_, node);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::int32_t entry = node.numbers[i].entry;
      if (entry < 0) continue;
      const bool is_real = graph_.numbers[static_cast<std::size_t>(entry)] == kDouble;
      std::uint64_t word = numbers[i].bits_as(is_real ? kDouble : kLong);
      if (numbers_.words) {
        word = numbers_.words[entry];
        numbers[i] =
            is_real ? Scalar(std::bit_cast<double>(word)) : Scalar(static_cast<std::int64_t>(word));
      }
      if (numbers_.read && !names_a_draw(*node.op, i)) numbers_.read->emplace_back(entry, word);
    }
    return numbers;
  }

  const Graph& graph_;
  const KnownNumbers& numbers_;
  int seen_ = 0;
};

}  // namespace

ValueRange range_of(const Graph& graph, ValueId value, const KnownNumbers& numbers) {
  return Walk(graph, numbers).range(value, 0);
}

}  // namespace groove
