// Does every launch find its inputs bound?
#include <fmt/format.h>

#include <algorithm>

#include "jit/schedule.h"

namespace groove::jit {

std::string check_stages(const Graph& graph, const Lowered& lowered) {
  std::vector<std::int32_t> bound(graph.inputs.size(), graph.stages);
  const auto binds = [&](std::int32_t input, std::int32_t stage) {
    auto& first = bound[static_cast<std::size_t>(input)];
    first = std::min(first, stage);
  };
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      const Value& value = graph.values[static_cast<std::size_t>(id)];
      if (value.node < 0) binds(value.output, node.stage);
    }
  }
  for (const GraphOutput& output : graph.outputs) {
    if (output.writes >= 0) binds(output.writes, output.stage);
  }
  for (std::size_t i = 0; i < lowered.launches.size(); ++i) {
    const LaunchPlan& launch = lowered.launches[i];
    for (const Operand& operand : launch.operands) {
      if (operand.buffer < 0) continue;
      const Buffer& buffer = lowered.buffers[static_cast<std::size_t>(operand.buffer)];
      if (buffer.place != Buffer::Place::kInput) continue;
      const std::int32_t first = bound[static_cast<std::size_t>(buffer.index)];
      if (launch.stage < first) {
        return fmt::format("launch {} of stage {} touches input {}, which is bound in stage {}", i,
                           launch.stage, buffer.index, first);
      }
    }
  }
  return {};
}

}  // namespace groove::jit
