// Finding loops in the stream of calls: stretches between natural cuts (the end of a step, host
// reads, compiled runs) that come again, calls that come back at the same distance with the same
// calls between, and what the repeat finder sees. A run of a segment counts as the calls it stands
// for, so an outer loop is found while inner ones are compiled already.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/core/hash.h"
#include "src/core/state.h"
#include "tracer/calls/stretch.h"
#include "tracer/watch/finder.h"
#include "tracer/watch/last_stretches.h"

namespace groove::tracer {

class Discovery {
 public:
  enum class Kind : std::uint8_t { kStep, kHostRead, kCycle, kGap, kRepeat, kCall };
  struct Plan {  // record from the next call `head` on
    std::uint64_t head = 0, hash = 0;
    std::size_t length = 0;
    Kind kind = Kind::kStep;
    std::uint64_t before = 0;  // the call that must come before the head; 0 for any
    std::uint64_t loop = 0;
    bool covers_runs = false;   // compiled runs lie inside, to be replaced by one
    std::uint64_t made_at = 0;  // after how many calls
    std::uint64_t seen_at = 0;  // … it had come the last time
    bool has_waited = false;    // for a run that may do the same
  };
  // What running a call eagerly costs, roughly: a view, an op, a walk of tape or parameters.
  enum Cost : std::uint32_t { kViewCost = 1, kOpCost = 4, kBigCost = 40 };

  Discovery();

  /// A call that was watched or recorded. `position`: see Atom.
  void on_call(std::uint64_t hash, Cost cost, std::uint32_t position = 0);
  /// The calls that a replay matched and, at the end or on leaving, ran; `is_hit`: compiled.
  void on_run(std::uint64_t head, std::uint64_t last, const Stretch& calls, bool is_hit,
              std::uint32_t position = 0);
  /// A replay begins: what was watched since the one before may be a stretch of its own.
  void on_run_start();
  /// A library call that a recording holds only together with what it is about, such as a backward:
  /// what lies between two of them may be a stretch of its own, with the second or without.
  void on_outside(std::uint64_t hash);
  void on_step_end();
  void on_host_read();
  /// … while a replay is under way, whose calls are not told yet.
  void on_read_inside() { was_read_inside_ = true; }
  void clear();

  /// What to record from a call of this head on, when the call comes now; null when nothing.
  const Plan* plan(std::uint64_t head) const {
    return plan_filter_ >> (head & 63) & 1 ? find_plan(head) : nullptr;
  }
  /// No replay may begin now: one would run over the head of a plan.
  bool is_quiet() const { return total_.length < quiet_until_; }
  /// There is a segment of just these calls by now: true once, for a run of it. Where it goes
  /// through, the plan is done.
  bool let_run(const Plan& plan);
  /// Everything seen so far.
  const Stretch& total() const { return total_; }
  /// Steps so far, and how many calls the last one had.
  std::uint32_t steps() const { return steps_.count(); }
  std::uint64_t last_step() const { return last_step_; }
  /// The plan is being recorded, and will not be made again soon.
  void take_plan(const Plan& plan);
  /// After how many calls it came the last times, as far as is known.
  std::vector<std::uint64_t> last_times(const Plan& plan) const;
  /// Was the view that call `at` of a plan makes elsewhere at these times? Of a call that lay
  /// inside a compiled run, what is known is whether anything moved in that.
  bool has_moved(const std::vector<std::uint64_t>& times, std::uint64_t at, std::uint64_t hash,
                 std::uint32_t position) const;
  /// The calls whose views were elsewhere at one of these times, as far as each was told by itself:
  /// in the first `length` calls from there.
  std::vector<std::uint64_t> moved_calls(const std::vector<std::uint64_t>& times,
                                         std::uint64_t length) const;
  /// Were tensors of other sizes given to it at one of these times than at the others?
  bool was_given_other_sizes(const Plan& plan, const std::vector<std::uint64_t>& times) const;
  /// The call before the one that comes now.
  std::uint64_t last() const { return last_; }
  /// It cannot be recorded now: it must come again first.
  void put_off(const Plan& plan);
  /// Nor is there anything to be done about it for a while.
  void wait(const Plan& plan);
  /// The run that is told next is at other sizes than the one before, and there may be no end.
  void note_any_size() { ++any_size_; }
  /// How many calls and runs came so far at sizes of which there may be no end.
  std::uint32_t any_sizes() const { return any_size_; }
  /// A line is at sizes that it has not shown before: where it stands, no two iterations may look
  /// alike until it is known whether there is an end of them.
  void put_off_search() { look_at_ = std::max(look_at_, watched_ + kFirstLook); }
  /// Only pieces of it could be recorded: it must come much more often until it is tried again.
  void note_cut(const Plan& plan);
  /// Is there a plan for just these calls, too?
  bool is_planned(std::uint64_t head, const Stretch& calls) const;
  /// What was recorded of a cycle is better taken to begin at another of its calls, given as one
  /// stretch: true if it will be recorded so, which is tried once.
  bool turn(const Plan& plan, std::uint64_t before, std::uint64_t head, const Stretch& calls);
  /// Was what has been recorded expected, or has it come often enough by itself and not much more
  /// seldom than what was? A step that prints now and then is compiled after those that do not.
  bool accepts(const Plan& plan, const Stretch& recorded);
  /// Has the call before the one that comes now this hash? (0: any)
  bool is_after(std::uint64_t before) const { return before == 0 || before == last_; }
  /// Repeats of a stretch until it is recorded.
  void set_hot(int repeats) { hot_ = repeats; }
  /// A recording or segment of this head failed: it must repeat more often next time.
  void penalize(std::uint64_t head);

