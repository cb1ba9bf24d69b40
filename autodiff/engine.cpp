#include "autodiff/engine.h"

#include <algorithm>
#include <memory>

#include "autodiff/anomaly.h"
#include "autodiff/arithmetic.h"
#include "autodiff/views.h"
#include "groove/autograd.h"
#include "src/core/check.h"
#include "src/core/faults.h"

namespace groove::autodiff {
namespace {

struct Entry {
  Node* node = nullptr;
  std::uint32_t first_slot = 0;  // of its cotangents
  std::int32_t waits_for = 0;    // edges to it that have not delivered yet
  std::uint32_t first_edge = 0;  // of a deferred node: in Engine::reached_
  bool is_needed = true;
};

// Node -> entry: open addressing, since a small graph is walked in less time than a general map
// needs for its first allocation.
class NodeTable {
 public:
  NodeTable() : places_(64, -1) {}
  std::int32_t find(const Node* node) const {
    for (std::size_t at = start(node);; ++at) {
      const std::int32_t found = places_[at & (places_.size() - 1)];
      if (found < 0 || entries[static_cast<std::size_t>(found)].node == node) return found;
    }
  }
  // True when it was not there yet.
  bool insert(Node* node, std::int32_t& index) {
    index = find(node);
    if (index >= 0) return false;
    index = static_cast<std::int32_t>(entries.size());
    entries.push_back(Entry{node});
    if (entries.size() * 2 > places_.size()) {
      places_.assign(places_.size() * 2, -1);
      for (std::size_t i = 0; i < entries.size(); ++i) place(static_cast<std::int32_t>(i));
    } else {
      place(index);
    }
    return true;
  }
  std::vector<Entry> entries;

 private:
  std::size_t start(const Node* node) const {
    return (reinterpret_cast<std::uintptr_t>(node) * 0x9E3779B97F4A7C15u) >> 20;
  }
  void place(std::int32_t index) {
    std::size_t at = start(entries[static_cast<std::size_t>(index)].node);
    while (places_[at & (places_.size() - 1)] >= 0) ++at;
    places_[at & (places_.size() - 1)] = index;
  }
  std::vector<std::int32_t> places_;
};

}  // namespace

class Engine {
 public:
  explicit Engine(BackwardRun& backward) : backward_(backward) {}

  void start() {
    discover();
    if (has_deferred_ && must_take_apart()) {
      takes_apart_ = true;
      nodes_ = NodeTable();
      reached_.clear();
      slot_count_ = 0;
      discover();
    }
    // Before anything is changed, and so the same in whatever order nodes would run.
    for (const Entry& at : nodes_.entries)
      if (at.is_needed && at.node->is_spent() && (backward_.targets.empty() || leads_on(at)))
        throw_spent();
    slots_.resize(slot_count_);
    for (std::size_t i = 0; i < backward_.roots.size(); ++i) {
      const Edge& root = backward_.roots[i];
      deliver(entry_of(root), root.index, backward_.root_cotangents[i]);
    }
    for (std::size_t i = 0; i < nodes_.entries.size(); ++i)
      if (nodes_.entries[i].waits_for == 0 && nodes_.entries[i].is_needed) push(i);
  }

  // True when all is done, false when user code must be called first.
  bool advance() {
    if (step_.part == Part::kDone) step_.part = next_node();
    for (;;) {
      switch (step_.part) {
        case Part::kHooks:
          if (!run_hooks()) return false;
          if (!run_node()) return false;
          finish_node();
          break;
        case Part::kGradients:
          finish_node();
          break;
        case Part::kDone:
          return true;
      }
      step_.part = next_node();
    }
  }

  const TapeNodePtr& user_code() const { return step_.code; }
  const Tensors& arguments() const { return step_.arguments; }

