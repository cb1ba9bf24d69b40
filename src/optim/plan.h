// How a library optimizer's step() becomes one call. The host part runs at every call: it looks
// at options and parameters, advances step counters and makes the numbers. The expansion (the
// update of every parameter) runs only where the tracer does not replay it.
//
// State that is missing is made before the call, by calls of its own: a replay of the call skips
// its expansion, but what comes before it runs or is replayed like the program's own calls.
//
// The call's structure is a fingerprint of groups, flags, which parameters have gradients, which
// have state of what kind, and how they share numbers. Which tensors all of these are is no part of
// it: they are listed beside it, so that a step of another optimizer, or of one with other state
// (the program may put it there), is the same call on other tensors.
#pragma once

#include <algorithm>
#include <vector>

#include "groove/autograd.h"
#include "groove/ops/creation.h"
#include "groove/optim/optimizer.h"
#include "src/core/autograd_meta.h"
#include "src/core/dispatch.h"

namespace groove::optim::detail {

struct Slot {  // one parameter
  TensorImpl* impl = nullptr;
  OptimizerParamState* state = nullptr;  // null until its first step, and where there is none
  bool is_first = false;                 // the state was made for the step that is being made
  bool is_active = false;                // updated by the step that is being made
  std::uint32_t numbers_at = 0;          // where its numbers start
  std::uint32_t leader = kNoLeader;      // the slot that has been at its step ever since
  static constexpr std::uint32_t kNoLeader = ~0u;
};

struct StepPlan {
  std::vector<Slot> slots;  // all groups, one after the other
  std::vector<Scalar> numbers;
  std::vector<TensorImpl*> walked;  // by the step that is being made
  bool is_stale = true;             // state pointers must be looked up again
};

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

// Lists the tensors of a state; a visitor of its fields.
struct Walk {
  std::vector<TensorImpl*>* walked;
  void operator()(const char*, const Tensor& value) const { walked->push_back(value.impl()); }
};

/// Brings `slots` up to date with the groups and decides which are active.
void refresh(StepPlan& plan, const Optimizer::StateMap& states,
             std::vector<OptimizerParamGroup>& groups);
/// Of the groups and slots, without options.
std::uint64_t fingerprint(const StepPlan& plan, const std::vector<OptimizerParamGroup>& groups);

/// The call of a whole step; the update of one parameter is an op of its own.
const Op& define_step(const char* name);

/// The state of a parameter, made if it has none.
template <typename State>
State& make_state(Optimizer::StateMap& states, Slot& slot) {
  if (!slot.state) {
    auto made = std::make_unique<State>();
    slot.state = made.get();
    states[slot.impl] = std::move(made);
  }
  return static_cast<State&>(*slot.state);
}

// What the rules of optimizers share. Each adds what is particular to it:
//   kNumbers                       how many numbers an update takes
//   prepare(group, param, slot)    makes the state that is missing
//   advance(slot)                  counts a step of a parameter
//   numbers(group, first, last)    adds the group's numbers to the plan and sets numbers_at
//   fingerprint(group)             structure in the options
//   walk(slot, visit)              the tensors that the state of a parameter is in
//   update(group, param, slot, numbers)
template <typename Options>
struct StepRule {
  StepPlan& plan;
  Optimizer::StateMap& states;

