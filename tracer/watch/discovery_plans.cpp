// What is to be recorded: which stretch, when, and whether what came was the one.
#include <algorithm>
#include <utility>

#include "tracer/watch/backoff.h"
#include "tracer/watch/discovery.h"

namespace groove::tracer {
namespace {

// What a loop around compiled runs must save of each of its calls, so that it is worth the time to
// compile them all again in one piece.
constexpr std::uint32_t kSharePerCall = 4;

}  // namespace

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

Discovery::Loop& Discovery::loop_of(const Stretch& calls, Kind kind) {
  if (loops_.size() > kMostLoops) loops_.clear();
  const auto [known, is_new] = loops_.try_emplace(calls.loop());
  if (is_new) known->second.first_at = all_of(kind).count();
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
  const std::size_t count = std::min<std::size_t>(steps(), step_given_.size());
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
  Loop& loop = loop_of(calls, plan.kind);
  if (plan.kind != Kind::kCycle || std::exchange(loop.is_turned, true)) return false;
  if (loop.plans > 0) --loop.plans;
  return add_plan(
      {head, calls.order, calls.length, plan.kind, before, calls.loop(), plan.covers_runs},
      total_.length);
}

bool Discovery::accepts(const Plan& plan, const Stretch& recorded) {
  if (recorded.order == plan.hash && recorded.length == plan.length) return true;
  Loop& loop = loop_of(recorded, plan.kind);
  Loop& expected = loops_[plan.loop];
  const bool is_rarer =
      2 * (loop.ever + 1) < expected.ever || is_rare(loop, plan.kind, loop.seen + 1);
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

}  // namespace groove::tracer
