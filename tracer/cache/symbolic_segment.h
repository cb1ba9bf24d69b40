// A loop at any sizes: one recording, the numbers in it as expressions in a few sizes, programs
// that take on whatever sizes come, and some for sizes that came often. Every context has a copy of
// the recording that takes on the sizes of the run at hand.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tracer/cache/any_size.h"
#include "tracer/calls/segment.h"
#include "tracer/watch/makings.h"

namespace groove::tracer {

class SymbolicCopy;

class SymbolicSegment : public std::enable_shared_from_this<SymbolicSegment> {
 public:
  /// `original` is the recording that `numbers` belong to.
  SymbolicSegment(SegmentPtr original, const SizeNumbers& numbers, SizeFit fit);

  /// Once, before anybody knows of it.
  void adopt_original();
  /// Is a recording with these numbers what the segment would be at its sizes?
  bool covers(const SizeNumbers& numbers) const;
  /// A recording that has the same structure but for sizes of 1 (SizeNumbers::with_ones) has these
  /// values. If they are what the segment would have there, its programs may take on such sizes:
  /// true unless it is known that they do not.
  bool admit_ones(const SizeNumbers& numbers, const std::vector<std::int64_t>& values);
  /// Stands for the segment in reports and in the registry; never run itself.
  const SegmentPtr& original() const { return original_; }
  bool is_armed() const { return original_->is_armed(); }
  std::uint64_t structure() const { return structure_; }

  struct Symbol {
    std::size_t number;  // among SizeNumbers::numbers
    std::size_t call;    // that shows it
    std::int64_t least, greatest;
  };
  const std::vector<Symbol>& symbols() const { return symbols_; }
  /// Those that may be 1 where the recording has more.
  AnySize::Ones ones() const { return ones_.load(std::memory_order_relaxed); }
  /// Their values in a recording with these numbers.
  SizeValues sizes_in(const std::vector<std::int64_t>& numbers) const;
  const std::vector<SizeExpression>& expressions() const { return expressions_; }
  /// Numbers that are no constants.
  const std::vector<std::size_t>& moving() const { return moving_; }
  const std::vector<std::uint64_t>& structure_before() const { return structure_before_; }

  /// Is it known that the recording does not hold at these sizes, of which some are 0 or 1, say?
  /// Those count that calls up to `at` show.
  bool excludes(const SizeValues& sizes, std::size_t at);
  /// The program comes at these sizes: is there a program for them, or is one worth making? A
  /// cheap question, before a copy takes them on.
  bool wants(const SizeValues& sizes);
  /// The same where only those are known that calls up to `at` show.
  bool may_want(const SizeValues& sizes, std::size_t at);
  /// Is there a program for these sizes, or may one be made of the graph when it is needed? If
  /// neither, one may be on its way.
  bool offers(const SizeValues& sizes, const Graph& graph);
  /// Is there none at all yet, and will there be one for any sizes? It is asked for.
  bool waits_for_first();
  /// Is one asked for, and not there yet? Recordings at other sizes are of no use meanwhile.
  bool is_asked() const { return is_asked_.load(std::memory_order_relaxed); }
  /// That program, made now if there is none. One of no state Armed could not be made.
  SegmentPtr program(const SizeValues& sizes, const Graph& graph);
  /// One of these sizes alone, if there is one; where none is and they came often, one is made.
  SegmentPtr ready_program(const SizeValues& sizes, const Graph& graph);
  /// What programs for any sizes cover these; null: nothing does.
  std::shared_ptr<const AnySize> any_size(const SizeValues& sizes);
  /// The same, made at once where compilation is synchronous.
  std::shared_ptr<const AnySize> any_size_for_run(const SizeValues& sizes);
  /// One that covers these is made beside the loop, if that can be afforded now.
  void ask_for_any_size(const SizeValues& sizes);
  /// What a run at these sizes leaves on the tape: `now` is at them, and not handed out.
  std::shared_ptr<HistoryPlan> history(const SizeValues& sizes, const HistoryPlan& now);
  /// Programs of the backward through such runs.
  const std::shared_ptr<Makings>& backwards() const { return backwards_; }
  void note_sizes(const SizeValues& sizes);

  std::size_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// For people: the symbols, and what is known of programs.
  std::string describe() const;

 private:
  struct Program {
    SegmentPtr segment;
    std::uint64_t used = 0;
    std::size_t bytes = 0;
    bool is_made = false;
  };
  struct Hash {
    std::size_t operator()(const SizeValues& sizes) const;
  };
  SegmentPtr find(const SizeValues& sizes);
  bool gives(const SizeNumbers& numbers, const std::vector<std::int64_t>& values) const;
  bool may_have_any_size() const;
  std::vector<AnySize::Bounds> bounds_of(const SizeValues& sizes) const;
  std::vector<AnySize::Bounds> widest_bounds(const SizeValues& sizes) const;
  std::shared_ptr<Executable> find_any_size(Compiler& compiler, Segment& job, std::int64_t granted);
  bool begin_search(SymbolicCopy& copy);
  bool refuses_one(std::size_t symbol) const;  // under the lock
  /// Makes one: at once, or on the compile thread.
  SegmentPtr make(const SizeValues& sizes, const Graph& graph, bool is_synchronous);
  void note_programs_made();
  void note_made(Program& entry);
  void drop_oldest();

  SegmentPtr original_;
  std::uint64_t structure_;
  std::vector<std::uint64_t> structure_before_;
  std::size_t in_history_;  // as in SizeNumbers
  std::vector<SizeExpression> expressions_;
  std::vector<std::size_t> moving_;
  std::vector<Symbol> symbols_;
  bool are_shown_at_once_ = true;  // before a stage runs
  std::vector<std::string> names_;

  std::unordered_map<SizeValues, Program, Hash> programs_;
  // By the numbers in them, which seldom follow from all sizes: their backwards have programs.
  std::unordered_map<SizeValues, std::shared_ptr<HistoryPlan>, Hash> histories_;
  std::uint64_t clock_ = 0;
  std::unordered_set<std::size_t> seen_;  // hashes of sizes that no program was made for
  std::unordered_map<std::size_t, std::uint32_t> runs_;  // by hash, of programs for any sizes
  std::vector<std::shared_ptr<const AnySize>> any_sizes_;
  SegmentPtr next_any_size_;                  // while it is being made
  AnySize::Search search_;                    // … that it goes on with; of the one job
  std::int64_t sample_nanoseconds_ = 0;       // what the last of its programs took
  int failures_ = 0;                          // to make one
  std::unordered_set<std::size_t> excluded_;  // hashes of sizes
  // How the job ended that made none: those sizes tell nothing, or it goes on later.
  enum class NoneMade : std::uint8_t { kFailed, kExcluded, kPutOff } none_made_ = NoneMade::kFailed;
  std::int64_t times_noted_ = 0;  // sizes that the symbols' bounds are of
  std::atomic<bool> is_asked_{false};
  std::atomic<AnySize::Ones> ones_{0};
  AnySize::Ones refused_ = 0;  // the recording does not hold as it is where these are 1
  std::shared_ptr<Makings> makings_ = std::make_shared<Makings>();
  std::shared_ptr<Makings> backwards_ = std::make_shared<Makings>();
  std::atomic<std::size_t> bytes_{0};
};
using SymbolicSegmentPtr = std::shared_ptr<SymbolicSegment>;

/// For people, of a symbolic segment's recording: which sizes it takes, and what programs there
/// are; otherwise empty.
std::string sizes_text(const Segment& segment);
/// Has it no program for the sizes that came last, and is one asked for?
bool waits_for_sizes(const Segment& segment);
}  // namespace groove::tracer
