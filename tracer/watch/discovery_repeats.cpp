// Discovery, about stretches that come again with other things between: when to search for them,
// and what is made of those that were found.
#include <algorithm>

#include "tracer/thread/beside.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/discovery.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {

// A loop of which each call comes several times in an iteration, as every third one is longer, is
// not seen where calls come back: are the last calls those before them, and those before these?
void Discovery::look_for_period() {
  constexpr int kMostComings = 64;
  const std::uint64_t oldest = oldest_atom();
  const Atom& now = atom(atom_count_ - 1);
  int comings = 0;
  for (std::uint64_t at = atom_count_ - 1; at-- > oldest && comings < kMostComings;) {
    if (atom(at).head != now.head) continue;
    ++comings;
    const std::uint64_t length = now.before.length - atom(at).before.length;
    if (length > kLongest || total_.length < step_.total.length + length) return;
    if (count(now.runs() - atom(at).runs()) > 0) return;  // what is around runs is seen there
    const Stretch period = now.before.since(atom(at).before);
    std::uint32_t times = 1;
    for (std::uint64_t end = at; times < least_times(length); ++times) {
      if (atom(end).before.length < length) break;
      const std::uint64_t begin = atom_at(atom(end).before.length - length);
      if (begin == atom_count_ || atom(end).before.since(atom(begin).before) != period) break;
      end = begin;
    }
    if (times >= least_times(length)) return plan_cycle(length, times);
  }
}

// Looks when many calls ran eagerly, and the more seldom the less there was to find.
void Discovery::look_for_repeats() {
  look_at_ = watched_ + kPatience;
  if (watched_ >= look_for_period_at_) {
    look_for_period_at_ = watched_ + watched_ / 2;
    look_for_period();
  }
  if (search_) {
    if (search_->is_done.load(std::memory_order_acquire)) take_findings();
    return;
  }
  const std::int64_t price = price_of_search(std::min<std::uint64_t>(atom_count_, kAtoms));
  // What is being made may be of the calls that come now.
  if (!is_compilation_synchronous() &&
      (tasks_beside(Task::kCompile) > 0 || !investment().affords_search(price)))
    return;
  search_ = std::make_shared<Search>();
  search_->price = price;
  const std::uint64_t oldest = oldest_atom();
  search_->tokens.reserve(atom_count_ - oldest);
  search_->atoms.reserve(atom_count_ - oldest);
  for (std::uint64_t at = oldest; at < atom_count_; ++at) {
    search_->tokens.push_back(atom(at).head);
    search_->atoms.push_back(at);
    if (!atom(at).ends_step()) continue;
    search_->tokens.push_back(at);  // as small as no hash is
    search_->atoms.push_back(at + 1);
  }
  if (is_compilation_synchronous()) {
    search_->found = find_repeats(search_->tokens);
    take_findings();
  } else {
    start_search(search_);
  }
}

void Discovery::take_findings() {
  bool has_news = false;
  for (const Repeat& repeat : search_->found) {
    const std::uint64_t begin = search_->atoms[repeat.begin], end = search_->atoms[repeat.end - 1];
    if (begin < oldest_atom() || end + 1 >= atom_count_) continue;
    const Stretch calls = atom(end + 1).before.since(atom(begin).before);
    Loop& loop = loop_of(calls, Kind::kRepeat);
    loop.come(static_cast<std::uint32_t>(repeat.count));
    const std::uint32_t runs = count(atom(end + 1).runs() - atom(begin).runs());
    if (loop.seen < needed(atom(begin).head, loop, runs > 0)) continue;
    has_news |= plan_atoms(begin, calls, atom(end + 1).cost - atom(begin).cost, runs, Kind::kRepeat,
                           atom(end + 1).before.length);
  }
  search_.reset();
  look_after_ = has_news ? kFirstLook : std::min(2 * look_after_, kLastLook);
  look_at_ = watched_ + look_after_;
}

}  // namespace groove::tracer
