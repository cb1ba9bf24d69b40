#include "autodiff/views.h"

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

// A view's history derived from its base: back along the list of view ops.
struct ViewNode final : Node {
  explicit ViewNode(detail::RefPtr<ViewStep> last) : last(std::move(last)) {
    edges = &edge;
    edge_count = 1;
    sequence = advance_tape_sequence();
  }
  const char* name() const override { return "view"; }
  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool>, Tensor* gradients) override {
    Tensor gradient = cotangents[0];
    for (const ViewStep* step = last.get(); step && gradient.defined(); step = step->before.get())
      gradient = step_gradient(*step, gradient);
    gradients[0] = gradient;
  }
  detail::RefPtr<ViewStep> last;
  Edge edge;
};

// Nobody has seen a gradient that is still being made: it is new, whatever went into it.
void forget_writes(const Tensor& gradient) {
  if (gradient.impl()->storage) gradient.impl()->storage->version = 0;
}

// The base's history after an in-place op on a view of it: the written part of the cotangent goes
// through the op, the rest to what the base was before.
struct CopySlices final : Node {
  CopySlices(detail::RefPtr<ViewStep> step, detail::RefPtr<Node> op_node, const Tensor& base)
      : last(std::move(step)), write(std::move(op_node)) {
    own_edges.resize(write->edge_count);
    for (std::uint32_t i = 1; i < write->edge_count; ++i) own_edges[i] = write->edges[i];
    for (std::uint32_t i = 0; i < write->edge_count; ++i) write->edges[i] = Edge();
    own_edges[0] = gradient_edge(base);
    edges = own_edges.data();
    edge_count = write->edge_count;
    sequence = write->sequence;
    type = Type{base.impl()->dtype, base.impl()->geometry.sizes};
  }
  const char* name() const override { return write->name(); }
  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) override {
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
  void release_saved() override {
    is_released = true;
    write->release_saved();
  }
  bool is_spent() const override { return write->is_spent(); }
  const Type* edge_type(std::uint32_t index) const override {
    return index == 0 ? &type : write->edge_type(index);
  }
  detail::RefPtr<ViewStep> last;
  detail::RefPtr<Node> write;
  Type type;
  std::vector<Edge> own_edges;
};

}  // namespace

void track_view(const Call& call, Tensor& output) {
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
  if (input.autograd && input.autograd->view_base.defined()) {
    meta.view_base = input.autograd->view_base;
    step->before = input.autograd->view_step;
  } else {
    meta.view_base = call.inputs[0];
  }
  std::atomic_ref(meta.view_base.impl()->tape_references).fetch_add(1, std::memory_order_relaxed);
  meta.view_version = view.storage ? view.storage->version : 0;
}

void drop_view_base(AutogradMeta& meta) {
  if (!meta.view_base.defined()) return;
  std::atomic_ref(meta.view_base.impl()->tape_references).fetch_sub(1, std::memory_order_relaxed);
  meta.view_base.reset();
}

void refresh_view(TensorImpl& view) {
  AutogradMeta& meta = *view.autograd;
  if (!view.storage || meta.view_version == view.storage->version) return;
  meta.view_version = view.storage->version;
  const Tensor base = meta.view_base;
  if (!base.impl()->requires_grad || !base.impl()->autograd || !base.impl()->autograd->grad_fn)
    return;
  auto* node = new ViewNode(meta.view_step);
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

void rebase_through_view(TensorImpl& view, detail::RefPtr<Node> write, std::uint32_t) {
  AutogradMeta& meta = *view.autograd;
  const Tensor base = meta.view_base;
  set_history(*base.impl(), TapeNodePtr(new CopySlices(meta.view_step, std::move(write), base)), 0);
  view.requires_grad = true;
  // The in-place op advanced the version, so every view of the base derives its history anew.
  meta.view_version = view.storage->version - 1;
}

}  // namespace autodiff
}  // namespace groove
