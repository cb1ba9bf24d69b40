#include "tracer/cache/budget.h"

#include <algorithm>
#include <atomic>

#include "src/core/environment.h"

namespace groove::tracer {
namespace {

std::atomic<std::size_t> chosen{0};
constexpr std::size_t kLargeArena = std::size_t{1} << 20;
std::atomic<std::size_t> large{kLargeArena};

std::size_t bytes_of(const Graph& graph) {
  std::size_t bytes = graph.values.size() * sizeof(graph.values[0]);
  for (const Node& node : graph.nodes)
    bytes += sizeof(Node) + node.inputs.size() * sizeof(node.inputs[0]) +
             node.outputs.size() * sizeof(node.outputs[0]) +
             node.numbers.size() * sizeof(node.numbers[0]) + node.attrs.words().size() * 8;
  return bytes;
}

// Of a large model's step, which eager mode needs as well; given back while the loop is idle.
std::size_t large_memory_of(const Segment& segment) {
  const std::size_t bytes = segment.executable ? segment.executable->kept_bytes() : 0;
  return bytes >= large_arena() ? bytes : 0;
}

}  // namespace

std::size_t operators_of(const Segment& segment) {
  std::size_t operators = segment.calls.empty() ? segment.graph.nodes.size() : 0;
  for (const RecordedCall& call : segment.calls) operators += call.operators;
  return operators;
}

std::size_t bytes_of(const Segment& segment) {
  std::size_t bytes = sizeof(Segment) + bytes_of(segment.graph);
  for (const RecordedCall& call : segment.calls)
    bytes +=
        sizeof(RecordedCall) + call.nested.size() * sizeof(NestedCall) +
        (call.inputs.size() + call.outputs.size() + call.nested_live_ins.size()) * sizeof(SlotId);
  // A slot has a place in the replay of each thread.
  bytes += segment.slots.size() * 2 * sizeof(Slot);
  if (segment.executable)
    bytes += segment.executable->memory_bytes() + segment.executable->kept_bytes();
  return bytes;
}

std::size_t cache_bytes() {
  const std::size_t bytes = chosen.load(std::memory_order_relaxed);
  return bytes != 0 ? bytes : static_cast<std::size_t>(environment().cache_bytes);
}

void set_cache_bytes(std::size_t bytes) { chosen.store(bytes); }

std::size_t large_arena() { return large.load(std::memory_order_relaxed); }
void set_large_arena(std::size_t bytes) { large.store(bytes != 0 ? bytes : kLargeArena); }

// Programs grow (tier 2, memory that they keep): half of what is left is for that.
std::vector<SegmentPtr> over_budget(const std::vector<SegmentPtr>& segments, const Segment& kept,
                                    std::size_t& left) {
  struct Candidate {
    SegmentPtr segment;
    std::size_t bytes;
    double value;
  };
  std::vector<Candidate> candidates;
  std::size_t total = bytes_of(kept), largest = large_memory_of(kept);
  for (const SegmentPtr& segment : segments) {
    if (segment.get() == &kept || segment->state.load() != State::kArmed) continue;
    const std::size_t bytes = bytes_of(*segment);
    const double runs = segment->recent_runs.load(std::memory_order_relaxed);
    candidates.push_back(
        {segment, bytes,
         runs * static_cast<double>(operators_of(*segment)) / static_cast<double>(bytes)});
    total += bytes;
    largest = std::max(largest, large_memory_of(*segment));
  }
  std::vector<SegmentPtr> gone;
  const std::size_t limit = cache_bytes() + largest;
  left = total < limit ? (limit - total) / 2 : 0;
  if (total <= limit) return gone;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
  for (const Candidate& candidate : candidates) {
    if (total > limit) {
      total -= candidate.bytes;
      gone.push_back(candidate.segment);
    } else {
      std::atomic<float>& runs = candidate.segment->recent_runs;
      runs.store(runs.load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
    }
  }
  return gone;
}

}  // namespace groove::tracer
