// The form of a group: all that its launches depend on, with values, nodes and run-time numbers
// counted as they are met. The layers of a network and the steps of a recurrence have one form, so
// one of them is lowered and the others get its launches over their own buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/launch_plan.h"

namespace groove::jit {

struct GroupForm {
  std::vector<std::int64_t> words;    // groups of equal words have equal launches …
  std::vector<BufferId> buffers;      // … over these in place of the other's
  std::vector<std::int32_t> entries;  // … and with these run-time numbers
};

/// Of a group of kind kMap, kRow, kColumn or kContraction.
GroupForm form_of(const Graph& graph, const Fusion& fusion, const std::vector<BufferId>& buffer_of,
                  const Group& group, std::int32_t group_id);

struct GroupFormHash {
  std::size_t operator()(const std::vector<std::int64_t>& words) const;
};

}  // namespace groove::jit