 private:
  // What comes many times in a stretch, each time with something at another size, is a loop of its
  // own: together they would be of as many sizes as these times give.
  class Times {
   public:
    void clear() { *this = {}; }
    /// The head comes; `any_size`: the calls before that came at sizes without end.
    void add(std::uint32_t any_size) {
      sized_ += count_++ > 0 && any_size != last_ ? 1 : 0;
      last_ = any_size;
    }
    bool are_several() const { return count_ > 1; }
    bool are_at_many_sizes(std::uint32_t any_size) const {
      return are_several() && sized_ + (any_size != last_ ? 1 : 0) > kFewSizes;
    }

   private:
    static constexpr std::uint32_t kFewSizes = 8;
    std::uint32_t count_ = 0, sized_ = 0, last_ = 0;
  };
  // Where a stretch that is being watched began.
  struct Mark {
    Stretch total;
    std::uint64_t head = 0, before = 0;
    std::uint32_t cost = 0, runs = 0;
    Times times;  // of the head
  };
  // The last time that a call came: a loop is a call that comes back again and again after the
  // same.
  struct alignas(64) Return {
    std::uint64_t call = 0;
    std::uint64_t at = 0;                 // after how many calls it came last
    std::uint64_t order = 0, before = 0;  // of all calls up to there, and up to the time before
    std::uint64_t power = 1;              // rolling::power(length)
    std::uint32_t length = 0;             // calls between the last two times
    std::uint32_t count = 0;              // how often they were the same
    std::uint32_t due = 0;                // the number of times at which that is looked at
  };
  struct Loop {
    void come(std::uint32_t times) {
      seen += times;
      ever += times;
    }
    std::uint32_t seen = 0;  // since it was recorded or put off
    std::uint32_t ever = 0;
    std::uint32_t plans = 0;     // recorded so far; each makes the next one dearer
    std::uint64_t noted_at = 0;  // in calls
    std::uint64_t order = 0;     // of its calls, the last time that it came between two cuts
    std::uint32_t first_at = 0;  // after how many of all_of() it first came
    bool is_turned = false;
    bool was_missed = false;  // another came when it was to be recorded
  };

