// Gradient hooks: code of the program that sees, and may replace, the gradient of a tensor; and
// results that keep their gradient.
#include <algorithm>
#include <atomic>

#include "autodiff/backward.h"
#include "autodiff/segment_node.h"
#include "src/core/check.h"
#include "tracer/tape_hooks.h"

namespace groove {
namespace autodiff {
namespace {

struct GradientHook final : TapeNode, UserCode {
  explicit GradientHook(std::function<Tensor(const Tensor&)> hook) : hook(std::move(hook)) {}
  const char* name() const override { return "hook"; }
  std::vector<Tensor> call(std::vector<Tensor> arguments) override { return {hook(arguments[0])}; }
  std::function<Tensor(const Tensor&)> hook;
};

std::uint64_t next_hooks() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// The hooks of one tensor are those of its place on the tape.
Edge place_of(const Tensor& tensor, const char* what) {
  GROOVE_CHECK(needs_gradient(*tensor.impl()),
               "{}: the tensor doesn't require a gradient; call requires_grad_() first", what);
  Edge edge = gradient_edge(tensor);
  resolve(edge);
  return edge;
}

const Op& register_hook_op() {
  static const Op& op = define({.name = "register_hook",
                                .kind = OpKind::kBig,
                                .inputs = 1,
                                .outputs = 0,
                                .mutates = {},
                                .has_inplace = false});
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
  static const Op& op = define({.name = "retain_grad",
                                .kind = OpKind::kBig,
                                .inputs = 1,
                                .outputs = 0,
                                .mutates = {},
                                .has_inplace = false});
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
  else
    return false;
  return true;
}

std::vector<Tensor> call_user_code(TapeNode& node, std::vector<Tensor> arguments) {
  return dynamic_cast<UserCode&>(node).call(std::move(arguments));
}

}  // namespace autodiff

unsigned DataMethods::add_gradient_hook(std::function<Tensor(const Tensor&)> hook,
                                        const Site& site) const {
  const CallFrame frame(site, nullptr);
  GROOVE_CHECK(defined(), "register_hook: the tensor is undefined");
  TensorImpl& impl = *this->impl();
  tracer::settle_flags(impl);
  GROOVE_CHECK(autodiff::needs_gradient(impl),
               "register_hook: cannot register a hook on a tensor that doesn't require gradient; "
               "call requires_grad_() first");
  const TapeNodePtr code(new autodiff::GradientHook(std::move(hook)));
  if (autodiff::is_leaf(impl)) {
    if (state_hooks().on_metadata_change) state_hooks().on_metadata_change(impl);
    ++impl.metadata_epoch;  // a replay must not hand it out again, with its hooks
    const unsigned position = autodiff::add_hook(self(), code);
    autograd_meta(impl).hooks = autodiff::next_hooks();
    return position;
  }
  // A result has a history of its own in every iteration: a word. Where it is replayed, the tensor
  // itself counts its hooks.
  auto position = static_cast<unsigned>(autograd_meta(impl).hooks);
  const Attrs none{};
  BigWord word{&autodiff::register_hook_op(), ArrayRef<Tensor>(self()), &none, {}, site};
  word.user_code = code.get();
  run_big_word(word, [&] { position = autodiff::add_hook(self(), code); });
  autograd_meta(impl).hooks = position + 1;
  return position;
}

void DataMethods::retain_grad(Site site) const {
  const CallFrame frame(site);
  GROOVE_CHECK(defined(), "retain_grad: the tensor is undefined");
  TensorImpl& impl = *this->impl();
  tracer::settle_flags(impl);
  GROOVE_CHECK(autodiff::needs_gradient(impl),
               "retain_grad: the tensor does not require a gradient");
  if (autodiff::is_leaf(impl) || impl.autograd->retains_grad) return;
  const Attrs none{};
  const BigWord word{&autodiff::retain_grad_op(), ArrayRef<Tensor>(self()), &none, {}, site};
  run_big_word(word, [&] { autodiff::retain(self()); });
  impl.autograd->retains_grad |= static_cast<bool>(impl.autograd->grad_fn);
}

void DataMethods::remove_hook(unsigned position, Site site) const {
  const CallFrame frame(site);
  GROOVE_CHECK(defined(), "remove_hook: the tensor is undefined");
  TensorImpl& impl = *this->impl();
  if (state_hooks().on_metadata_change) state_hooks().on_metadata_change(impl);
  ++impl.metadata_epoch;
  const autodiff::Edge edge = autodiff::place_of(self(), "remove_hook");
  if (!edge) return;
  auto& node = static_cast<autodiff::Node&>(*edge.node);
  unsigned seen = 0;
  bool has_hooks = false;
  autodiff::Node::Hook* found = nullptr;
  if (node.hooks)
    for (autodiff::Node::Hook& known : *node.hooks) {
      if (known.index == edge.index && seen++ == position) found = &known;
    }
  GROOVE_CHECK(found, "remove_hook: invalid index, no hook at position {}", position);
  found->code.reset();
  for (const autodiff::Node::Hook& known : *node.hooks) has_hooks |= static_cast<bool>(known.code);
  if (node.is_accumulator())
    autograd_meta(impl).hooks = has_hooks ? autodiff::next_hooks() : 0;
}

}  // namespace groove
