// How a library optimizer's step() becomes one word. The host part runs at every call: it looks
// at options and parameters, advances step counters and makes the numbers. The expansion (the
// update of every parameter) runs only where the tracer does not replay it.
//
// The word's epoch is a fingerprint of all structure: groups, flags, parameters, which of them
// have gradients, which have state, and how they share numbers. Equal fingerprints mean equal
// expansions.
#pragma once

#include <vector>

#include "groove/optim/optimizer.h"
#include "src/core/autograd_meta.h"
#include "src/core/dispatch.h"

namespace groove::optim::detail {

struct Slot {  // one parameter
  TensorImpl* impl = nullptr;
  OptimizerParamState* state = nullptr;  // null until its first step
  bool is_active = false;                // updated by the step that is being made
  std::uint32_t numbers_at = 0;          // where its numbers start
};

struct StepPlan {
  Optimizer::StateMap state;
  std::vector<Slot> slots;  // all groups, one after the other
  std::vector<Scalar> numbers;
  std::uint64_t state_epoch = 0;  // moves when state is made or may have been replaced
  bool is_stale = true;           // state pointers must be looked up again
};

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

inline bool has_gradient(const TensorImpl& impl) {
  return impl.autograd && impl.autograd->grad.defined();
}

/// Brings `slots` up to date with the groups and decides which are active; returns a fingerprint.
std::uint64_t refresh(StepPlan& plan, std::vector<OptimizerParamGroup>& groups,
                      const Optimizer::StateMap& state);

// Runs a step of `Rule`, whose members say what is particular to an optimizer:
//   advance(slot)                     counts a step of a parameter
//   numbers(group, plan, first, last) appends the group's numbers and sets numbers_at
//   fingerprint(group)                structure in the options
//   update(group, slot, numbers)      the update itself
template <typename Rule>
void run_step(const Op& op, Rule& rule, StepPlan& plan, std::vector<OptimizerParamGroup>& groups,
              const Optimizer::StateMap& state, const void* object, Site site) {
  std::uint64_t epoch = mix(refresh(plan, groups, state), plan.state_epoch);
  plan.numbers.clear();
  std::size_t begin = 0;
  for (OptimizerParamGroup& group : groups) {
    const std::size_t end = begin + group.params().size();
    for (std::size_t i = begin; i < end; ++i)
      if (plan.slots[i].is_active) rule.advance(plan.slots[i]);
    rule.numbers(group, plan, begin, end);
    epoch = mix(epoch, rule.fingerprint(group));
    for (std::size_t i = begin; i < end; ++i)
      if (plan.slots[i].is_active) epoch = mix(epoch, plan.slots[i].numbers_at);
    begin = end;
  }
  const Attrs attrs{};
  const BigWord word{&op, {}, &attrs, plan.numbers, site, object, epoch, true};
  run_big_word(word, [&] {
    std::vector<Scalar> numbers(plan.numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = numbers[i].with_origin(static_cast<int>(i));
    std::size_t first = 0;
    for (OptimizerParamGroup& group : groups) {
      for (std::size_t i = 0; i < group.params().size(); ++i) {
        Slot& slot = plan.slots[first + i];
        if (slot.is_active)
          rule.update(group, group.params()[i], slot,
                      ArrayRef<Scalar>(numbers.data() + slot.numbers_at, Rule::kNumbers));
      }
      first += group.params().size();
    }
  });
}

}  // namespace groove::optim::detail