  void begin_atom(std::uint64_t head, std::uint64_t last, std::uint32_t position);
  void move(Mark& mark);
  void note_head(std::uint64_t head);
  void note_step_calls();
  bool is_rare(const Loop& loop, Kind kind, std::uint32_t seen) const;
  bool are_steps_given_many_sizes() const;
  // What a stretch of this kind is one of.
  const LastStretches& all_of(Kind kind) const {
    return kind == Kind::kHostRead ? between_reads_ : steps_;
  }
  void note(const Mark& mark, Kind kind);
  void look_for_return(std::uint64_t call);
  // One of two places, so that two calls of one loop hardly ever drive each other out.
  Return& return_of(std::uint64_t call) {
    const std::size_t at = (call >> 7 ^ call) & (returns_.size() - 1);
    Return &first = returns_[at], &second = returns_[at ^ 1];
    if (first.call == call || first.call == 0) return first;
    if (second.call == call || second.call == 0) return second;
    return first.at < second.at ? first : second;
  }
  void add_returns();
  std::uint32_t least_times(std::uint64_t length) const;
  // The call that an atom begins with, and the one before it.
  std::uint64_t place(std::uint64_t number) const {
    return mixed(number > oldest_atom() ? atom(number - 1).last : 0, atom(number).head);
  }
  std::uint64_t landmark(std::uint64_t first, std::uint64_t end) const;
  std::uint64_t beginning_of(std::uint64_t first, std::uint64_t length) const;
  bool is_mostly_other(std::uint64_t begin, const Stretch& cycle) const;
  void plan_cycle(std::uint64_t length, std::uint32_t times);
  void plan_cycles(std::uint64_t length, std::uint32_t times);
  void note_cycle(const Stretch& calls);
  bool are_iterations(const Stretch& calls) const;
  Loop& loop_of(const Stretch& calls, Kind kind);
  std::uint64_t entry_of(const Stretch& period) const;
  std::uint64_t atom_from(std::uint64_t length) const;
  std::uint64_t atom_at(std::uint64_t length) const;
  std::uint64_t end_of(std::uint64_t number) const;  // in calls
  bool is_one_call(std::uint64_t number) const {
    return end_of(number) - atom(number).before.length == 1;
  }
  bool plan_atoms(std::uint64_t begin, const Stretch& calls, std::uint32_t cost, std::uint32_t runs,
                  Kind kind, std::uint64_t seen_at);
  void look_for_period();
  void look_for_repeats();
  void take_findings();
  bool add_plan(Plan plan, std::uint64_t seen_at);
  const Plan* find_plan(std::uint64_t head) const;
  void refresh_filter();
  static bool pays(std::uint32_t cost, std::uint32_t runs, std::uint64_t length, Kind kind);
  // A difference of numbers of runs, of which an atom keeps 31 bits.
  static std::uint32_t count(std::uint32_t runs) { return runs & 0x7fffffff; }
  bool has_many_turns(std::uint64_t begin, std::uint64_t calls) const;
  bool is_too_wide(std::uint64_t begin, std::uint64_t calls, std::uint32_t cost,
                   std::uint32_t runs) const;
  std::uint32_t needed(std::uint64_t head, const Loop& loop, bool covers_runs) const;
  const Atom& atom(std::uint64_t number) const { return atoms_[number % kAtoms]; }
  std::uint64_t oldest_atom() const { return atom_count_ > kAtoms ? atom_count_ - kAtoms : 0; }

  // Entering a segment costs about as much as three small ops.
  static constexpr std::uint32_t kEntryCost = 10;
  static constexpr std::size_t kLongest = 20'000;  // calls of one iteration
  static constexpr std::size_t kMostPlans = 64;
  static constexpr std::uint32_t kMostTogether = 8;  // iterations of a short loop
  static constexpr std::size_t kMostLoops = 4096;
  static constexpr std::size_t kFirstReturns = 256, kMostReturns = 2048;  // powers of two
  static constexpr std::size_t kAtoms = 4096;                             // a power of two
  // Watched calls between two looks of the repeat finder, and between asking whether it is done.
  static constexpr std::uint64_t kFirstLook = 128, kLastLook = 1 << 20, kPatience = 64;

  // What every call looks at comes first.
  std::uint64_t plan_filter_ = 0;
  std::uint64_t mark_filter_ = ~0ull;  // of the heads of marks; anything while one has none
  Stretch total_;
  std::uint64_t last_ = 0;             // the call before
  std::uint32_t cost_ = 0;             // of everything that ran eagerly so far
  std::uint32_t runs_ = 0;             // compiled runs so far
  std::uint32_t any_size_ = 0;         // calls and runs so far that came at sizes without end …
  std::uint32_t any_size_before_ = 0;  // … before the one that was told last
  std::vector<Return> returns_;  // they grow with the program, as short ones pay for each page
  std::size_t returns_lost_ = 0;
  std::vector<Atom> atoms_;       // the last of them, a ring
  std::uint64_t atom_count_ = 0;  // ever
  std::uint64_t watched_ = 0, look_at_ = kFirstLook, look_after_ = kFirstLook;
  std::uint64_t look_for_period_at_ = kFirstLook;  // ever more seldom
  Mark step_, read_, gap_;
  int hot_ = 2;
  int reads_since_step_ = 0;
  LastStretches steps_, between_reads_;
  std::uint64_t last_step_ = 0;                // its calls
  std::array<std::uint64_t, 8> step_given_{};  // by what given().sizes grew, a ring
  std::uint64_t given_before_step_ = given().sizes;
  bool has_seen_step_ = false;
  bool was_read_inside_ = false;
  std::shared_ptr<Search> search_;
  std::unordered_map<std::uint64_t, Loop> loops_;
  std::unordered_map<std::uint64_t, std::uint32_t> gaps_;  // head -> stretches after a run
  std::unordered_map<std::uint64_t, int> penalties_;       // head -> failures
  // head -> recordings in place of compiled runs that did not go as expected
  std::unordered_map<std::uint64_t, int> vain_replacements_;
  std::vector<Stretch> cycles_;  // one iteration of each, the last ones that were planned
  std::vector<Plan> plans_;
  struct Heard {
    std::uint64_t length = 0, at = 0;
  };
  Heard heard_;                    // the last cycle that was listened to
  std::uint64_t quiet_until_ = 0;  // in calls
};

/// For people.
const char* name_of(Discovery::Kind kind);

}  // namespace groove::tracer
