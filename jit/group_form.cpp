// Walks the nodes of a group in order, and from each operand through views to a member of the
// group, a constant or a numbered buffer.
#include "jit/group_form.h"

#include <algorithm>

namespace groove::jit {
namespace {

enum Reference : std::int64_t { kNone, kView, kMember, kConstant, kMemory };

}  // namespace

void GroupForm::read(std::int32_t group) {
  writer_.clear();
  buffers_.clear();
  id_ = group;
  group_ = &fusion_.groups[static_cast<std::size_t>(group)];
  writer_.add(static_cast<std::int64_t>(group_->kind));
  writer_.add(group_->is_split);
  writer_.add(group_->is_short);
  writer_.add(group_->is_fours);
  writer_.add_list(group_->loop.sizes);
  writer_.add_list(group_->loop.is_reduced);
  writer_.add_list(group_->matrix_axis);
  add_local(group_->seed);
  writer_.add_list(group_->nodes, [&](std::int32_t index) { add_member(index); });
}

void GroupForm::add_member(std::int32_t index) {
  writer_.add_call(node(index));
  writer_.add(static_cast<std::int64_t>(fusion_.span_of[static_cast<std::size_t>(index)]));
  writer_.add_list(node(index).inputs, [&](ValueId id) { add_operand(id); });
  writer_.add_list(node(index).outputs, [&](ValueId id) {
    writer_.add_type(graph_.type(id));
    const bool is_stored = fusion_.is_stored[static_cast<std::size_t>(id)] != 0;
    writer_.add(is_stored);
    if (is_stored) add_target(id);
  });
}

void GroupForm::add_target(ValueId id) {
  const Placement& placement = fusion_.placements[static_cast<std::size_t>(id)];
  const bool is_placed = placement.whole != kNoValue;
  writer_.add(is_placed);
  writer_.add_geometry(is_placed ? placement.region : memory_geometry(graph_, id));
  add_buffer_of(is_placed ? placement.whole : id);
}

void GroupForm::add_operand(ValueId id) {
  if (id == kNoValue) return writer_.add(kNone);
  for (; is_view(graph_, id); id = node(producer(id)).inputs[0]) {
    writer_.add(kView);
    writer_.add_call(node(producer(id)));
    writer_.add_type(graph_.type(id));
  }
  const std::int32_t from = producer(id);
  if (from >= 0 && fusion_.group_of[static_cast<std::size_t>(from)] == id_) {
    writer_.add(kMember);
    add_local(from);
    return writer_.add(graph_.values[static_cast<std::size_t>(id)].output);
  }
  const bool is_constant = from >= 0 && is_splat(node(from));
  writer_.add(is_constant ? kConstant : kMemory);
  writer_.add_type(graph_.type(id));
  if (is_constant) return writer_.add_call(node(from));
  writer_.add_geometry(memory_geometry(graph_, id));
  add_buffer_of(id);
}

void GroupForm::add_buffer_of(ValueId id) {
  writer_.add_counted(buffers_, buffer_of_[static_cast<std::size_t>(id)]);
}

// Members are in ascending order.
void GroupForm::add_local(std::int32_t index) {
  const auto& nodes = group_->nodes;
  writer_.add(std::lower_bound(nodes.begin(), nodes.end(), index) - nodes.begin());
}

}  // namespace groove::jit
