// The paths that recordings have taken from one head call: a tree whose branches are the segments.
// Where two segments begin with the same calls, those have the same slots, so that a replay of one
// may go on as a replay of the other. Positions in the tree are named by numbers (Segment::path).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tracer/calls/segment.h"

namespace groove::tracer {

// What is known of a call before any segment is looked at: op, source, structure, and which of its
// operands are the run's own. Calls that a call matches have the call's key.
class CallKey {
 public:
  CallKey(const Op& op, const Attrs& attrs, const SiteKey& site, bool grad_enabled);
  void add_numbers(std::size_t count) { mix(count); }
  void add_walk(std::size_t walked, std::uint64_t structure);
  void add_undefined();
  void add_known(SlotId slot);
  void add_new(std::size_t ordinal, const Type& type, const Shape& strides);
  std::uint64_t value() const { return hash_; }

 private:
  void mix(std::uint64_t value);
  std::uint64_t hash_;
};
/// Of the first call of a run, and of call number `at` of a recorded segment.
std::uint64_t key_of_first(const Call& call, const SiteKey& site);
std::uint64_t key_of_first(const LibraryCall& recorded, const SiteKey& site);
std::uint64_t key_of(const Segment& segment, std::size_t at);

class Paths {
 public:
  /// Gives the segment its path. It becomes the first choice wherever it differs from others.
  void add(const SegmentPtr& segment);
  void remove(const Segment& segment);
  /// Gives the segment a path that no other one shares and nobody is led to.
  void set_apart(Segment& segment);
  void clear();
  /// The segment was taken instead of the first choice, which it becomes when that happens again
  /// before the first one runs as it says. True when it did.
  bool note_taken(const Segment& segment);
  /// It was begun and left: the last choice. True when it was not before.
  bool note_left(const Segment& segment);

  /// Segments of a head whose first call has this key, the most recently taken first.
  std::vector<SegmentPtr> starting(std::uint64_t head, std::uint64_t key) const;
  /// Segments that go on from this node with a call of this key.
  std::vector<SegmentPtr> continuing(std::uint64_t path_node, std::uint64_t key) const;
  /// Segments in which the program looks at this storage at this node.
  std::vector<SegmentPtr> reading(std::uint64_t path_node, std::int32_t storage) const;
  /// Segments that end at this node.
  std::vector<SegmentPtr> ending(std::uint64_t path_node) const;
  /// All segments of a head, in the order of their making.
  const std::vector<SegmentPtr>& of_head(std::uint64_t head) const;

 private:
  using Segments = std::vector<SegmentPtr>;
  using Branch = std::unordered_map<std::uint64_t, Segments>;  // by the key of the next call

  // The choices that a segment stands in, found again when the tree has changed.
  struct Choices {
    std::uint64_t changes = 0;
    std::vector<Segments*> all;
  };

  Branch& branch_at(std::uint64_t path_node, std::size_t depth, std::uint64_t head);
  void find_choices(const Segment& segment, Choices& choices);

  std::uint64_t next_node_ = 1;
  std::uint64_t changes_ = 1;
  std::unordered_map<const Segment*, Choices> choices_;
  std::unordered_map<std::uint64_t, Segments> heads_;
  std::unordered_map<std::uint64_t, Branch> branches_;  // by node; only where there is a choice
  std::unordered_map<std::uint64_t, Segments> reads_;   // by node and storage
  std::unordered_map<std::uint64_t, Segments> ends_;    // by node
};

}  // namespace groove::tracer