  void give(Tensors arguments, Tensors results) {
    step_.code.reset();
    step_.arguments.clear();
    if (step_.part == Part::kGradients) {
      step_.node->accept(std::move(results), needs(), step_.gradients.data());
      return;
    }
    Tensor& value = step_.cotangents[step_.hooked];
    value = std::move(arguments[0]);
    if (results.empty() || !results[0].defined()) return;
    const TensorImpl &before = *value.impl(), &after = *results[0].impl();
    GROOVE_CHECK(after.geometry.sizes == before.geometry.sizes && after.dtype == before.dtype,
                 "register_hook: the hook turned a gradient of {} {} into one of {} {}; shape and "
                 "dtype must stay",
                 groove::name(before.dtype), to_string(before.geometry.sizes),
                 groove::name(after.dtype), to_string(after.geometry.sizes));
    value = std::move(results[0]);
  }

 private:
  Entry& entry_of(const Edge& edge) {
    return nodes_
        .entries[static_cast<std::size_t>(nodes_.find(static_cast<const Node*>(edge.node.get())))];
  }
  Entry& entry(std::int32_t index) { return nodes_.entries[static_cast<std::size_t>(index)]; }

  std::int32_t enter(const Edge& edge) {
    Node* const node = static_cast<Node*>(edge.node.get());
    std::int32_t index;
    const bool is_new = nodes_.insert(node, index);
    if (is_new) {
      entry(index).first_slot = slot_count_;
      slot_count_ += node->output_count;
      entry(index).is_needed = backward_.targets.empty();
      entry(index).first_edge = static_cast<std::uint32_t>(reached_.size());
      if (node->is_deferred) reached_.resize(reached_.size() + node->edge_count);
    }
    // Another output of a deferred node may lead elsewhere.
    if (is_new || node->is_deferred) walk_.push_back({index, 0, edge.index});
    return index;
  }

  // Does an output of a deferred node lead along an edge that none before has led to?
  bool reaches_anew(std::int32_t index, std::uint32_t output, std::uint32_t edge) {
    const Entry& at = entry(index);
    char& is_reached = reached_[at.first_edge + edge];
    if (is_reached) return false;
    if (!static_cast<DeferredNode&>(*at.node).leads_to(output, edge) &&
        !has_fault(Fault::kLeadsEverywhere))
      return false;
    is_reached = 1;
    return true;
  }
  // Is the edge one of this backward?
  bool follows(const Entry& at, std::size_t edge) const {
    return at.node->edges[edge].node &&
           (!at.node->is_deferred || reached_[at.first_edge + edge] != 0);
  }

  // Does it lead to what is asked for? Then its gradient has to run.
  bool leads_on(const Entry& at) {
    for (std::uint32_t i = 0; i < at.node->edge_count; ++i)
      if (follows(at, i) && entry_of(at.node->edges[i]).is_needed) return true;
    return false;
  }

  // To the node that runs: a deferred one itself, if it can, else what it stands for.
  void follow(Edge& edge) {
    while (edge.node && edge.node->is_deferred) {
      auto& node = static_cast<DeferredNode&>(*edge.node);
      const auto may_run = [&] { return node.may_run(edge.index, !backward_.targets.empty()); };
      if (nodes_.find(&node) >= 0) {
        must_take_apart_ |= !may_run();
        return;
      }
      if (!takes_apart_ && !backward_.create_graph && may_run()) {
        has_deferred_ = true;
        return;
      }
      edge = resolve(node, edge.index);
    }
  }

