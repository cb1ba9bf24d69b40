// What two recordings on one path agree in, and two live-ins that one tensor may stand for. A field
// that is added to RecordedCall or Slot does not compile before it stands in one of the two lists
// of each: what they are told apart by, or what not.
#pragma once

#include <tuple>

#include "tracer/calls/segment.h"

namespace groove::tracer {

namespace fields {

// What a path is told by.
inline auto of_path(const Slot& slot) {
  const auto& [is_live_in, type, strides, requires_grad, is_leaf, requires_by_base, parent,
               view_call, holds_base, storage, counts_apart, is_user_visible, is_held,
               derives_history, hooks, grad_of, same_as, again, is_walked] = slot;
  // Set by later calls or by what the program holds at the end.
  (void)std::tie(is_user_visible, is_held, is_walked);
  return std::tie(is_live_in, type, strides, requires_grad, is_leaf, requires_by_base, parent,
                  view_call, holds_base, storage, counts_apart, derives_history, hooks, grad_of,
                  same_as, again);
}

inline auto of_path(const RecordedCall& call) {
  const auto& [hash, op, attrs, site, source, is_library_call, is_inplace, grad_enabled, ends_step,
               first_slot, inputs, outputs, output_is_new, first_number, number_kinds,
               fixed_numbers, takes_any_operands, has_settled_position, nested_live_ins,
               nested_places, walked_results, read_live_ins, grads_before, effects, flags,
               code_role, stops_at, stops_at_hook, releases_code, nested, written_live_ins, apart,
               checked, tape_nodes, operators, walked, structure, twins] = call;
  // These follow from the others, or are for people.
  (void)std::tie(hash, source, nested, checked);
  return std::tie(op, attrs, site, is_library_call, is_inplace, grad_enabled, ends_step, first_slot,
                  inputs, outputs, output_is_new, first_number, number_kinds, fixed_numbers,
                  takes_any_operands, has_settled_position, nested_live_ins, nested_places,
                  walked_results, read_live_ins, grads_before, effects, flags, code_role, stops_at,
                  stops_at_hook, releases_code, written_live_ins, apart, tape_nodes, operators,
                  walked, structure, twins);
}

// What is checked when a tensor is bound to a live-in, but its sizes, which may vary.
inline auto of_binding(const Slot& slot) {
  const auto& [is_live_in, type, strides, requires_grad, is_leaf, requires_by_base, parent,
               view_call, holds_base, storage, counts_apart, is_user_visible, is_held,
               derives_history, hooks, grad_of, same_as, again, is_walked] = slot;
  // Looked at by other checks of a run that goes over, or no property of the tensor.
  (void)std::tie(is_live_in, strides, parent, view_call, holds_base, storage, is_user_visible,
                 is_held, derives_history, grad_of, same_as, again, is_walked);
  return std::tie(type.dtype, requires_grad, is_leaf, requires_by_base, counts_apart, hooks);
}

}  // namespace fields

/// Does a run that has come so far by one go on by the other as well?
template <typename Record>
bool is_on_one_path(const Record& a, const Record& b) {
  return fields::of_path(a) == fields::of_path(b);
}

/// Does what was checked as a tensor was bound to one of them hold for the other? Sizes are told
/// apart by those who compare calls.
inline bool is_checked_alike(const Slot& a, const Slot& b) {
  return fields::of_binding(a) == fields::of_binding(b);
}

}  // namespace groove::tracer
