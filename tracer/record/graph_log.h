// What a recording computes, noted while the program waits: the graph, for which every type rule
// runs, is made of it where it is compiled, or when somebody has to look at it.
#pragma once

#include <cstdint>
#include <vector>

#include "src/core/graph.h"
#include "tracer/calls/segment.h"

namespace groove::tracer {

class GraphLog {
 public:
  ValueId add_input();
  /// The index that the node will have in the graph. `outputs`: how many it has.
  std::int32_t add_node(const Op& op, ArrayRef<ValueId> operands, const Attrs& attrs,
                        ArrayRef<NumberRef> numbers, std::size_t outputs, Source source,
                        std::int32_t stage);
  std::size_t outputs(std::int32_t node) const { return at(node).outputs; }
  ValueId output(std::int32_t node, std::size_t k) const {
    return at(node).first_output + static_cast<ValueId>(k);
  }
  const Op& op(std::int32_t node) const { return *at(node).op; }
  ArrayRef<NumberRef> numbers(std::int32_t node) const {
    return {numbers_.data() + at(node).first_number, at(node).numbers};
  }
  /// The node without its outputs.
  Node node(std::int32_t node) const;
  /// Adds to the graph, which has the inputs of the segment's live-ins, what it does not have yet.
  void build(Graph& graph, const SegmentContent& segment);

 private:
  struct Entry {
    const Op* op;
    Attrs attrs;
    Source source;
    std::int32_t stage;
    std::uint32_t first_operand, operands, first_number, numbers;
    ValueId first_output;
    std::uint32_t outputs;
  };
  const Entry& at(std::int32_t node) const { return entries_[static_cast<std::size_t>(node)]; }

  std::vector<Entry> entries_;
  std::vector<ValueId> inputs_, operands_;
  std::vector<NumberRef> numbers_;
  ValueId values_ = 0;
};

}  // namespace groove::tracer
