// Composites: their parts in order, and one fused program for a signature whose parts have taken as
// long as it takes to make one.
#include "eager/composite.h"

#include "eager/plan.h"
#include "kernels/ops/widen.h"
#include "src/core/autograd_meta.h"
#include "src/core/stand_in.h"

namespace groove::eager {
namespace {

CompositeCompiler compiler = nullptr;
GraphCompiler graph_compiler = nullptr;

// While a tape runs through a composite without a gradient of its own, it must see the parts.
bool is_on_tape(const Call& call) {
  if (call.op->gradient || !grad_enabled()) return false;
  for (const Tensor& input : call.inputs) {
    if (input.defined() && input.impl()->requires_grad) return true;
  }
  return false;
}

// Plans belong to one thread, and so does what this one remembers.
class CompositePlan final : public Plan {
 public:
  void run(const Call& call, Tensor* outputs) const override {
    const bool is_open = is_fusible(call);
    if (is_open && run_fused(call, outputs)) return;
    const auto start = Clock::now();
    const std::vector<Type> inputs = input_types(call);
    const Tensors results =
        kernels::compose(Signature{*call.op, inputs, *call.attrs, call.numbers}, call.inputs);
    for (std::size_t k = 0; k < results.size(); ++k) outputs[k] = results[k];
    if (is_open && state_ == State::kNew) of_parts_ += Clock::now() - start;
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { kNew, kFused, kParts };
  // Numbers are no part of the key of a plan, so a program with one inside could be wrong.
  static bool is_fusible(const Call& call) {
    return compiler && !call.is_inplace && call.numbers.empty() && !call.op->is_random &&
           !is_on_tape(call) && !has_stand_ins();
  }
  bool run_fused(const Call& call, Tensor* outputs) const {
    switch (state_) {
      case State::kNew:
        if (of_parts_ < parts_before_fusing()) return false;
        fused_ = compiler(call);
        state_ = fused_ ? State::kFused : State::kParts;
        return fused_ && fused_->run(call.inputs, outputs);
      case State::kFused:
        return fused_->run(call.inputs, outputs);
      case State::kParts:
        return false;
    }
    return false;
  }

  mutable State state_ = State::kNew;
  mutable Clock::duration of_parts_{0};  // what they have taken
  mutable std::unique_ptr<const CompiledComposite> fused_;
};

}  // namespace

void register_composite_compiler(CompositeCompiler registered) { compiler = registered; }
CompositeCompiler registered_composite_compiler() { return compiler; }
void register_graph_compiler(GraphCompiler registered) { graph_compiler = registered; }
GraphCompiler registered_graph_compiler() { return graph_compiler; }

std::chrono::nanoseconds& parts_before_fusing() {
  static std::chrono::nanoseconds time = std::chrono::microseconds(400);
  return time;
}

PlanPtr plan_composite(const Call&) { return std::make_unique<CompositePlan>(); }

}  // namespace groove::eager
