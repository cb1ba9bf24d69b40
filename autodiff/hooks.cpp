// Gradient hooks: code of the program that sees, and may replace, the gradient of a tensor; and
// results that keep their gradient.
#include <algorithm>

#include "autodiff/backward.h"
#include "autodiff/segment_node.h"
#include "groove/ops/complex.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "tracer/calls/tape_hooks.h"

namespace groove {
namespace autodiff {
namespace {

struct GradientHook final : TapeNode, UserCode {
  explicit GradientHook(std::function<Tensor(const Tensor&)> hook) : hook(std::move(hook)) {}
  const char* name() const override { return "hook"; }
  std::vector<Tensor> call(std::vector<Tensor> arguments) override { return {hook(arguments[0])}; }
  std::function<Tensor(const Tensor&)> hook;
  std::uint32_t position = 0;  // on a leaf: how many have hung there before
};

// The hooks of one tensor are those of its place on the tape.
Edge place_of(const Tensor& tensor, const char* what) {
  GROOVE_CHECK(needs_gradient(*tensor.impl()),
               "{}: the tensor doesn't require a gradient; call requires_grad_() first", what);
  Edge edge = gradient_edge(tensor);
  resolve(edge);
  return edge;
}

Op op_of_hooks(const char* name) {
  return {.name = name,
          .kind = OpKind::kBig,
          .inputs = 1,
          .outputs = 0,
          .mutates = {},
          .has_inplace = false};
}

const Op& register_hook_op() {
  static const Op& op = define(op_of_hooks("register_hook"));
  return op;
}

const Op& register_leaf_hook_op() {
  static const Op& op = define(op_of_hooks("register_leaf_hook"));
  return op;
}

const Op& remove_leaf_hook_op() {
  static const Op& op = define([] {
    Op removing = op_of_hooks("remove_leaf_hook");
    removing.attributes = {{"index", AttrType::kInt}};  // among those that hang there
    return removing;
  }());
  return op;
}

bool is_leaf(const TensorImpl& impl) {
  return !impl.autograd || (!impl.autograd->grad_fn && !impl.autograd->view_base.defined());
}

// After the others of the same tensor; returns how many those are.
unsigned add_hook(const Tensor& tensor, TapeNodePtr code) {
  const Edge edge = place_of(tensor, "register_hook");
  if (!edge) return 0;  // no gradient will ever come there
  auto& node = static_cast<Node&>(*edge.node);
  if (!node.hooks) node.hooks = std::make_unique<std::vector<Node::Hook>>();
  auto at = node.hooks->end();
  unsigned position = 0;
  for (auto known = node.hooks->begin(); known != node.hooks->end(); ++known)
    if (known->index == edge.index) {
      at = known + 1;
      ++position;
    }
  node.hooks->insert(at, {edge.index, std::move(code)});
  return position;
}

const Op& retain_grad_op() {
  static const Op& op = define(op_of_hooks("retain_grad"));
  return op;
}

void retain(const Tensor& tensor) {
  TensorImpl& impl = *tensor.impl();
  const Edge edge = place_of(tensor, "retain_grad");
  if (!edge || static_cast<Node&>(*edge.node).is_accumulator()) return;
  resolve_history(impl);
  retain_gradient(impl);
}

}  // namespace

bool attach_hook(const Op& op, ArrayRef<Tensor> inputs, TapeNode* code) {
  if (&op == &retain_grad_op())
    retain(inputs[0]);
  else if (&op == &register_hook_op())
    add_hook(inputs[0], TapeNodePtr(code));
  else if (&op == &register_leaf_hook_op())
    change_leaf_hooks(*inputs[0].impl(), CodeRole::kHangs, TapeNodePtr(code), false);
  else if (&op == &remove_leaf_hook_op())
    change_leaf_hooks(*inputs[0].impl(), CodeRole::kTakesOff, TapeNodePtr(code), false);
  else
    return false;
  return true;
}

// In the order of their positions, without those that are gone: a loop that registers and removes
// one in each iteration leaves nothing behind.
void change_leaf_hooks(TensorImpl& leaf, CodeRole role, const TapeNodePtr& code, bool is_undone) {
  AutogradMeta& meta = autograd_meta(leaf);
  if (!meta.accumulator) gradient_edge(Tensor(&leaf));  // makes it
  auto& node = static_cast<Node&>(*meta.accumulator);
  auto& hook = static_cast<GradientHook&>(*code);
  if (!node.hooks) node.hooks = std::make_unique<std::vector<Node::Hook>>();
  std::vector<Node::Hook>& all = *node.hooks;
  if (role == CodeRole::kHangs && !is_undone) hook.position = meta.hooks_ever++;
  if (role == CodeRole::kHangs && is_undone) --meta.hooks_ever;
  if ((role == CodeRole::kHangs) != is_undone) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Node::Hook& known) {
      return known.position > hook.position;
    });
    all.insert(at, {0, code, hook.position});
  } else {
    std::erase_if(all, [&](const Node::Hook& known) { return known.code.get() == code.get(); });
  }
  meta.hooks = static_cast<std::uint32_t>(all.size());
  if (all.empty()) node.hooks.reset();
}

