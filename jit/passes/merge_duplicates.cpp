// Makes nodes that compute the same thing from the same values one (common subexpressions). Host
// code and random draws are never merged.
// Needs: nothing.  Keeps: inputs, outputs, order, places of the first of equals.
#include <bit>
#include <numeric>

#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "src/core/faults.h"
#include "src/core/hash.h"

namespace groove::jit {
namespace {

bool is_mergeable(const Node& node) {
  return (!node.op->is_random || has_fault(Fault::kMergedDraws)) &&
         node.op->kind != OpKind::kOpaque && node.op->kind != OpKind::kBig;
}

std::uint64_t bits_of(const Scalar& number) { return number.bits_as(number.type()); }

bool is_equal(const NumberRef& a, const NumberRef& b) {
  if (a.entry != b.entry) return false;
  if (a.entry >= 0 || has_fault(Fault::kNumbersNotCompared)) return true;
  return a.constant.type() == b.constant.type() && bits_of(a.constant) == bits_of(b.constant);
}
bool is_equal(const Node& a, const Node& b) {
  if (a.op != b.op || a.inputs != b.inputs || !(a.attrs == b.attrs) ||
      a.numbers.size() != b.numbers.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    if (!is_equal(a.numbers[i], b.numbers[i])) return false;
  }
  return true;
}

std::uint64_t hash_of(const Node& node) {
  auto hash = static_cast<std::uint64_t>(node.op->id);
  const auto mix = [&](std::uint64_t value) { hash = mixed(hash, value); };
  for (const ValueId id : node.inputs) mix(static_cast<std::uint64_t>(id));
  for (const std::int64_t word : node.attrs.words()) mix(static_cast<std::uint64_t>(word));
  for (const NumberRef& number : node.numbers) {
    mix(number.entry >= 0 ? static_cast<std::uint64_t>(number.entry) : bits_of(number.constant));
  }
  return hash;
}

}  // namespace

bool merge_duplicates(Graph& graph) {
  constexpr std::int32_t kNone = -1;
  std::vector<ValueId> names(graph.values.size());
  std::iota(names.begin(), names.end(), 0);
  std::vector<char> stays(graph.nodes.size(), 1);
  std::vector<std::int32_t> known(std::bit_ceil(2 * graph.nodes.size() + 1), kNone);  // by hash
  bool has_changed = false;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    for (ValueId& id : node.inputs) {
      if (id != kNoValue) id = names[static_cast<std::size_t>(id)];
    }
    if (!is_mergeable(node)) continue;
    std::size_t slot = hash_of(node) & (known.size() - 1);
    while (known[slot] != kNone &&
           !is_equal(graph.nodes[static_cast<std::size_t>(known[slot])], node)) {
      slot = (slot + 1) & (known.size() - 1);
    }
    if (known[slot] == kNone) {
      known[slot] = static_cast<std::int32_t>(i);
      continue;
    }
    has_changed = true;
    stays[i] = 0;
    const Node& same = graph.nodes[static_cast<std::size_t>(known[slot])];
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      names[static_cast<std::size_t>(node.outputs[k])] = same.outputs[k];
  }
  if (!has_changed) return false;
  for (GraphOutput& output : graph.outputs)
    output.value = names[static_cast<std::size_t>(output.value)];
  remove_nodes(graph, stays);
  return true;
}

}  // namespace groove::jit
