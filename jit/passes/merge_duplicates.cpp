// Makes nodes that compute the same thing from the same values one (common subexpressions). Host
// code and random draws are never merged.
// Needs: nothing.  Keeps: inputs, outputs, order, places of the first of equals.
#include <unordered_map>

#include "jit/passes/passes.h"
#include "jit/rewrite.h"

namespace groove::jit {
namespace {

bool is_mergeable(const Node& node) {
  return !node.op->is_random && node.op->kind != OpKind::kOpaque && node.op->kind != OpKind::kBig;
}

std::uint64_t bits_of(const Scalar& number) { return number.bits_as(number.type()); }

bool is_equal(const NumberRef& a, const NumberRef& b) {
  if (a.entry != b.entry) return false;
  if (a.entry >= 0) return true;
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
  const auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  for (const ValueId id : node.inputs) mix(static_cast<std::uint64_t>(id));
  for (const std::int64_t word : node.attrs.words()) mix(static_cast<std::uint64_t>(word));
  for (const NumberRef& number : node.numbers) {
    mix(number.entry >= 0 ? static_cast<std::uint64_t>(number.entry) : bits_of(number.constant));
  }
  return hash;
}

}  // namespace

bool merge_duplicates(Graph& graph) {
  Rewriter rewriter(graph);
  const Graph& fresh = rewriter.graph();
  std::unordered_multimap<std::uint64_t, std::int32_t> known;
  bool has_changed = false;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node probe = graph.nodes[i];
    for (ValueId& id : probe.inputs) id = rewriter.renamed(id);
    if (!is_mergeable(probe)) {
      rewriter.copy(static_cast<std::int32_t>(i));
      continue;
    }
    const std::uint64_t hash = hash_of(probe);
    std::int32_t earlier = -1;
    const auto [begin, end] = known.equal_range(hash);
    for (auto at = begin; at != end && earlier < 0; ++at) {
      if (is_equal(fresh.nodes[static_cast<std::size_t>(at->second)], probe)) earlier = at->second;
    }
    if (earlier < 0) {
      known.emplace(hash, rewriter.copy(static_cast<std::int32_t>(i)));
      continue;
    }
    has_changed = true;
    const Node& same = fresh.nodes[static_cast<std::size_t>(earlier)];
    for (std::size_t k = 0; k < probe.outputs.size(); ++k) {
      rewriter.rename(probe.outputs[k], same.outputs[k]);
    }
  }
  if (has_changed) graph = rewriter.finish();
  return has_changed;
}

}  // namespace groove::jit