  // One node in place of many adds up in the same order as long as all run in tape order, and what
  // lies among those it stands for, as the history of a view that they read, adds to nothing that
  // they add to. A leaf's hook is called among them.
  bool must_take_apart() {
    if (must_take_apart_ || looks_for_nan()) return true;
    std::vector<const Entry*> order;
    std::vector<const Storage*> gradients;  // where two share memory, their order counts
    for (const Entry& at : nodes_.entries) {
      const Node& node = *at.node;
      if (node.is_accumulator()) {
        if (node.hooks) return true;
        if (const Storage* const memory = static_cast<const Accumulator&>(node).memory())
          gradients.push_back(memory);
        continue;
      }
      order.push_back(&at);
      for (std::uint32_t i = 0; i < node.edge_count; ++i) {
        if (!follows(at, i)) continue;
        const auto* const below = static_cast<const Node*>(node.edges[i].node.get());
        if (below->is_accumulator()) continue;
        if (below->sequence >= (below->is_deferred ? first_position(node) : node.sequence))
          return true;
      }
    }
    std::sort(order.begin(), order.end(),
              [](const Entry* a, const Entry* b) { return a->node->sequence < b->node->sequence; });
    for (std::size_t i = 1; i < order.size(); ++i)
      for (std::size_t j = i; j-- > 0;) {
        if (order[j]->node->sequence < first_position(*order[i]->node)) break;
        if (order[j]->node->is_deferred || !order[i]->node->is_deferred || order[j]->node->hooks ||
            share_a_sum(*order[j], *order[i]))
          return true;
      }
    std::sort(gradients.begin(), gradients.end());
    return std::adjacent_find(gradients.begin(), gradients.end()) != gradients.end();
  }

  static std::uint64_t first_position(const Node& node) {
    return node.is_deferred ? static_cast<const DeferredNode&>(node).first_position()
                            : node.sequence;
  }

  bool share_a_sum(const Entry& a, const Entry& b) const {
    for (std::uint32_t i = 0; i < a.node->edge_count; ++i)
      for (std::uint32_t j = 0; j < b.node->edge_count; ++j)
        if (follows(a, i) && follows(b, j) && a.node->edges[i] == b.node->edges[j]) return true;
    return false;
  }

  // Depth first with a stack of its own; an entry left for the last time knows whether a target
  // lies below it.
  void discover() {
    for (Edge& root : backward_.roots) {
      follow(root);
      enter(root);
      while (!walk_.empty()) {
        auto& [index, next, from] = walk_.back();
        Node* node = entry(index).node;
        if (next == node->edge_count) {
          leave(index);
          continue;
        }
        const std::uint32_t at = next++;
        if (node->is_deferred && !reaches_anew(index, from, at)) continue;
        Edge& edge = node->edges[at];
        if (!edge.node) continue;
        if (edge.node->is_deferred) follow(edge);
        if (!edge.node) continue;
        const std::int32_t below = enter(edge);
        ++entry(below).waits_for;
      }
    }
    if (backward_.targets.empty()) return;
    // Nodes off the paths to the targets never run and deliver nothing.
    for (const Entry& at : nodes_.entries) {
      if (at.is_needed) continue;
      for (std::uint32_t i = 0; i < at.node->edge_count; ++i)
        if (follows(at, i)) --entry_of(at.node->edges[i]).waits_for;
    }
  }

  void leave(std::int32_t index) {
    walk_.pop_back();
    if (backward_.targets.empty()) return;
    Entry& at = entry(index);
    at.is_needed = is_target(at.node) || leads_on(at);
  }

  bool is_target(const Node* node) const {
    return std::any_of(backward_.targets.begin(), backward_.targets.end(),
                       [&](const Edge& target) { return target.node.get() == node; });
  }

  // Contributions are added in the order in which nodes run: tape order, the first as it is.
  void deliver(Entry& at, std::uint32_t output, const Tensor& cotangent,
               std::optional<AxisPart> part = std::nullopt) {
    Tensor& slot = slots_[at.first_slot + output];
    if (!cotangent.defined()) return;
    slot = slot.defined() ? sum_of(slot, cotangent) : cotangent;
    if (part || !part_sums_.empty()) part_sum(at.first_slot + output).note(part);
  }
  PartSum& part_sum(std::size_t slot) {
    part_sums_.resize(slot_count_);
    return part_sums_[slot];
  }

  bool runs_after(std::size_t a, std::size_t b) const {
    const Entry &x = nodes_.entries[a], &y = nodes_.entries[b];
    return x.node->sequence != y.node->sequence ? x.node->sequence < y.node->sequence : a > b;
  }
  void push(std::size_t index) {
    ready_.push_back(index);
    std::push_heap(ready_.begin(), ready_.end(),
                   [this](std::size_t a, std::size_t b) { return runs_after(a, b); });
  }
  std::size_t pop() {
    std::pop_heap(ready_.begin(), ready_.end(),
                  [this](std::size_t a, std::size_t b) { return runs_after(a, b); });
    const std::size_t index = ready_.back();
    ready_.pop_back();
    return index;
  }

