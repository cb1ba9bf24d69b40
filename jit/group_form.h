// The form of a group: all that its launches depend on. The layers of a network and the steps of a
// recurrence have one form, so one of them is lowered and the others get its launches over their
// own buffers.
#pragma once

#include "jit/form.h"
#include "jit/launch_plan.h"

namespace groove::jit {

class GroupForm {
 public:
  GroupForm(const Graph& graph, const Fusion& fusion, const std::vector<BufferId>& buffer_of)
      : graph_(graph), fusion_(fusion), buffer_of_(buffer_of), writer_(graph) {}

  /// For groups of kind kMap, kRow, kColumn and kContraction. Groups of equal words have equal
  /// launches, over buffers()[i] and entries()[i] where the other one has its own of that number.
  void read(std::int32_t group);
  const FormWords& words() const { return writer_.words(); }
  const std::vector<BufferId>& buffers() const { return buffers_; }
  const std::vector<std::int32_t>& entries() const { return writer_.entries(); }

 private:
  const Node& node(std::int32_t index) const {
    return graph_.nodes[static_cast<std::size_t>(index)];
  }
  std::int32_t producer(ValueId value) const {
    return graph_.values[static_cast<std::size_t>(value)].node;
  }
  void add_member(std::int32_t index);
  void add_target(ValueId value);
  void add_operand(ValueId value);
  void add_buffer_of(ValueId value);
  void add_local(std::int32_t index);

  const Graph& graph_;
  const Fusion& fusion_;
  const std::vector<BufferId>& buffer_of_;
  std::int32_t id_ = -1;
  const Group* group_ = nullptr;
  FormWriter writer_;
  std::vector<BufferId> buffers_;
};

}  // namespace groove::jit
