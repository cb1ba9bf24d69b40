#include "tracer/watch/discovery.h"

#include <algorithm>
#include <utility>

namespace groove::tracer {
namespace {

// A short loop that is worth it runs often. One that ends sooner (over the parameters in a step,
// the layers of a model that is made) is recorded with what it is part of.
constexpr std::uint64_t kEvidence = 64;       // calls
constexpr std::uint64_t kEvidenceAtOnce = 8;  // … with GROOVE_HOT=1

// So many turns of a loop, and calls, are no iteration of another.
constexpr std::uint64_t kManyTurns = 32, kManyCalls = 1000;

constexpr std::uint64_t kLongestTurn = 4;  // compiled runs in a row, taken for one iteration

bool is_compiled(std::uint32_t cost, std::uint32_t runs) { return cost == 0 && runs <= 1; }

}  // namespace

Discovery::Discovery() : returns_(kFirstReturns) {}

void Discovery::clear() {
  const int hot = hot_;
  *this = Discovery();
  hot_ = hot;
}

// ---- stretches between cuts ----

// Field by field, as in begin_atom().
void Discovery::move(Mark& mark) {
  mark.total.order = total_.order;
  mark.total.content = total_.content;
  mark.total.length = total_.length;
  mark.head = mark.before = 0;
  mark.cost = cost_;
  mark.runs = runs_;
  mark.times.clear();
  mark_filter_ = ~0ull;
}

void Discovery::note_head(std::uint64_t head) {
  mark_filter_ = 0;
  for (Mark* const mark : {&step_, &read_, &gap_}) {
    if (mark->head == 0) {
      mark->head = head;
      mark->before = last_;
    }
    if (mark->head == head) mark->times.add(any_size_before_);
    mark_filter_ |= std::uint64_t{1} << (mark->head & 63);
  }
}

void Discovery::note(const Mark& mark, Kind kind) {
  if (mark.head == 0) return;
  const std::uint32_t cost = cost_ - mark.cost, runs = count(runs_ - mark.runs);
  if (is_compiled(cost, runs) || !pays(cost, runs, total_.length - mark.total.length, kind)) return;
  const Stretch calls = total_.since(mark.total);
  if (mark.times.are_at_many_sizes(any_size_)) return;
  if (kind != Kind::kStep && is_too_wide(atom_at(mark.total.length), calls.length, cost, runs))
    return;
  Loop& loop = loop_of(calls, kind);
  // Between cuts the same calls in another order are another stretch.
  if (std::exchange(loop.order, calls.order) != calls.order) loop.seen = 0;
  loop.come(1);
  if (loop.seen == 1) loop.first_at = all_of(kind).count();
  if (is_rare(loop, kind, loop.seen)) return;
  // After a run, a call that is mostly followed by something else is no sign of a stretch.
  if (kind == Kind::kGap && ++gaps_[mark.head] > 2 * loop.seen) return;
  if (gaps_.size() > kMostLoops) gaps_.clear();
  if (loop.seen < std::max(needed(mark.head, loop, runs > 0), kind == Kind::kGap ? 2u : 1u)) return;
  if (kind != Kind::kStep && has_many_turns(atom_at(mark.total.length), calls.length)) return;
  add_plan(Plan{mark.head, calls.order, calls.length, kind,
                mark.times.are_several() ? mark.before : 0, calls.loop(), runs > 0},
           total_.length);
}

// Of steps that hardly ever are the same, such as those over sequences of any length, each would be
// recorded for itself, and so where reads end them; what comes as seldom as that must come very
// often until it pays.
bool Discovery::is_rare(const Loop& loop, Kind kind, std::uint32_t seen) const {
  constexpr std::uint32_t kOften = 3, kSeldom = 12;  // of all for one
  constexpr std::uint32_t kSome = 8;                 // of it: fewer of many come close by chance
  constexpr int kUnlike = 8;
  if (kind != Kind::kStep && kind != Kind::kHostRead) return false;
  const LastStretches& all = all_of(kind);
  if (all.unlike() < kUnlike) return false;
  const std::uint32_t again = seen - 1, among = all.count() - loop.first_at;
  if (among <= kOften * again) return false;
  return seen < kSome || among > kSeldom * again;
}

void Discovery::note_step_calls() {
  const Stretch step = total_.since(step_.total);
  last_step_ = step.length;
  const std::uint64_t now = given().sizes;
  step_given_[steps() % step_given_.size()] = now - std::exchange(given_before_step_, now);
  steps_.add(step.loop());
}

void Discovery::on_step_end() {
  if (atom_count_ > 0) atoms_[(atom_count_ - 1) % kAtoms].runs_and_end |= 1;
  note(step_, Kind::kStep);
  if (gap_.total.length > step_.total.length) note(gap_, Kind::kStep);
  has_seen_step_ = true;
  note_step_calls();
  reads_since_step_ = 0;
  move(step_);
  move(read_);
  move(gap_);
}

void Discovery::on_host_read() {
  if (read_.total.length == total_.length) return;
  if (!has_seen_step_ || ++reads_since_step_ >= 3) {
    note(read_, Kind::kHostRead);
    between_reads_.add(total_.since(read_.total).loop());
  }
  move(read_);
}

void Discovery::on_run_start() {
  if (gap_.total.length > step_.total.length) note(gap_, Kind::kGap);
}

// ---- the stream ----

inline void Discovery::begin_atom(std::uint64_t head, std::uint64_t last, std::uint32_t position) {
  if (mark_filter_ >> (head & 63) & 1) [[unlikely]]
    note_head(head);
  look_for_return(head);
  if (atoms_.size() < kAtoms) [[unlikely]] {
    atoms_.reserve(kAtoms);  // of which what is used takes memory
    atoms_.emplace_back();
  }
  // Field by field: a copy of one just made would wait for its parts.
  Atom& atom = atoms_[atom_count_++ % kAtoms];
  atom.before.order = total_.order;
  atom.before.content = total_.content;
  atom.before.length = total_.length;
  atom.head = head;
  atom.last = last;
  atom.cost = cost_;
  atom.runs_and_end = runs_ << 1;
  atom.any_size = any_size_;
  atom.given = given().sizes;
  atom.position = position;
  last_ = last;
  any_size_before_ = any_size_;
}

void Discovery::on_call(std::uint64_t hash, Cost cost, std::uint32_t position) {
  begin_atom(hash, hash, position);
  total_.append(hash);
  cost_ += cost;
  if (++watched_ >= look_at_) look_for_repeats();
}

void Discovery::on_run(std::uint64_t head, std::uint64_t last, const Stretch& calls, bool is_hit,
                       std::uint32_t position) {
  begin_atom(head, last, position);
  total_.append(calls);
  if (!is_hit) cost_ += static_cast<std::uint32_t>(calls.length) * kOpCost;
  if (is_hit) ++runs_;
  move(gap_);
  if (was_read_inside_) move(read_);
  was_read_inside_ = false;
  if (!is_hit) return;
  // Where it runs compiled, nothing is left to do.
  const auto is_done = [&](const Plan& plan) {
    return plan.head == head && plan.length == calls.length &&
           (!plan.covers_runs || plan.hash == calls.order);
  };
  if (plan_filter_ >> (head & 63) & 1) {
    std::erase_if(plans_, is_done);
    refresh_filter();
  }
}

void Discovery::on_outside(std::uint64_t hash) {
  const bool is_gap = gap_.total.length < total_.length;
  on_call(hash, kBigCost);
  if (is_gap) on_run_start();
  move(gap_);
}

// ---- calls that come back ----

std::uint32_t Discovery::least_times(std::uint64_t length) const {
  const std::uint64_t evidence = hot_ < 2 ? kEvidenceAtOnce : kEvidence;
  const auto times = static_cast<std::uint32_t>(1 + (evidence + length - 1) / length);
  return std::max(static_cast<std::uint32_t>(hot_), times);  // two at least
}

void Discovery::add_returns() {
  std::vector<Return> before(2 * returns_.size());
  before.swap(returns_);
  for (const Return& each : before)
    if (each.call != 0) return_of(each.call) = each;
  returns_lost_ = 0;
}

// `call` comes now. When what lies between two of its coming is the same again and again, that is
// one iteration of a loop.
inline void Discovery::look_for_return(std::uint64_t call) {
  Return& seen = return_of(call);
  const std::uint64_t length = total_.length - seen.at;
  if (seen.call != call || length > kLongest) {
    if (seen.call != call && seen.call != 0 && ++returns_lost_ > returns_.size() &&
        returns_.size() < kMostReturns)
      return add_returns();
    seen = Return{call, total_.length, total_.order};
    return;
  }
  const bool is_same = seen.length == length && total_.order - seen.order * seen.power ==
                                                    seen.order - seen.before * seen.power;
  const bool is_in_step = seen.at >= step_.total.length;
  seen.at = total_.length;
  seen.before = seen.order;
  seen.order = total_.order;
  if (!is_same) {
    if (seen.length != length) seen.power = rolling::power(length);
    seen.length = static_cast<std::uint32_t>(length);
    seen.count = 0;
    return;
  }
  // At the number of times that makes a loop hot, and at twice, four times … that number.
  if (seen.count++ == 0) seen.due = least_times(length);
  const std::uint32_t times = seen.count + 1;
  if (times != seen.due) return;
  seen.due *= 2;
  if (is_in_step) plan_cycles(length, times);
}

// The number of the first atom that begins after this many calls or more.
std::uint64_t Discovery::atom_from(std::uint64_t length) const {
  std::uint64_t low = oldest_atom(), high = atom_count_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (atom(middle).before.length < length)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The number of the atom that begins after this many calls, or none.
std::uint64_t Discovery::atom_at(std::uint64_t length) const {
  const std::uint64_t at = atom_from(length);
  return at < atom_count_ && atom(at).before.length == length ? at : atom_count_;
}

// A loop is best cut where the program entered it: what repeats is followed back to where it first
// did. Gives the number of the atom after its first iteration.
std::uint64_t Discovery::entry_of(const Stretch& period) const {
  std::uint64_t entry = atom_count_, earlier = atom_count_;
  for (std::uint64_t at = atom_count_; at-- > oldest_atom();) {
    const Stretch& here = atom(at).before;
    if (here.length < step_.total.length + period.length) break;
    const std::uint64_t length = here.length - period.length;
    while (earlier > oldest_atom() && atom(earlier - 1).before.length >= length) --earlier;
    if (earlier == atom_count_ || atom(earlier).before.length != length)
      continue;  // in the middle of a run: another one tells
    if (here.since(atom(earlier).before).content != period.content) break;
    entry = at;
  }
  return entry;
}

// Of the atoms from `first` on that begin before `end` calls, the first one whose place (its call
// and the one before) can be told from all others of them; none: atom_count_.
std::uint64_t Discovery::landmark(std::uint64_t first, std::uint64_t end) const {
  const auto is_inside = [&](std::uint64_t at) {
    return at < atom_count_ && atom(at).before.length < end;
  };
  std::unordered_map<std::uint64_t, int> times;
  for (std::uint64_t at = first; is_inside(at); ++at) ++times[place(at)];
  for (std::uint64_t at = first; is_inside(at); ++at)
    if (times[place(at)] == 1) return at;
  return atom_count_;
}

// Where a loop begins with a call that comes after the same call elsewhere in it, a recording would
// begin at either: the next place is taken that can be told from all others. Twice the loop has
// come from `first` on; what came before that was perhaps something else.
std::uint64_t Discovery::beginning_of(std::uint64_t first, std::uint64_t length) const {
  const std::uint64_t again = atom_at(atom(first).before.length + length);
  const std::uint64_t end = atom(first).before.length + 2 * length;
  if (again == atom_count_ || total_.length < end) return first;
  const std::uint64_t known = landmark(again, end);
  const std::uint64_t begin =
      known == atom_count_ ? atom_count_ : atom_at(atom(known).before.length - length);
  return begin == atom_count_ ? first : begin;
}

// Did what comes at the landmark of this cycle mostly go on otherwise? A loop of any number of
// turns, of which the same number comes twice in a row now and then, is no loop of so many.
bool Discovery::is_mostly_other(std::uint64_t begin, const Stretch& cycle) const {
  constexpr int kEnough = 3;
  const std::uint64_t known = landmark(begin, atom(begin).before.length + cycle.length);
  if (known == atom_count_) return false;
  const std::uint64_t wanted = place(known);
  int all = 0, same = 0;
  std::uint64_t before = atom_count_;
  for (std::uint64_t at = oldest_atom() + 1; at < atom_count_; ++at) {
    if (place(at) != wanted) continue;
    if (before != atom_count_) {
      ++all;
      same += atom(at).before.since(atom(before).before).loop() == cycle.loop() ? 1 : 0;
    }
    before = at;
  }
  return all >= kEnough && 3 * same < 2 * all;
}

// The last `length` calls came `times` times in a row, and the first of them comes now. Every call
// of a loop says so once in an iteration; the first one is listened to.
void Discovery::plan_cycle(std::uint64_t length, std::uint32_t times) {
  if (length == heard_.length && total_.length < heard_.at + length) return;
  const std::uint64_t begin = atom_at(total_.length - length);
  if (begin == atom_count_) return;
  heard_ = {length, total_.length};
  const Stretch period = total_.since(atom(begin).before);
  const std::uint32_t cost = cost_ - atom(begin).cost, runs = count(runs_ - atom(begin).runs());
  if (is_compiled(cost, runs) || !pays(cost, runs, period.length, Kind::kCycle)) return;
  Loop& loop = loop_of(period, Kind::kCycle);
  if (total_.length < loop.noted_at + period.length) return;
  loop.noted_at = total_.length;
  loop.come(loop.plans == 0 ? times : times / 2);
  if (loop.seen < needed(0, loop, false)) return;
  const std::uint64_t entry = entry_of(period);
  const std::uint64_t first = beginning_of(
      entry == atom_count_ ? begin : atom_at(atom(entry).before.length - period.length),
      period.length);
  if (loop.seen < needed(atom(first).head, loop, runs > 0)) return;
  const std::uint64_t end = atom_at(atom(first).before.length + period.length);
  const Stretch calls = (end == atom_count_ ? total_ : atom(end).before).since(atom(first).before);
  if (!plan_atoms(first, calls, cost, runs, Kind::kCycle, total_.length)) return;
  note_cycle(calls);
  // A run that goes on over the place where the loop begins would hide it.
  const std::uint64_t offset = (total_.length - atom(first).before.length) % period.length;
  if (atom_at(total_.length - offset) == atom_count_ && offset > 0)
    quiet_until_ = total_.length + 2 * period.length;
}

// An iteration that costs little more than entering it is best recorded together with the next
// ones, once it has come often enough in a row for that. Steps that are alike, and stretches
// between reads where nothing ends a step, are recorded as a whole, unless these have very many
// turns.
void Discovery::plan_cycles(std::uint64_t length, std::uint32_t times) {
  constexpr std::uint32_t kWorthwhile = 8 * kEntryCost;
  constexpr int kUnlike = 4;
  plan_cycle(length, times);
  const Mark& around = has_seen_step_ ? step_ : read_;
  const bool is_any = all_of(has_seen_step_ ? Kind::kStep : Kind::kHostRead).unlike() >= kUnlike;
  const bool are_many = !has_seen_step_ && times >= kManyTurns && times * length >= kManyCalls;
  if ((!is_any && !are_many) || around.total.length + times * length > total_.length) return;
  const auto cost =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kWorthwhile)) * kOpCost;
  std::uint32_t together = 1;
  while (together < kMostTogether && together * cost < kWorthwhile) together *= 2;
  if (together > 1 && times >= 2 * together) plan_cycle(length * together, times / together);
}

