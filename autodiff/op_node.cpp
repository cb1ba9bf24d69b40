#include "autodiff/op_node.h"

#include <algorithm>
#include <new>
#include <thread>

#include "autodiff/arithmetic.h"
#include "autodiff/views.h"
#include "eager/gradient.h"
#include "kernels/ops/widen.h"
#include "src/core/check.h"
#include "src/core/faults.h"
#include "src/core/stand_in.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/tell/coverage.h"
#include "tracer/thread/modes.h"

namespace groove::autodiff {
namespace {

std::size_t padded(std::size_t bytes) { return (bytes + 15) & ~std::size_t{15}; }

Type type_of(const Tensor& tensor) {
  if (!tensor.defined()) return Type{ScalarType::Undefined, {}};
  return Type{tensor.impl()->dtype, tensor.impl()->geometry.sizes};
}

// Does nobody watch the parts of a rule: no tape, no recording, no run that stands in for another?
bool may_be_fused() {
  if (grad_enabled() || is_dispatch_overridden() || has_stand_ins()) return false;
  if (tracer::counting::is_detailed.load(std::memory_order_relaxed)) return false;
  return !tracer::is_tracing_on() || tracer::tape_hooks().may_run_compiled();
}

Tensors fused_gradient_of(const Grad& grad) {
  std::uint64_t operators = 0;
  Tensors result = eager::gradient_of(grad, operators);
  tracer::Tally& tally = tracer::tally();
  if (operators > 0 && tally.uncounted == 0) tracer::Tally::add(tally.eager, operators);
  return result;
}

}  // namespace

OpNode::OpNode(const Call& call, std::uint64_t node_sequence)
    : op_(call.op), attrs_(*call.attrs), numbers_(call.numbers) {
  sequence = node_sequence;
}

detail::RefPtr<OpNode> OpNode::make(const Call& call, std::uint64_t sequence, Tensor keep_self) {
  const std::size_t inputs = call.inputs.size();
  const std::size_t outputs = groove::output_count(*call.op, *call.attrs);
  const std::size_t values = inputs + outputs;
  const std::size_t edges_at = padded(sizeof(OpNode));
  const std::size_t types_at = edges_at + padded(inputs * sizeof(Edge));
  const std::size_t saved_at = types_at + padded(values * sizeof(Type));
  char* memory = static_cast<char*>(::operator new(saved_at + values * sizeof(SavedValue)));
  auto* node = ::new (memory) OpNode(call, sequence);
  detail::RefPtr<OpNode> owner(node);
  node->edges = reinterpret_cast<Edge*>(memory + edges_at);
  node->types_ = reinterpret_cast<Type*>(memory + types_at);
  node->saved_ = reinterpret_cast<SavedValue*>(memory + saved_at);
  std::uninitialized_default_construct_n(node->edges, inputs);
  std::uninitialized_default_construct_n(node->types_, values);
  std::uninitialized_default_construct_n(node->saved_, values);
  node->edge_count = static_cast<std::uint32_t>(inputs);
  node->output_count = static_cast<std::uint32_t>(outputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    const Tensor& input = call.inputs[i];
    node->types_[i] = type_of(input);
    if (!input.defined()) continue;
    node->edges[i] = gradient_edge(input);
    if (is_saved(call.op->saves_inputs, i)) {
      const bool is_self = keep_self.defined() && input.is_same(call.inputs[0]);
      node->saved(i).save(is_self ? keep_self : input);
      node->has_saved_ = true;
    }
  }
  return owner;
}

detail::RefPtr<OpNode> OpNode::make_planned(const tracer::HistoryPlan::Node& planned,
                                            ArrayRef<Scalar> numbers, std::uint64_t sequence) {
  const Tensors nothing(planned.edges.size());
  auto node =
      make(Call{planned.op, nothing, &planned.attrs, numbers, Site::current()}, sequence, {});
  std::copy(planned.types.begin(), planned.types.end(), node->types_);
  node->is_released = planned.is_released;
  node->has_saved_ = planned.has_saved;
  return node;
}

void OpNode::save_planned(std::size_t place, const Tensor& value, std::uint32_t version) {
  saved(place).save_at(value, version, place >= edge_count && is_floating(value.impl()->dtype));
}

void OpNode::save_outputs(const Tensor* outputs, bool is_owned) {
  for (std::uint32_t k = 0; k < output_count; ++k) {
    types_[edge_count + k] = type_of(outputs[k]);
    if (!is_saved(op_->saves_outputs, k)) continue;
    SavedValue& place = saved(edge_count + k);
    // A result without a history (the index of a maximum) cannot tell its producer when it dies,
    // and owning it makes no cycle. It is kept itself: a tracer names results after this.
    if (!is_owned && !is_floating(outputs[k].impl()->dtype)) {
      place.save(outputs[k]);
      has_saved_ = true;
      continue;
    }
    place.save_output(outputs[k].impl());
    if (is_owned)
      place.adopt();
    else
      autograd_meta(*outputs[k].impl()).is_saved_by_producer = true;
    has_saved_ = true;
  }
}

OpNode::~OpNode() {
  const std::size_t values = edge_count + output_count;
  std::destroy_n(saved_, values);
  std::destroy_n(types_, values);
  std::destroy_n(edges, edge_count);
}

void OpNode::release_saved() {
  is_released = !has_fault(Fault::kSavedNotReleased);
  SpinLock guard(lock_);
  for (std::size_t i = 0; i < edge_count + output_count; ++i) saved(i).reset();
}

void OpNode::adopt_output(std::uint32_t index) {
  SpinLock guard(lock_);
  saved(edge_count + index).adopt();
}

void OpNode::move_output(std::uint32_t index, TensorImpl& impl) {
  SpinLock guard(lock_);
  saved(edge_count + index).moved_to(impl);
}

Tensor OpNode::unpack_output(std::uint32_t index) {
  SavedValue& place = saved(edge_count + index);
  Tensor value;
  bool is_adopted = false;
  for (;;) {
    {
      SpinLock guard(lock_);
      if (!place.is_set()) return {};
      value = place.get();
      is_adopted = place.is_adopted();
    }
    if (value.defined()) break;
    std::this_thread::yield();
  }
  if (!is_adopted || !grad_enabled()) return value;
  // For a second derivative the value needs its history back, under an impl that the node does
  // not own: node and value must not hold each other.
  TensorImpl& impl = *value.impl();
  Tensor alias(make_impl(impl.storage, impl.geometry, impl.dtype));
  alias.impl()->counts_apart = impl.counts_apart;
  alias.impl()->trace_session = impl.trace_session;
  alias.impl()->trace_id = impl.trace_id;
  set_history(*alias.impl(), TapeNodePtr(this), index);
  return alias;
}

// LibTorch saves what the gradients that are wanted need; here that is known when a rule reads it.
void OpNode::check_saved(const void* self, std::size_t place) {
  const auto& node = *static_cast<const OpNode*>(self);
  const bool is_input = place < node.edge_count;
  bool is_changed = false;
  {
    const SpinLock guard(node.lock_);
    const SavedValue& value = node.saved_[place];
    if (!value.is_set() || has_fault(Fault::kStaleSavedValue)) return;
    is_changed = value.check(node.name(), is_input ? "input" : "output",
                             is_input ? place : place - node.edge_count);
  }
  if (is_changed) warn_of_change();
}

std::optional<AxisPart> OpNode::part() const {
  if (op_->kind != OpKind::kView || edge_count != 1 || !may_be_fused()) return std::nullopt;
  return part_of(*op_, attrs_, numbers_, types_[0], types_[1]);
}

void OpNode::apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) {
  if (is_spent()) throw_spent();
  if (!op_->gradient) {
    if (op_->kind == OpKind::kView && needs[0])
      gradients[0] = embed_cotangent(*op_, attrs_, numbers_, types_[0], cotangents[0]);
    return;
  }
  Tensors inputs(edge_count), outputs(output_count);
  for (std::size_t i = 0; i < edge_count; ++i) {
    if (!saved(i).is_set()) continue;
    inputs[i] = saved(i).get();
  }
  for (std::uint32_t k = 0; k < output_count; ++k)
    if (saved(edge_count + k).is_set()) outputs[k] = unpack_output(k);
  const Grad grad{*op_,
                  attrs_,
                  numbers_,
                  inputs,
                  outputs,
                  cotangents,
                  ArrayRef<Type>(types_, edge_count),
                  ArrayRef<Type>(types_ + edge_count, output_count),
                  needs,
                  ArrayRef<Tensor>(gradients, edge_count),
                  &OpNode::check_saved,
                  this};
  Tensors result = may_be_fused() ? fused_gradient_of(grad) : kernels::gradient_of(grad);
  GROOVE_ASSERT(result.size() <= edge_count, "{}: {} gradients for {} inputs", name(),
                result.size(), edge_count);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result[i].defined() || !op_->accumulates) gradients[i] = std::move(result[i]);
}

}  // namespace groove::autodiff