  void capture(const Node* node, ArrayRef<Tensor> cotangents) {
    for (std::size_t i = 0; i < backward_.targets.size(); ++i)
      if (backward_.targets[i].node.get() == node)
        backward_.captured[i] = cotangents[backward_.targets[i].index];
  }

  void retain_gradients(Node& node, ArrayRef<Tensor> cotangents) {
    for (const Node::Retained& entry : *node.retained) {
      const Tensor& value = cotangents[entry.index];
      if (!value.defined()) continue;
      use_grad(*entry.impl);
      Tensor& grad = autograd_meta(*entry.impl).grad;
      set_grad(*entry.impl, grad.defined() ? sum_of(grad, value) : value);
    }
  }

  // What the node that runs now is doing.
  enum class Part : std::uint8_t { kHooks, kGradients, kDone };
  struct Step {
    Part part = Part::kDone;
    const Entry* entry = nullptr;
    Node* node = nullptr;
    std::optional<AxisPart> part_of_sum;
    Tensors cotangents, gradients;
    std::unique_ptr<bool[]> needs;
    bool any = false;
    std::size_t next_hook = 0;  // place of a result's, position of a leaf's
    std::uint32_t hooked = 0;   // the output whose hook is called now
    TapeNodePtr code;           // to be called now
    Tensors arguments;
  };
  ArrayRef<bool> needs() const { return ArrayRef<bool>(step_.needs.get(), step_.node->edge_count); }

  Part next_node() {
    if (ready_.empty()) return Part::kDone;
    const Entry& at = nodes_.entries[pop()];
    Node& node = *at.node;
    step_.entry = &at;
    step_.node = &node;
    step_.cotangents.assign(
        std::make_move_iterator(slots_.begin() + at.first_slot),
        std::make_move_iterator(slots_.begin() + at.first_slot + node.output_count));
    const std::size_t count = node.edge_count;
    step_.gradients.assign(count, Tensor());
    step_.needs.reset(new bool[count]());
    step_.any = false;
    for (std::size_t i = 0; i < count; ++i) {
      step_.needs[i] = follows(at, i) && entry_of(node.edges[i]).is_needed;
      step_.any |= step_.needs[i];
    }
    step_.next_hook = 0;
    step_.part_of_sum.reset();
    return Part::kHooks;
  }

  bool run_hooks() {
    while (const Node::Hook* const hook = next_hook()) {
      const Tensor& value = step_.cotangents[hook->index];
      if (!hook->code || !value.defined()) continue;
      step_.code = hook->code;
      step_.hooked = hook->index;
      step_.arguments = {value};
      return false;
    }
    return true;
  }

  // The one before may have taken off others, or itself: those of a leaf are gone then.
  const Node::Hook* next_hook() {
    const std::vector<Node::Hook>* const hooks = step_.node->hooks.get();
    if (!hooks) return nullptr;
    if (!step_.node->is_accumulator())
      return step_.next_hook < hooks->size() ? &(*hooks)[step_.next_hook++] : nullptr;
    for (const Node::Hook& hook : *hooks) {
      if (hook.position < step_.next_hook) continue;
      step_.next_hook = hook.position + std::size_t{1};
      return &hook;
    }
    return nullptr;
  }

  bool has_cotangent() const {
    return std::any_of(step_.cotangents.begin(), step_.cotangents.end(),
                       [](const Tensor& t) { return t.defined(); });
  }

