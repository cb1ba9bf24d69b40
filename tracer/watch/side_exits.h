// Where runs are left because the program goes another way, and what has been recorded of those
// ways: how often must a run be left at one place until the other way gets a segment?
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/core/hash.h"
#include "tracer/calls/segment.h"

namespace groove::tracer {

class SideExits {
 public:
  /// The exit at a node of the tree of paths where `what` came; never 0.
  static std::uint64_t at(std::uint64_t path_node, std::uint64_t what) {
    return mixed(path_node, what) | 1;
  }
  /// The same exit, for the calls up to it.
  static std::uint64_t piece_up_to(std::uint64_t exit) { return exit ^ kPieceMark; }

  /// A run of a segment of this head is left at `exit` once more. Has it come as often as a stretch
  /// must that comes `repeats` times, or, where it `is_lasting`, is this the first time?
  bool is_hot(std::uint64_t exit, std::uint64_t head, int repeats, bool is_lasting);
  /// The same of calls up to an exit, which are no way of their own.
  bool is_hot_piece(std::uint64_t piece, int repeats);
  /// What came there has been recorded …
  void note_made(std::uint64_t exit, const SegmentPtr& segment);
  /// … or could not be.
  void give_up(std::uint64_t exit);

 private:
  struct Exit {
    std::uint64_t count = 0;
    int failures = 0;
    bool has_made = false;  // what has been recorded for it since
    std::weak_ptr<Segment> made;
  };
  using Paths = std::vector<std::weak_ptr<Segment>>;

  Exit* known(std::uint64_t exit);
  int young_paths(std::uint64_t head);

  static constexpr std::uint64_t kPieceMark = 0x6a09e667f3bcc908;
  static constexpr int kFreePaths = 8;             // of a head, before the next ones get dearer …
  static constexpr std::uint64_t kProvenRuns = 4;  // … unless they have run so often
  static constexpr std::size_t kMostExits = 8192;

  std::unordered_map<std::uint64_t, Exit> exits_;
  // head -> recorded lately. Too many that are hardly taken again make the next ones dearer.
  std::unordered_map<std::uint64_t, Paths> young_;
};

}  // namespace groove::tracer