namespace {

// A leaf has its hooks in every iteration: hanging one on it, or taking it off, is done at once.
unsigned add_leaf_hook(const Tensor& leaf, const TapeNodePtr& code, const Site& site) {
  before_flags_change(*leaf.impl());
  const Attrs none{};
  LibraryCall call{&register_leaf_hook_op(), ArrayRef<Tensor>(leaf), &none, {}, site};
  call.code_role = CodeRole::kHangs;
  call.user_code = code.get();
  run_library_call(call, [&] { change_leaf_hooks(*leaf.impl(), CodeRole::kHangs, code, false); });
  return static_cast<GradientHook&>(*code).position;
}

void remove_leaf_hook(const Tensor& leaf, unsigned position, const Site& site) {
  const AutogradMeta* const meta = leaf.impl()->autograd;
  GROOVE_CHECK(meta && position < meta->hooks_ever,
               "remove_hook: invalid index, no hook at position {}", position);
  const auto& node = static_cast<const Node&>(*meta->accumulator);
  if (!node.hooks) return;
  const auto at = std::find_if(node.hooks->begin(), node.hooks->end(),
                               [&](const Node::Hook& hook) { return hook.position == position; });
  if (at == node.hooks->end()) return;  // removed before
  const TapeNodePtr code = at->code;
  before_flags_change(*leaf.impl());
  const Attrs attrs = Attrs().add(static_cast<std::int64_t>(at - node.hooks->begin()));
  LibraryCall call{&remove_leaf_hook_op(), ArrayRef<Tensor>(leaf), &attrs, {}, site};
  call.code_role = CodeRole::kTakesOff;
  call.user_code = code.get();
  run_library_call(call,
                   [&] { change_leaf_hooks(*leaf.impl(), CodeRole::kTakesOff, code, false); });
}

}  // namespace

std::vector<Tensor> call_user_code(TapeNode& node, std::vector<Tensor> arguments) {
  return dynamic_cast<UserCode&>(node).call(std::move(arguments));
}

}  // namespace autodiff

unsigned DataMethods::add_gradient_hook(std::function<Tensor(const Tensor&)> hook,
                                        const Site& site) const {
  const CallFrame frame(site, nullptr);
  GROOVE_CHECK(defined(), "register_hook: the tensor is undefined");
  if (is_complex_tensor(*this))
    return pair_of(*this).add_gradient_hook(
        [hook](const Tensor& grad) { return taped(hook(view_as_complex(grad.contiguous()))); },
        site);
  TensorImpl& impl = *this->impl();
  tracer::settle_flags(impl);
  GROOVE_CHECK(autodiff::needs_gradient(impl),
               "register_hook: cannot register a hook on a tensor that doesn't require gradient; "
               "call requires_grad_() first");
  const TapeNodePtr code(new autodiff::GradientHook(std::move(hook)));
  if (autodiff::is_leaf(impl)) return autodiff::add_leaf_hook(self(), code, site);
  // A result has a history of its own in every iteration: a call. Where it is replayed, the tensor
  // itself counts its hooks.
  unsigned position = autograd_meta(impl).hooks_ever;
  const Attrs none{};
  LibraryCall call{&autodiff::register_hook_op(), ArrayRef<Tensor>(self()), &none, {}, site};
  call.code_role = CodeRole::kAttaches;
  call.user_code = code.get();
  run_library_call(call, [&] { position = autodiff::add_hook(self(), code); });
  autograd_meta(impl).hooks = autograd_meta(impl).hooks_ever = position + 1;
  return position;
}

void DataMethods::retain_grad(Site site) const {
  const CallFrame frame(site);
  GROOVE_CHECK(defined(), "retain_grad: the tensor is undefined");
  if (is_complex_tensor(*this)) return pair_of(*this).retain_grad(site);
  TensorImpl& impl = *this->impl();
  tracer::settle_flags(impl);
  GROOVE_CHECK(autodiff::needs_gradient(impl),
               "retain_grad: the tensor does not require a gradient");
  if (autodiff::is_leaf(impl) || impl.autograd->retains_grad) return;
  const Attrs none{};
  const LibraryCall call{&autodiff::retain_grad_op(), ArrayRef<Tensor>(self()), &none, {}, site};
  run_library_call(call, [&] { autodiff::retain(self()); });
  impl.autograd->retains_grad |= static_cast<bool>(impl.autograd->grad_fn);
}

void DataMethods::remove_hook(unsigned position, Site site) const {
  const CallFrame frame(site);
  GROOVE_CHECK(defined(), "remove_hook: the tensor is undefined");
  if (is_complex_tensor(*this)) return pair_of(*this).remove_hook(position, site);
  TensorImpl& impl = *this->impl();
  if (autodiff::is_leaf(impl)) return autodiff::remove_leaf_hook(self(), position, site);
  if (state_hooks().on_metadata_change) state_hooks().on_metadata_change(impl);
  ++impl.metadata_epoch;
  const autodiff::Edge edge = autodiff::place_of(self(), "remove_hook");
  if (!edge) return;
  auto& node = static_cast<autodiff::Node&>(*edge.node);
  unsigned seen = 0;
  autodiff::Node::Hook* found = nullptr;
  if (node.hooks)
    for (autodiff::Node::Hook& known : *node.hooks) {
      if (known.index == edge.index && seen++ == position) found = &known;
    }
  GROOVE_CHECK(found, "remove_hook: invalid index, no hook at position {}", position);
  found->code.reset();
}

}  // namespace groove
