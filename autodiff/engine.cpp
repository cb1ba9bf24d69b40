#include "autodiff/engine.h"

#include <algorithm>
#include <memory>

#include "autodiff/arithmetic.h"
#include "groove/autograd.h"
#include "src/core/check.h"

namespace groove::autodiff {
namespace {

struct Entry {
  Node* node = nullptr;
  std::uint32_t first_slot = 0;  // of its cotangents
  std::int32_t waits_for = 0;    // edges to it that have not delivered yet
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

class Engine {
 public:
  explicit Engine(BackwardRun& backward) : backward_(backward) {}

  void run() {
    discover();
    // Before anything is changed, and so the same in whatever order nodes would run.
    for (const Entry& at : nodes_.entries)
      if (at.is_needed && at.node->is_spent()) throw_spent();
    slots_.resize(slot_count_);
    for (std::size_t i = 0; i < backward_.roots.size(); ++i) {
      const Edge& root = backward_.roots[i];
      deliver(entry_of(root), root.index, backward_.root_cotangents[i]);
    }
    for (std::size_t i = 0; i < nodes_.entries.size(); ++i)
      if (nodes_.entries[i].waits_for == 0 && nodes_.entries[i].is_needed) push(i);
    while (!ready_.empty()) run_node(pop());
  }

 private:
  Entry& entry_of(const Edge& edge) {
    return nodes_
        .entries[static_cast<std::size_t>(nodes_.find(static_cast<const Node*>(edge.node.get())))];
  }
  Entry& entry(std::int32_t index) { return nodes_.entries[static_cast<std::size_t>(index)]; }

  std::int32_t enter(Node* node) {
    std::int32_t index;
    if (!nodes_.insert(node, index)) return index;
    entry(index).first_slot = slot_count_;
    slot_count_ += node->output_count;
    entry(index).is_needed = backward_.targets.empty();
    walk_.push_back({index, 0});
    return index;
  }

  // Depth first with a stack of its own; an entry left for the last time knows whether a target
  // lies below it.
  void discover() {
    for (Edge& root : backward_.roots) {
      resolve(root);
      enter(static_cast<Node*>(root.node.get()));
      while (!walk_.empty()) {
        auto& [index, next] = walk_.back();
        Node* node = entry(index).node;
        if (next == node->edge_count) {
          leave(index);
          continue;
        }
        Edge& edge = node->edges[next++];
        if (!edge.node) continue;
        if (edge.node->is_deferred) resolve(edge);
        if (!edge.node) continue;
        const std::int32_t below = enter(static_cast<Node*>(edge.node.get()));
        ++entry(below).waits_for;
      }
    }
    if (backward_.targets.empty()) return;
    // Nodes off the paths to the targets never run and deliver nothing.
    for (const Entry& at : nodes_.entries) {
      if (at.is_needed) continue;
      for (std::uint32_t i = 0; i < at.node->edge_count; ++i)
        if (at.node->edges[i].node) --entry_of(at.node->edges[i]).waits_for;
    }
  }

  void leave(std::int32_t index) {
    walk_.pop_back();
    if (backward_.targets.empty()) return;
    Entry& at = entry(index);
    bool is_needed = is_target(at.node);
    for (std::uint32_t i = 0; i < at.node->edge_count && !is_needed; ++i) {
      const Edge& edge = at.node->edges[i];
      is_needed = edge.node && entry_of(edge).is_needed;
    }
    at.is_needed = is_needed;
  }

  bool is_target(const Node* node) const {
    return std::any_of(backward_.targets.begin(), backward_.targets.end(),
                       [&](const Edge& target) { return target.node.get() == node; });
  }

  // Contributions are added in the order in which nodes run: tape order, the first as it is.
  void deliver(Entry& at, std::uint32_t output, const Tensor& cotangent) {
    Tensor& slot = slots_[at.first_slot + output];
    if (!cotangent.defined()) return;
    slot = slot.defined() ? sum_of(slot, cotangent) : cotangent;
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
      Tensor& grad = autograd_meta(*entry.impl).grad;
      set_grad(*entry.impl, grad.defined() ? sum_of(grad, value) : value);
    }
  }

  void run_node(std::size_t index) {
    const Entry at = nodes_.entries[index];
    Node& node = *at.node;
    Tensors cotangents(std::make_move_iterator(slots_.begin() + at.first_slot),
                       std::make_move_iterator(slots_.begin() + at.first_slot + node.output_count));
    const bool has_targets = !backward_.targets.empty();
    if (node.retained && backward_.accumulate) retain_gradients(node, cotangents);
    if (has_targets && !backward_.accumulate) capture(&node, cotangents);

    const std::size_t count = node.edge_count;
    Tensors gradients(count);
    bool any = false;
    const std::unique_ptr<bool[]> needs(new bool[count]());
    for (std::size_t i = 0; i < count; ++i) {
      needs[i] = node.edges[i].node && entry_of(node.edges[i]).is_needed;
      any |= needs[i];
    }
    const bool has_cotangent = std::any_of(cotangents.begin(), cotangents.end(),
                                           [](const Tensor& t) { return t.defined(); });
    if (has_cotangent) {
      if (node.is_accumulator()) {
        if (backward_.accumulate) node.apply(cotangents, {}, nullptr);
      } else if (any) {
        node.apply(cotangents, ArrayRef<bool>(needs.get(), count), gradients.data());
      }
    }
    cotangents.clear();
    if (!backward_.retain_graph && has_cotangent && any) node.release_saved();
    for (std::size_t i = 0; i < count; ++i) {
      if (!node.edges[i].node) continue;
      Entry& target = entry_of(node.edges[i]);
      if (gradients[i].defined() && needs[i]) {
        if (const Type* type = node.edge_type(static_cast<std::uint32_t>(i)))
          gradients[i] = conform(gradients[i], *type, node.name());
        deliver(target, node.edges[i].index, gradients[i]);
        gradients[i].reset();
      }
      if (--target.waits_for == 0 && target.is_needed)
        push(static_cast<std::size_t>(&target - nodes_.entries.data()));
    }
  }

  BackwardRun& backward_;
  NodeTable nodes_;
  struct Step {
    std::int32_t index;
    std::uint32_t next;
  };
  std::vector<Step> walk_;
  std::vector<std::size_t> ready_;
  std::uint32_t slot_count_ = 0;
  Tensors slots_;
};

}  // namespace

void run(BackwardRun& backward) {
  const AutoGradMode mode(backward.create_graph);
  backward.captured.resize(backward.targets.size());
  Engine(backward).run();
}

}  // namespace groove::autodiff