  static const Options& options_of(const OptimizerParamGroup& group) {
    return static_cast<const Options&>(group.options());
  }
  template <typename Numbers>
  std::uint32_t add_numbers(const Numbers& made) {
    const auto at = static_cast<std::uint32_t>(plan.numbers.size());
    plan.numbers.insert(plan.numbers.end(), made.begin(), made.end());
    return at;
  }
  /// One list for all parameters of a group.
  template <typename Numbers>
  void share_numbers(const Numbers& made, std::size_t first, std::size_t last) {
    const std::uint32_t at = add_numbers(made);
    for (std::size_t i = first; i < last; ++i) plan.slots[i].numbers_at = at;
  }
  void ensure(Tensor& average, const Tensor& param) {
    if (!average.defined()) average = zeros(param.sizes(), param.scalar_type());
  }
};

// A rule whose state counts the steps of each parameter.
template <typename Options, typename State>
struct CountedRule : StepRule<Options> {
  static State& state_of(const Slot& slot) { return static_cast<State&>(*slot.state); }
  void advance(Slot& slot) { ++state_of(slot).step(); }
  /// One list, `make(step)`, for all parameters of a group that have been at the same step so far.
  template <typename Make>
  void share_numbers_of_a_step(std::size_t first, std::size_t last, const Make& make) {
    share_numbers_by(
        first, last, [](const State& state) { return state.step(); },
        [&make](const State& state) { return make(static_cast<double>(state.step())); });
  }
  /// One list, `make(state)`, for all parameters of a group that have had the same `key(state)` so
  /// far: nearly always all of them. Those that have parted stay apart: where they meet again by
  /// chance, sharing would change the structure of the step for this once.
  template <typename Key, typename Make>
  void share_numbers_by(std::size_t first, std::size_t last, const Key& key, const Make& make) {
    std::vector<Slot>& slots = this->plan.slots;
    struct Parted {
      std::uint32_t from, leader;
    };
    std::vector<Parted> parted;
    const auto is_at = [&](std::uint32_t leader, const auto& wanted) {
      return slots[leader].is_active && key(state_of(slots[leader])) == wanted;
    };
    for (std::size_t i = first; i < last; ++i) {
      Slot& slot = slots[i];
      if (!slot.is_active) continue;
      const auto own = key(state_of(slot));
      const bool has_leader = slot.leader >= first && slot.leader < i;
      if (slot.leader != i && !(has_leader && is_at(slot.leader, own))) {
        const std::uint32_t from = has_leader ? slot.leader : Slot::kNoLeader;
        const auto known = std::find_if(parted.begin(), parted.end(), [&](const Parted& other) {
          return other.from == from && is_at(other.leader, own);
        });
        slot.leader = known == parted.end() ? static_cast<std::uint32_t>(i) : known->leader;
        if (known == parted.end()) parted.push_back({from, slot.leader});
      }
      slot.numbers_at =
          slot.leader < i ? slots[slot.leader].numbers_at : this->add_numbers(make(state_of(slot)));
    }
  }
};

/// Runs a step of a rule.
template <typename Rule>
void run_step(const Op& op, Rule rule, std::vector<OptimizerParamGroup>& groups, Site site) {
  const NoGradGuard no_grad;
  StepPlan& plan = rule.plan;
  refresh(plan, rule.states, groups);
  {
    const SiteScope scope(site, nullptr);
    std::size_t at = 0;
    for (OptimizerParamGroup& group : groups)
      for (const Tensor& param : group.params())
        if (Slot& slot = plan.slots[at++]; slot.is_active) rule.prepare(group, param, slot);
  }
  std::uint64_t structure = fingerprint(plan, groups);
  plan.numbers.clear();
  plan.walked.clear();
  std::size_t begin = 0;
  for (OptimizerParamGroup& group : groups) {
    const std::size_t end = begin + group.params().size();
    for (std::size_t i = begin; i < end; ++i)
      if (plan.slots[i].is_active) rule.advance(plan.slots[i]);
    rule.numbers(group, begin, end);
    structure = mix(structure, rule.fingerprint(group));
    for (std::size_t i = begin; i < end; ++i) {
      const Slot& slot = plan.slots[i];
      if (!slot.is_active) continue;
      structure = mix(structure, slot.numbers_at);
      plan.walked.push_back(slot.impl);
      if (slot.state) rule.walk(slot, Walk{&plan.walked});
    }
    begin = end;
  }
  const Attrs attrs{};
  const LibraryCall call{&op, {}, &attrs, plan.numbers, site, plan.walked, structure, true};
  run_library_call(call, [&] {
    std::vector<Scalar> numbers(plan.numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = numbers[i].with_origin(static_cast<int>(i));
    std::size_t first = 0;
    for (OptimizerParamGroup& group : groups) {
      for (std::size_t i = 0; i < group.params().size(); ++i) {
        Slot& slot = plan.slots[first + i];
        if (!slot.is_active) continue;
        use_grad(*slot.impl);
        rule.update(group, group.params()[i], slot,
                    ArrayRef<Scalar>(numbers.data() + slot.numbers_at, Rule::kNumbers));
      }
      first += group.params().size();
    }
  });
}

}  // namespace groove::optim::detail
