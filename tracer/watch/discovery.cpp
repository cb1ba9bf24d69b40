#include "tracer/watch/discovery.h"

#include <algorithm>
#include <utility>

#include "tracer/cache/registry.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/backoff.h"

namespace groove::tracer {
namespace {

// Entering a segment costs about as much as three small ops.
constexpr std::uint32_t kEntryCost = 10;
// What a loop around compiled runs must save of each of its calls, so that it is worth the time to
// compile them all again in one piece.
constexpr std::uint32_t kSharePerCall = 4;

// A short loop that is worth it runs often. One that ends sooner (over the parameters in a step,
// the layers of a model that is made) is recorded with what it is part of.
constexpr std::uint64_t kEvidence = 64;       // calls
constexpr std::uint64_t kEvidenceAtOnce = 8;  // … with GROOVE_HOT=1

constexpr std::uint64_t kLongestTurn = 4;  // compiled runs in a row, taken for one iteration

bool is_compiled(std::uint32_t cost, std::uint32_t runs) { return cost == 0 && runs <= 1; }

}  // namespace

Discovery::Discovery() : returns_(kFirstReturns) {}

void Discovery::clear() {
  const int hot = hot_;
  *this = Discovery();
  hot_ = hot;
}

// ---- plans ----

std::uint32_t Discovery::needed(std::uint64_t head, const Loop& loop, bool covers_runs) const {
  const auto of = [head](const std::unordered_map<std::uint64_t, int>& failures) {
    const auto found = failures.find(head);
    return found == failures.end() ? 0 : found->second;
  };
  const int in_vain = std::max(
      {static_cast<int>(loop.plans), of(penalties_), covers_runs ? of(vain_replacements_) : 0});
  return static_cast<std::uint32_t>(times_needed(hot_, in_vain));
}

// A stretch is worth a segment when running its calls eagerly costs more than entering it; around
// compiled runs, when it also saves enough of what compiling all of their calls again costs.
bool Discovery::pays(std::uint32_t cost, std::uint32_t runs, std::uint64_t length, Kind kind) {
  if (length == 0 || length > kLongest) return false;
  const std::uint32_t saved = cost + runs * kEntryCost;
  if (saved <= kEntryCost) return false;
  if (runs == 0 || kind == Kind::kStep) return true;
  return (saved - kEntryCost) * kSharePerCall >= length;
}

const Discovery::Plan* Discovery::find_plan(std::uint64_t head) const {
  const Plan* best = nullptr;
  for (const Plan& plan : plans_)
    if (plan.head == head && is_after(plan.before) && (!best || plan.length > best->length))
      best = &plan;
  return best;
}

// A part of what is about to be recorded as a whole must wait: the head of a cycle comes within one
// iteration, that of another stretch at once.
bool Discovery::add_plan(Plan plan, std::uint64_t seen_at) {
  plan.made_at = total_.length;
  plan.seen_at = seen_at;
  for (const Plan& known : plans_)
    if (known.length > plan.length &&
        total_.length < known.made_at + (known.kind == Kind::kCycle ? known.length : 1))
      return false;
  std::erase_if(plans_, [&plan](const Plan& known) { return known.loop == plan.loop; });
  if (plans_.size() >= kMostPlans) plans_.erase(plans_.begin());
  plans_.push_back(plan);
  refresh_filter();
  return true;
}

void Discovery::refresh_filter() {
  plan_filter_ = 0;
  for (const Plan& plan : plans_) plan_filter_ |= 1ull << (plan.head & 63);
}

Discovery::Loop& Discovery::loop_of(const Stretch& calls) {
  if (loops_.size() > kMostLoops) loops_.clear();
  const auto [known, is_new] = loops_.try_emplace(calls.loop());
  if (is_new) known->second.first_step = steps_;
  return known->second;
}

bool Discovery::let_run(const Plan& plan) {
  for (Plan& known : plans_)
    if (known.loop == plan.loop) return !std::exchange(known.has_waited, true);
  return false;
}

void Discovery::take_plan(const Plan& plan) {
  ++loops_[plan.loop].plans;
  put_off(plan);
}

std::vector<std::uint64_t> Discovery::last_times(const Plan& plan) const {
  constexpr std::size_t kEnough = 4;
  std::vector<std::uint64_t> times;
  for (std::uint64_t at = atom_count_; at-- > oldest_atom() && times.size() < kEnough;) {
    if (atom(at).head != plan.head) continue;
    const std::uint64_t begin = atom(at).before.length, end = begin + plan.length;
    const std::uint64_t next = atom_at(end);
    if (next == atom_count_ && end != total_.length) continue;
    const Stretch& all = next == atom_count_ ? total_ : atom(next).before;
    if (all.since(atom(at).before).order == plan.hash) times.push_back(begin);
  }
  return times;
}

bool Discovery::was_given_other_sizes(const Plan& plan,
                                      const std::vector<std::uint64_t>& times) const {
  // What was given since the call before the first of them.
  const auto given_at = [&](std::uint64_t time) {
    const std::uint64_t begin = atom_at(time), end = atom_at(time + plan.length);
    return begin > oldest_atom() ? atom(end - 1).given - atom(begin - 1).given : 0;
  };
  std::vector<std::uint64_t> given;
  for (const std::uint64_t time : times) given.push_back(given_at(time));
  const bool is_any =
      std::any_of(given.begin(), given.end(), [](std::uint64_t g) { return g != 0; });
  if (!is_any) return false;
  return (plan.kind == Kind::kStep && are_steps_given_many_sizes()) ||
         std::any_of(given.begin(), given.end(), [&](std::uint64_t g) { return g != given[0]; });
}

// A few kinds of steps take turns; that most of the last ones differ is another thing.
bool Discovery::are_steps_given_many_sizes() const {
  constexpr std::size_t kFew = 2;
  const std::size_t count = std::min<std::size_t>(steps_, step_given_.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto end = step_given_.begin() + static_cast<std::ptrdiff_t>(i);
    different += std::find(step_given_.begin(), end, *end) == end ? 1 : 0;
  }
  return different > kFew && 2 * different > count;
}

std::uint64_t Discovery::end_of(std::uint64_t number) const {
  return number + 1 < atom_count_ ? atom(number + 1).before.length : total_.length;
}

std::vector<std::uint64_t> Discovery::moved_calls(const std::vector<std::uint64_t>& times,
                                                  std::uint64_t length) const {
  std::vector<std::uint64_t> moved;
  if (times.size() < 2) return moved;
  for (std::uint64_t at = atom_at(times[0]); at < atom_count_; ++at) {
    const Atom& call = atom(at);
    const std::uint64_t offset = call.before.length - times[0];
    if (offset >= length) break;
    if (call.position == 0 || !is_one_call(at)) continue;
    const auto is_elsewhere = [&](std::uint64_t time) {
      const std::uint64_t other = atom_at(time + offset);
      return other != atom_count_ && atom(other).head == call.head && is_one_call(other) &&
             atom(other).position != call.position;
    };
    if (std::any_of(times.begin() + 1, times.end(), is_elsewhere) &&
        std::find(moved.begin(), moved.end(), call.head) == moved.end())
      moved.push_back(call.head);
  }
  return moved;
}

bool Discovery::has_moved(const std::vector<std::uint64_t>& times, std::uint64_t at,
                          std::uint64_t hash, std::uint32_t position) const {
  std::uint32_t of_run = 0;
  for (const std::uint64_t time : times) {
    const std::uint64_t next = atom_from(time + at + 1);
    if (next == oldest_atom() || time + at >= total_.length) continue;
    const Atom& known = atom(next - 1);
    if (is_one_call(next - 1)) {
      if (known.head == hash && known.position != position) return true;
    } else if (known.position != 0) {
      if (of_run != 0 && of_run != known.position) return true;
      of_run = known.position;
    }
  }
  return false;
}

void Discovery::wait(const Plan& plan) {
  constexpr std::uint64_t kQuiet = 512;  // calls
  put_off(plan);
  loops_[plan.loop].noted_at = total_.length + kQuiet;
}

void Discovery::put_off(const Plan& plan) {
  const std::uint64_t loop = plan.loop;
  loops_[loop].seen = 0;
  quiet_until_ = 0;
  std::erase_if(plans_, [loop](const Plan& known) { return known.loop == loop; });
  refresh_filter();
}

bool Discovery::is_planned(std::uint64_t head, const Stretch& calls) const {
  return std::any_of(plans_.begin(), plans_.end(), [&](const Plan& plan) {
    return plan.head == head && plan.hash == calls.order && plan.length == calls.length;
  });
}

void Discovery::note_cut(const Plan& plan) { loops_[plan.loop].plans += 3; }

bool Discovery::turn(const Plan& plan, std::uint64_t before, std::uint64_t head,
                     const Stretch& calls) {
  Loop& loop = loop_of(calls);
  if (plan.kind != Kind::kCycle || std::exchange(loop.is_turned, true)) return false;
  if (loop.plans > 0) --loop.plans;
  return add_plan(
      {head, calls.order, calls.length, plan.kind, before, calls.loop(), plan.covers_runs},
      total_.length);
}

bool Discovery::accepts(const Plan& plan, const Stretch& recorded) {
  if (recorded.order == plan.hash && recorded.length == plan.length) return true;
  Loop& loop = loop_of(recorded);
  Loop& expected = loops_[plan.loop];
  const bool is_rarer = 2 * (loop.ever + 1) < expected.ever;
  if (is_rarer || loop.seen + 1 < needed(plan.head, loop, false)) {
    // What is waited for so many times may always be followed by the odd one: tried at once again.
    const bool is_odd_one = recorded.loop() != plan.loop;
    expected.was_missed = is_odd_one && !expected.was_missed;
    if (expected.was_missed) {
      if (expected.plans > 0) --expected.plans;
      expected.seen = needed(plan.head, expected, plan.covers_runs) - 1;
    } else if (plan.covers_runs) {
      ++vain_replacements_[plan.head];
    }
    return false;
  }
  loop.seen = 0;
  ++loop.plans;
  std::erase_if(plans_, [&recorded](const Plan& known) { return known.loop == recorded.loop(); });
  refresh_filter();
  return true;
}

void Discovery::penalize(std::uint64_t head) {
  ++penalties_[head];
  for (const Plan& known : plans_)
    if (known.head == head) loops_[known.loop].seen = 0;
  std::erase_if(plans_, [head](const Plan& known) { return known.head == head; });
  refresh_filter();
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
  Loop& loop = loop_of(calls);
  loop.come(1);
  if (loop.seen == 1) loop.first_step = steps_;
  if (kind == Kind::kStep && is_rare(loop)) return;
  // After a run, a call that is mostly followed by something else is no sign of a stretch.
  if (kind == Kind::kGap && ++gaps_[mark.head] > 2 * loop.seen) return;
  if (gaps_.size() > kMostLoops) gaps_.clear();
  if (loop.seen < std::max(needed(mark.head, loop, runs > 0), kind == Kind::kGap ? 2u : 1u)) return;
  add_plan(Plan{mark.head, calls.order, calls.length, kind,
                mark.times.are_several() ? mark.before : 0, calls.loop(), runs > 0},
           total_.length);
}

// Of steps that hardly ever are the same, such as those over sequences of any length, each would be
// recorded for itself; what comes as seldom as that must come very often until it pays.
bool Discovery::is_rare(const Loop& loop) const {
  constexpr std::uint32_t kOften = 3, kSeldom = 12;  // steps for one
  constexpr std::uint32_t kSome = 4, kMany = 64;     // of it
  constexpr int kUnlike = 8;
  if (unlike_steps() < kUnlike) return false;
  const std::uint32_t again = loop.seen - 1, among = steps_ - loop.first_step;
  if (among <= kOften * again || loop.seen >= kMany) return false;
  return loop.seen < kSome || among > kSeldom * again;
}

void Discovery::note_step_calls() {
  const Stretch step = total_.since(step_.total);
  const std::uint64_t calls = step.loop();
  last_step_ = step.length;
  const bool is_known =
      std::find(step_calls_.begin(), step_calls_.end(), calls) != step_calls_.end();
  unlike_ = unlike_ << 1 | (is_known ? 0 : 1);
  const std::uint64_t now = given().sizes;
  step_given_[steps_ % step_given_.size()] = now - std::exchange(given_before_step_, now);
  step_calls_[steps_++ % step_calls_.size()] = calls;
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
  if (!has_seen_step_ || ++reads_since_step_ >= 3) note(read_, Kind::kHostRead);
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

// The last `length` calls came `times` times in a row, and the first of them comes now. Every call
// of a loop says so once in an iteration; the first one is listened to.
void Discovery::plan_cycle(std::uint64_t length, std::uint32_t times) {
  const std::uint64_t begin = atom_at(total_.length - length);
  if (begin == atom_count_) return;
  const Stretch period = total_.since(atom(begin).before);
  const std::uint32_t cost = cost_ - atom(begin).cost, runs = count(runs_ - atom(begin).runs());
  if (is_compiled(cost, runs) || !pays(cost, runs, period.length, Kind::kCycle)) return;
  Loop& loop = loop_of(period);
  if (total_.length < loop.noted_at + period.length) return;
  loop.noted_at = total_.length;
  loop.come(loop.plans == 0 ? times : times / 2);
  if (loop.seen < needed(0, loop, false)) return;
  const std::uint64_t entry = entry_of(period);
  const std::uint64_t first =
      entry == atom_count_ ? begin : atom_at(atom(entry).before.length - period.length);
  if (loop.seen < needed(atom(first).head, loop, runs > 0)) return;
  const Stretch calls =
      entry == atom_count_ ? period : atom(entry).before.since(atom(first).before);
  if (!plan_atoms(first, calls, cost, runs, Kind::kCycle, total_.length)) return;
  // A run that goes on over the place where the loop begins would hide it.
  const std::uint64_t offset = (total_.length - atom(first).before.length) % period.length;
  if (atom_at(total_.length - offset) == atom_count_ && offset > 0)
    quiet_until_ = total_.length + 2 * period.length;
}

// An iteration that costs little more than entering it is best recorded together with the next
// ones, once it has come often enough in a row for that. Steps that are alike are recorded as a
// whole.
void Discovery::plan_cycles(std::uint64_t length, std::uint32_t times) {
  constexpr std::uint32_t kWorthwhile = 8 * kEntryCost, kMost = 8;
  constexpr int kUnlike = 4;
  plan_cycle(length, times);
  if (unlike_steps() < kUnlike) return;
  const auto cost =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kWorthwhile)) * kOpCost;
  std::uint32_t together = 1;
  while (together < kMost && together * cost < kWorthwhile) together *= 2;
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

bool Discovery::plan_atoms(std::uint64_t begin, const Stretch& calls, std::uint32_t cost,
                           std::uint32_t runs, Kind kind, std::uint64_t seen_at) {
  if (!pays(cost, runs, calls.length, kind)) return false;
  if (is_too_wide(begin, calls.length, cost, runs)) return false;
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