  bool run_node() {
    Node& node = *step_.node;
    if (node.retained) retain_gradients(node, step_.cotangents);
    if (!backward_.targets.empty() && !backward_.accumulate) capture(&node, step_.cotangents);
    if (!has_cotangent()) return true;
    if (node.is_accumulator()) {
      if (backward_.accumulate) node.apply(step_.cotangents, {}, nullptr);
    } else if (step_.any && node.user_code()) {
      step_.arguments = node.arguments(step_.cotangents);
      step_.code = TapeNodePtr(&node);
      step_.part = Part::kGradients;
      return false;
    } else if (step_.any && !add_part()) {
      if (node.accumulates()) take_sums();
      node.apply(step_.cotangents, needs(), step_.gradients.data());
    }
    return true;
  }

  // Done when the cotangent of a part has been added to the sum; else apply() is to make it whole.
  bool add_part() {
    const Node& node = *step_.node;
    const Type* const type = node.edge_count == 1 ? node.edge_type(0) : nullptr;
    if (!type || element_count(type->sizes) < kLeastPartSum || looks_for_nan()) return false;
    step_.part_of_sum = node.part();
    if (!step_.part_of_sum) return false;
    const std::size_t place = entry_of(node.edges[0]).first_slot + node.edges[0].index;
    if (!slots_[place].defined()) return false;
    return part_sum(place).add(slots_[place], *type, *step_.part_of_sum, step_.cotangents[0]);
  }

  // A node that stands for many adds each contribution to the sum so far, as they would.
  void take_sums() {
    const Node& node = *step_.node;
    for (std::uint32_t i = 0; i < node.edge_count; ++i) {
      if (!step_.needs[i]) continue;
      const Edge& edge = node.edges[i];
      step_.gradients[i] = std::exchange(slots_[entry_of(edge).first_slot + edge.index], Tensor());
    }
  }

  void finish_node() {
    Node& node = *step_.node;
    const bool has_run = has_cotangent() && step_.any;
    if (has_run && looks_for_nan()) check_for_nan(node, step_.gradients);
    step_.cotangents.clear();
    if (!backward_.retain_graph && has_run) {
      node.release_saved();
      node.released_on = thread_number();
    }
    for (std::size_t i = 0; i < node.edge_count; ++i) {
      if (!follows(*step_.entry, i)) continue;
      Entry& target = entry_of(node.edges[i]);
      Tensor& gradient = step_.gradients[i];
      if (gradient.defined() && step_.needs[i]) {
        if (const Type* type = node.edge_type(static_cast<std::uint32_t>(i)))
          gradient = conform(gradient, *type, node.name());
        deliver(target, node.edges[i].index, gradient, step_.part_of_sum);
        gradient.reset();
      }
      if (--target.waits_for == 0 && target.is_needed)
        push(static_cast<std::size_t>(&target - nodes_.entries.data()));
    }
  }

  Step step_;
  BackwardRun& backward_;
  NodeTable nodes_;
  struct Visit {
    std::int32_t index;
    std::uint32_t next, output;
  };
  std::vector<Visit> walk_;
  std::vector<char> reached_;  // edges of deferred nodes that outputs asked for lead to
  std::vector<std::size_t> ready_;
  bool has_deferred_ = false, takes_apart_ = false, must_take_apart_ = false;
  std::uint32_t slot_count_ = 0;
  Tensors slots_;
  std::vector<PartSum> part_sums_;  // per slot, from the first part on
};

Walk::Walk(BackwardRun backward)
    : backward_(std::move(backward)), engine_(std::make_unique<Engine>(backward_)) {
  backward_.captured.resize(backward_.targets.size());
  const AutoGradMode mode(backward_.create_graph);
  const InnerViews rules;
  engine_->start();
}

Walk::~Walk() = default;

bool Walk::advance() {
  const AutoGradMode mode(backward_.create_graph);
  const InnerViews rules;
  return engine_->advance();
}

const TapeNodePtr& Walk::user_code() const { return engine_->user_code(); }
const Tensors& Walk::arguments() const { return engine_->arguments(); }

void Walk::give(Tensors arguments, Tensors results) {
  const AutoGradMode mode(backward_.create_graph);
  const InnerViews rules;
  engine_->give(std::move(arguments), std::move(results));
}

}  // namespace groove::autodiff
