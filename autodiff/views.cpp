#include "autodiff/views.h"

#include <algorithm>
#include <array>
#include <vector>

#include "autodiff/arithmetic.h"
#include "groove/autograd.h"
#include "src/core/check.h"

namespace groove {

void destroy(ViewStep* step) { delete step; }

namespace autodiff {
namespace {

Tensor apply_step(const ViewStep& step, const Tensor& input) {
  return call(*step.op, {input}, Site::current(), step.attrs, step.numbers);
}

// The gradient of one view op, by its own rule if it declares one.
Tensor step_gradient(const ViewStep& step, const Tensor& cotangent) {
  if (!step.op->gradient || step.op->saves_inputs || step.op->saves_outputs)
    return embed_cotangent(*step.op, step.attrs, step.numbers, step.input, cotangent);
  const std::array<Tensor, 1> nothing, cotangents{cotangent};
  const Type output{cotangent.impl()->dtype, cotangent.impl()->geometry.sizes};
  const bool needs = true;
  const Grad grad{*step.op,
                  step.attrs,
                  step.numbers,
                  ArrayRef<Tensor>(nothing.data(), 1),
                  ArrayRef<Tensor>(nothing.data(), 1),
                  ArrayRef<Tensor>(cotangents.data(), 1),
                  ArrayRef<Type>(step.input),
                  ArrayRef<Type>(output),
                  ArrayRef<bool>(needs)};
  Tensors gradients = step.op->gradient(grad);
  return gradients.empty() ? Tensor() : gradients[0];
}

constinit thread_local bool are_views_inner = false;

// Nobody has seen a gradient that is still being made: it is new, whatever went into it.
void forget_writes(const Tensor& gradient) {
  if (gradient.impl()->storage) gradient.impl()->storage->version = 0;
}

}  // namespace

InnerViews::InnerViews() : previous_(std::exchange(are_views_inner, true)) {}
InnerViews::~InnerViews() { are_views_inner = previous_; }
bool InnerViews::are_made() { return are_views_inner; }

ViewNode::ViewNode(detail::RefPtr<ViewStep> last, std::uint64_t position) : last(std::move(last)) {
  edges = &edge;
  edge_count = 1;
  sequence = position;
}

void ViewNode::apply(ArrayRef<Tensor> cotangents, ArrayRef<bool>, Tensor* gradients) {
  Tensor gradient = cotangents[0];
  for (const ViewStep* step = last.get(); step && gradient.defined(); step = step->before.get())
    gradient = step_gradient(*step, gradient);
  gradients[0] = gradient;
}

CopySlices::CopySlices(detail::RefPtr<ViewStep> step, detail::RefPtr<OpNode> op_node, Type type)
    : last(std::move(step)), write(std::move(op_node)), base(std::move(type)) {
  own_edges.resize(write->edge_count);
  for (std::uint32_t i = 1; i < write->edge_count; ++i) own_edges[i] = write->edges[i];
  for (std::uint32_t i = 0; i < write->edge_count; ++i) write->edges[i] = Edge();
  edges = own_edges.data();
  edge_count = write->edge_count;
  sequence = write->sequence;
}

void CopySlices::apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) {
  Tensor rest = copy_of(cotangents[0]);
  Tensor part = replay_view(*last, rest);
  const Tensor written = copy_of(part);
  write->apply(ArrayRef<Tensor>(written), needs, gradients);
  if (!needs[0]) return;
  const Type part_type{part.impl()->dtype, part.impl()->geometry.sizes};
  copy_into(part, gradients[0].defined() ? gradients[0] : zeros_of(part_type));
  forget_writes(rest);
  gradients[0] = rest;
}

// ---- in plans ----

bool describe_view(const Node& node, tracer::HistoryPlan::Node& planned) {
  using Kind = tracer::HistoryPlan::Node::Kind;
  const auto* const write = dynamic_cast<const CopySlices*>(&node);
  const auto* const view = dynamic_cast<const ViewNode*>(&node);
  if (!write && !view) return false;
  planned.kind = write ? Kind::kWrite : Kind::kView;
  for (const ViewStep* step = (write ? write->last : view->last).get(); step;
       step = step->before.get()) {
    tracer::HistoryPlan::Step& known = planned.steps.emplace_back();
    known.op = step->op;
    known.attrs = step->attrs;
    known.input = step->input;
    for (const Scalar& number : step->numbers)
      known.numbers.push_back({number.origin(), number.with_origin(-1)});
  }
  std::reverse(planned.steps.begin(), planned.steps.end());
  return true;
}

detail::RefPtr<Node> make_planned_view(const tracer::HistoryPlan::Node& planned,
                                       ArrayRef<Scalar> step_numbers,
                                       detail::RefPtr<OpNode> write, std::uint64_t sequence) {
  detail::RefPtr<ViewStep> last;
  std::size_t next = 0;
  for (const tracer::HistoryPlan::Step& known : planned.steps) {
    detail::RefPtr<ViewStep> step(new ViewStep);
    step->op = known.op;
    step->attrs = known.attrs;
    step->input = known.input;
    for (std::size_t i = 0; i < known.numbers.size(); ++i)
      step->numbers.push_back(step_numbers[next++]);
    step->before = std::move(last);
    last = std::move(step);
  }
  if (planned.kind == tracer::HistoryPlan::Node::Kind::kView)
    return detail::RefPtr<Node>(new ViewNode(std::move(last), sequence));
  return detail::RefPtr<Node>(
      new CopySlices(std::move(last), std::move(write), planned.steps.front().input));
}

void track_view(const Call& call, Tensor& output, bool with_grad) {
  TensorImpl& view = *output.impl();
  TensorImpl& input = *call.inputs[0].impl();
  // An op may give back its input itself (contiguous() of a contiguous tensor).
  if (!is_floating(view.dtype) || &view == &input) return;
  AutogradMeta& meta = autograd_meta(view);
  auto* step = new ViewStep;
  meta.view_step = detail::RefPtr<ViewStep>(step);
  step->op = call.op;
  step->attrs = *call.attrs;
  step->numbers.assign(call.numbers.data(), call.numbers.size());
  step->input = Type{input.dtype, input.geometry.sizes};
  drop_view_base(meta);
  meta.is_made_without_grad =
      !with_grad || (input.autograd && input.autograd->is_made_without_grad);
  if (input.autograd && input.autograd->view_base.defined()) {
    meta.view_base = input.autograd->view_base;
    step->before = input.autograd->view_step;
  } else {
    meta.view_base = call.inputs[0];
  }
  meta.view_base.impl()->tape_references.fetch_add(1, std::memory_order_relaxed);
  meta.view_version = view.storage ? version_of(view).get() : 0;
}

void drop_view_base(AutogradMeta& meta) {
  if (!meta.view_base.defined()) return;
  meta.view_base.impl()->tape_references.fetch_sub(1, std::memory_order_relaxed);
  meta.view_base.reset();
}

void refresh_view(TensorImpl& view) {
  AutogradMeta& meta = *view.autograd;
  if (!view.storage || meta.view_version == version_of(view)) return;
  GROOVE_CHECK(
      !tracer::is_lost_view(view),
      "a view {} {} was created in no_grad mode, and its base or another view of it was "
      "modified in place since: the gradient of the view is unknown; make the view and the "
      "change both inside of NoGradGuard or both outside, or make the view anew",
      groove::name(view.dtype), to_string(view.geometry.sizes));
  meta.view_version = version_of(view);
  const Tensor base = meta.view_base;
  if (!base.impl()->requires_grad || !base.impl()->autograd || !base.impl()->autograd->grad_fn)
    return;
  auto* node = new ViewNode(meta.view_step, advance_tape_sequence());
  const TapeNodePtr owner(node);
  node->edge = gradient_edge(base);
  set_history(view, owner, 0);
}

Tensor replay_view(const ViewStep& step, const Tensor& base) {
  std::vector<const ViewStep*> path;
  for (const ViewStep* at = &step; at; at = at->before.get()) path.push_back(at);
  Tensor view = base;
  for (auto at = path.rbegin(); at != path.rend(); ++at) view = apply_step(**at, view);
  return view;
}

Tensor embed_cotangent(const Op& op, const Attrs& attrs, ArrayRef<Scalar> numbers,
                       const Type& input, const Tensor& cotangent) {
  Tensor gradient = zeros_of(input);
  Tensor place = call(op, {gradient}, Site::current(), attrs, numbers);
  copy_into(place, cotangent);
  forget_writes(gradient);
  return gradient;
}

void rebase_through_view(TensorImpl& view, detail::RefPtr<OpNode> write) {
  AutogradMeta& meta = *view.autograd;
  const Tensor base = meta.view_base;
  const Type type{base.impl()->dtype, base.impl()->geometry.sizes};
  auto* const node = new CopySlices(meta.view_step, std::move(write), type);
  const TapeNodePtr owner(node);
  node->own_edges[0] = gradient_edge(base);
  set_history(*base.impl(), owner, 0);
  view.requires_grad = true;
  // The in-place op advanced the version, so every view of the base derives its history anew.
  meta.view_version = version_of(view) - 1;
}

}  // namespace autodiff
}  // namespace groove
