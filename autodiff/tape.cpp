#include "autodiff/tape.h"

#include <limits>

#include "autodiff/arithmetic.h"
#include "autodiff/saved.h"
#include "autodiff/views.h"
#include "groove/autograd.h"
#include "src/core/allocator.h"
#include "src/core/check.h"
#include "src/core/faults.h"
#include "src/core/grad_mode.h"
#include "src/core/gradient_lock.h"
#include "tracer/calls/history.h"
#include "tracer/thread/threads.h"

namespace groove {
namespace {

// Dead nodes waiting for the loop below, linked through their sequence number (nobody reads that
// any more). Trivial, so that destructors of other thread-locals may still use it.
thread_local TapeNode* dead_nodes = nullptr;
thread_local bool is_destroying = false;

}  // namespace

namespace autodiff {
namespace {

void forget_retained(AutogradMeta& meta) {
  if (!meta.retains_grad || !meta.grad_fn || meta.grad_fn->is_deferred) return;
  auto& retained = static_cast<Node&>(*meta.grad_fn).retained;
  if (retained) std::erase_if(*retained, [&](const auto& entry) { return entry.meta == &meta; });
}

}  // namespace
}  // namespace autodiff

void autodiff::throw_spent() {
  throw_error(
      "backward: trying to backward through the graph a second time: its saved tensors are already "
      "freed; give retain_graph=true to the first backward");
}

void destroy(TapeNode* node) {
  node->sequence = reinterpret_cast<std::uintptr_t>(dead_nodes);
  dead_nodes = node;
  if (is_destroying) return;
  is_destroying = true;
  while (dead_nodes) {
    TapeNode* next = dead_nodes;
    dead_nodes = reinterpret_cast<TapeNode*>(static_cast<std::uintptr_t>(next->sequence));
    if (next->is_shown) [[unlikely]]
      autodiff::forget_shown(*next);
    delete next;
  }
  is_destroying = false;
}

static void let_go(AutogradMeta& meta) {
  if (meta.accumulator)
    static_cast<autodiff::Accumulator&>(*meta.accumulator).leaf.store(nullptr);
  if (meta.is_saved_by_producer)
    static_cast<autodiff::Node&>(*meta.grad_fn).adopt_output(meta.output_index);
  autodiff::forget_retained(meta);
  autodiff::drop_view_base(meta);
}

void destroy_autograd_meta(AutogradMeta* meta) {
  let_go(*meta);
  delete meta;
}

AutogradMeta& autograd_meta(TensorImpl& impl) {
  if (AutogradMeta* const known = impl.autograd) return *known;
  auto* const fresh = new AutogradMeta;
  AutogradMeta* const first = impl.autograd.set_if(nullptr, fresh);
  if (first != fresh) destroy_autograd_meta(fresh);  // another thread that uses the same leaf
  return *first;
}

void use_grad(TensorImpl& leaf) {
  settle_gradient(leaf);
  if (state_hooks().on_use_grad) state_hooks().on_use_grad(leaf);
}

void set_grad(TensorImpl& leaf, Tensor grad) {
  settle_gradient(leaf);
  if (state_hooks().on_set_grad) state_hooks().on_set_grad(leaf, grad);
  autograd_meta(leaf).grad = std::move(grad);
}

bool grad_enabled() { return detail::is_grad_recorded; }
void set_grad_enabled(bool is_enabled) { detail::is_grad_recorded = is_enabled; }

namespace autodiff {
namespace {

thread_local std::uint64_t next_sequence = 0;

constexpr int kMostLooks = 100;  // until a gradient is nobody's

// Threads that share a leaf must agree on one.
void make_accumulator(AutogradMeta& meta, TensorImpl& leaf) {
  static std::atomic_flag lock;
  const SpinLock guard(lock);
  if (meta.accumulator) return;
  meta.accumulator = TapeNodePtr(new Accumulator(&leaf));
  meta.has_accumulator = true;
}

Node* saved_by(const TensorImpl& impl) {
  const AutogradMeta* meta = impl.autograd;
  return meta && meta->is_saved_by_producer ? static_cast<Node*>(meta->grad_fn.get()) : nullptr;
}

}  // namespace

std::uint32_t thread_number() {
  static std::atomic<std::uint32_t> last{0};
  thread_local const std::uint32_t number = ++last;
  return number;
}

namespace {
constinit thread_local std::uint32_t current_tape = 0;  // 0: this thread's
}
std::uint32_t tape_number() { return current_tape != 0 ? current_tape : thread_number(); }
void set_tape_number(std::uint32_t number) { current_tape = number; }

std::uint64_t tape_sequence() { return next_sequence; }
void set_tape_sequence(std::uint64_t next) { next_sequence = next; }
std::uint64_t advance_tape_sequence() { return next_sequence++; }

Edge resolve(DeferredNode& node, std::uint32_t index) {
  const AutoGradMode recording(true);  // also when a backward that records nothing asks
  node.materialize();
  return node.target(index);
}

Accumulator::Accumulator(TensorImpl* leaf) : leaf(leaf) {
  sequence = std::numeric_limits<std::uint64_t>::max();  // runs as soon as its sum is complete
}

void Accumulator::apply(ArrayRef<Tensor> cotangents, ArrayRef<bool>, Tensor*) {
  TensorImpl* impl = leaf.load();
  if (!impl || !cotangents[0].defined()) return;
  // A compiled run of another thread may take it between two looks, but not for ever. Only in a child
  // of fork() the one who owes it may be gone.
  for (int looks = 0; !add(*impl, cotangents[0], looks == kMostLooks); ++looks) {
  }
}

const Storage* Accumulator::memory() const {
  TensorImpl* const impl = leaf.load();
  if (impl) settle_gradient(*impl);
  const GradientLock settled;
  const bool has_one = impl && impl->autograd && impl->autograd->grad.defined();
  return has_one ? impl->autograd->grad.impl()->storage.get() : nullptr;
}

// What other threads owe, or have to read of it, they compute before there is a lock that they may
// wait for: ending their run may come here again.
void Accumulator::settle_all(TensorImpl& impl) {
  settle_gradient(impl);
  Tensor grad;
  {
    const GradientLock settled;
    const AutogradMeta* const meta = impl.autograd;
    if (meta) grad = meta->grad;
  }
  if (!grad.defined()) return;
  tracer::settle(*grad.impl());
  materialize(*grad.impl());
  before_write(*grad.impl()->storage);
}

bool Accumulator::add(TensorImpl& impl, const Tensor& cotangent, bool is_last_look) {
  settle_all(impl);
  const SpinLock guard(lock);
  AutogradMeta& meta = autograd_meta(impl);
  if (!meta.grad.defined() || has_fault(Fault::kGradientReplaced)) {
    use_grad(impl);
    Tensor first = owned_gradient(cotangent);
    const GradientLock settled;
    // A compiled run of another thread may have given it one meanwhile.
    if (meta.grad.defined() && !has_fault(Fault::kGradientReplaced)) return false;
    set_grad(impl, std::move(first));
    return true;
  }
  if (grad_enabled()) {
    use_grad(impl);
    set_grad(impl, sum_of(meta.grad, cotangent));
    return true;
  }
  const GradientLock settled;
  const TensorImpl& grad = *meta.grad.impl();
  if (!is_last_look && (grad.is_pending || grad.storage->flags & Storage::kNotThere)) return false;
  use_grad(impl);
  add_in_place(meta.grad, cotangent);
  return true;
}

bool needs_gradient(const TensorImpl& impl) {
  return impl.requires_grad || tracer::requires_grad_by_base(impl);
}

namespace {

Edge leaf_edge(TensorImpl& impl) {
  AutogradMeta& meta = autograd_meta(impl);
  if (!meta.has_accumulator) make_accumulator(meta, impl);
  return {meta.accumulator, 0};
}

}  // namespace

Edge gradient_edge_when_used(const Tensor& tensor) {
  TensorImpl& impl = *tensor.impl();
  const AutogradMeta* const meta = impl.autograd;
  const bool is_leaf = !meta || (!meta->grad_fn && !meta->view_base.defined());
  return is_leaf ? leaf_edge(impl) : gradient_edge(tensor);
}

Edge gradient_edge(const Tensor& tensor) {
  TensorImpl& impl = *tensor.impl();
  if (!needs_gradient(impl)) return {};
  AutogradMeta& meta = autograd_meta(impl);
  if (meta.view_base.defined()) refresh_view(impl);
  if (meta.grad_fn) {
    Edge edge{meta.grad_fn, meta.output_index};
    return edge;
  }
  if (!impl.requires_grad) return {};  // nothing leads from such a view to its base
  return leaf_edge(impl);
}

void set_history(TensorImpl& impl, TapeNodePtr node, std::uint32_t index) {
  AutogradMeta& meta = autograd_meta(impl);
  // The gradient that is kept is that of the tensor as it is now. Hooks stay where they are.
  const bool retains = meta.retains_grad && meta.grad_fn && !node->is_deferred;
  if (meta.grad_fn) clear_history(impl);
  meta.grad_fn = std::move(node);
  meta.output_index = index;
  impl.requires_grad = true;
  if (retains) retain_gradient(impl);
}

void retain_gradient(TensorImpl& impl) {
  AutogradMeta& meta = *impl.autograd;
  auto& retained = static_cast<Node&>(*meta.grad_fn).retained;
  if (!retained) retained = std::make_unique<std::vector<Node::Retained>>();
  retained->push_back({meta.output_index, &impl, &meta});
  meta.retains_grad = true;
}

void clear_history(TensorImpl& impl) {
  AutogradMeta& meta = autograd_meta(impl);
  if (Node* node = saved_by(impl)) {
    node->adopt_output(meta.output_index);
    meta.is_saved_by_producer = false;
  }
  forget_retained(meta);
  meta.retains_grad = false;
  meta.grad_fn.reset();
  meta.output_index = 0;
}

void move_history(TensorImpl& from, TensorImpl& to) {
  to.requires_grad = from.requires_grad;
  AutogradMeta* const moved = std::exchange(from.autograd, nullptr);
  if (to.autograd && moved) {
    // The program may hold a reference to the `.grad` that it asked for.
    AutogradMeta& kept = *to.autograd;
    let_go(kept);
    kept = std::move(*moved);
    if (kept.retains_grad && kept.grad_fn && !kept.grad_fn->is_deferred)
      if (auto& retained = static_cast<Node&>(*kept.grad_fn).retained)
        for (auto& entry : *retained)
          if (entry.meta == moved) entry.meta = &kept;
    delete moved;
  } else {
    if (to.autograd) destroy_autograd_meta(std::exchange(to.autograd, nullptr));
    to.autograd = moved;
  }
  if (!to.autograd) return;
  if (Node* node = saved_by(to)) node->move_output(to.autograd->output_index, to);
  if (to.autograd->accumulator) static_cast<Accumulator&>(*to.autograd->accumulator).leaf = &to;
  if (to.autograd->retains_grad && to.autograd->grad_fn && !to.autograd->grad_fn->is_deferred) {
    auto& retained = static_cast<Node&>(*to.autograd->grad_fn).retained;
    if (retained)
      for (auto& entry : *retained)
        if (entry.impl == &from) entry.impl = &to;
  }
}

}  // namespace autodiff
}  // namespace groove