// Are these calls mostly compiled runs that take turns, with little between? Then they are many
// iterations of a loop: compiled in one piece they would run hardly faster.
bool Discovery::is_too_wide(std::uint64_t begin, std::uint64_t calls, std::uint32_t cost,
                            std::uint32_t runs) const {
  if (runs <= kLongestTurn || begin == atom_count_ || cost + runs * kEntryCost >= calls)
    return false;
  const std::uint64_t end = atom(begin).before.length + calls;
  for (std::uint64_t turn = 1; turn <= kLongestTurn; ++turn) {
    std::uint64_t repeated = 0;
    for (std::uint64_t at = begin + turn; at < atom_count_ && end_of(at) <= end; ++at) {
      const Atom &now = atom(at), &earlier = atom(at - turn);
      const std::uint64_t length = end_of(at) - now.before.length;
      if (length > 1 && now.head == earlier.head && now.last == earlier.last &&
          length == end_of(at - turn) - earlier.before.length)
        repeated += length;
    }
    if (repeated * 4 >= calls * 3) return true;
  }
  return false;
}

// Are these calls mostly turns of a loop, so many that one of them, or a few together, are as good?
bool Discovery::has_many_turns(std::uint64_t begin, std::uint64_t calls) const {
  constexpr int kTries = 4;  // a turn may have a call several times
  if (calls < kManyCalls) return false;
  if (begin == atom_count_) begin = oldest_atom();
  const std::uint64_t length = atom(begin).before.length + calls;
  const std::uint64_t end = total_.length < length ? atom_count_ : atom_from(length);
  const std::uint64_t middle = begin + (end - begin) / 2;
  int tries = 0;
  for (std::uint64_t at = middle; at-- > begin && tries < kTries;) {
    if (atom(at).head != atom(middle).head) continue;
    ++tries;
    const std::uint64_t turn = middle - at;  // in atoms
    if ((atom(middle).before.length - atom(at).before.length) * kManyTurns > calls) return false;
    std::uint64_t same = 0;
    for (std::uint64_t now = begin + turn; now < end; ++now)
      same += atom(now).head == atom(now - turn).head ? 1 : 0;
    if (4 * same >= 3 * (end - begin)) return true;
  }
  return false;
}

// Any number of iterations of one loop comes in a row sooner or later; by how many each of them is
// recorded is plan_cycles's to say.
bool Discovery::are_iterations(const Stretch& calls) const {
  return std::any_of(cycles_.begin(), cycles_.end(), [&calls](const Stretch& cycle) {
    const std::uint64_t count = calls.length / cycle.length;
    return count > 1 && count * cycle.length == calls.length &&
           count * cycle.content == calls.content &&
           !(std::has_single_bit(count) && count <= kMostTogether);
  });
}

void Discovery::note_cycle(const Stretch& calls) {
  constexpr std::size_t kKnown = 16;
  const bool is_known = std::any_of(cycles_.begin(), cycles_.end(), [&calls](const Stretch& cycle) {
    return cycle.loop() == calls.loop();
  });
  if (is_known) return;
  if (cycles_.size() == kKnown) cycles_.erase(cycles_.begin());
  cycles_.push_back(calls);
}

bool Discovery::plan_atoms(std::uint64_t begin, const Stretch& calls, std::uint32_t cost,
                           std::uint32_t runs, Kind kind, std::uint64_t seen_at) {
  if (!pays(cost, runs, calls.length, kind) || are_iterations(calls)) return false;
  if (is_too_wide(begin, calls.length, cost, runs) || has_many_turns(begin, calls.length))
    return false;
  if (kind == Kind::kCycle && runs > 0 && is_mostly_other(begin, calls)) return false;
  const Atom& first = atom(begin);
  Plan plan{first.head, calls.order, calls.length, kind, 0, calls.loop(), runs > 0};
  const std::uint64_t end = first.before.length + calls.length;
  Times times;
  std::uint64_t at = begin;
  for (; at < atom_count_ && atom(at).before.length < end; ++at)
    if (atom(at).head == plan.head) times.add(atom(at > oldest_atom() ? at - 1 : at).any_size);
  if (times.are_at_many_sizes(atom(at - 1).any_size)) return false;
  const bool is_repeated = times.are_several();
  // A loop comes after itself; anything else, after what came before it the last time.
  if (is_repeated && kind == Kind::kCycle) plan.before = atom(at - 1).last;
  if (is_repeated && kind != Kind::kCycle && begin > oldest_atom())
    plan.before = atom(begin - 1).last;
  return add_plan(plan, seen_at);
}

const char* name_of(Discovery::Kind kind) {
  switch (kind) {
    case Discovery::Kind::kStep:
      return "a step";
    case Discovery::Kind::kHostRead:
      return "a stretch between two host reads";
    case Discovery::Kind::kCycle:
      return "a cycle";
    case Discovery::Kind::kGap:
      return "a stretch after a compiled run";
    case Discovery::Kind::kRepeat:
      return "a stretch";
    case Discovery::Kind::kCall:
      return "a compiled call";
  }
  return "";
}

}  // namespace groove::tracer
