// A failing program made small: statements dropped, the loop shortened, conditions taken away, as
// long as it fails in the same way.
#include <chrono>

#include "tools/random_loops/child.h"

namespace groove::random_loops {
namespace {

using Clock = std::chrono::steady_clock;

struct Shrinking {
  const Way& way;
  const std::string& kind;
  int seconds;
  Clock::time_point end;
  Program best;

  bool fails(const Program& program) const {
    const Outcome eager = run_in_child(program, all_ways().front(), seconds);
    if (!eager.end.empty()) return false;
    // What depends on when a compilation is done gets a second chance.
    const int tries = way.environment.size() < 2 ? (kind.starts_with("signal") ? 15 : 3) : 1;
    for (int at = 0; at < tries; ++at)
      if (compare(eager, run_in_child(program, way, seconds)).kind == kind) return true;
    return false;
  }
  bool accept(const Program& program) {
    if (Clock::now() > end || !fails(program)) return false;
    best = program;
    return true;
  }
  bool drop(std::vector<Statement> Program::*part) {
    bool has_changed = false;
    for (std::size_t size = (best.*part).size(); size > 0; size /= 2) {
      for (std::size_t at = 0; at + size <= (best.*part).size();) {
        Program smaller = best;
        auto& statements = smaller.*part;
        const auto first = statements.begin() + static_cast<std::ptrdiff_t>(at);
        statements.erase(first, first + static_cast<std::ptrdiff_t>(size));
        if (accept(smaller))
          has_changed = true;
        else
          at += size;
      }
    }
    return has_changed;
  }
  bool shorten() {
    bool has_changed = false;
    for (int by = best.length / 2; by > 0; by /= 2) {
      for (;;) {
        Program shorter = best;
        shorter.length -= by;
        if (shorter.length <= 0 || !accept(shorter)) break;
        has_changed = true;
      }
    }
    return has_changed;
  }
  bool simplify() {
    bool has_changed = false;
    for (std::size_t at = 0; at < best.body.size(); ++at) {
      if (best.body[at].when.kind != Condition::kAlways) {
        Program simpler = best;
        simpler.body[at].when = {};
        has_changed = accept(simpler) || has_changed;
      }
      if (best.body[at].thread != Statement::kMain) {
        Program simpler = best;
        simpler.body[at].thread = Statement::kMain;
        has_changed = accept(simpler) || has_changed;
      }
    }
    Program plain = best;
    plain.is_clamped = !best.is_clamped;
    plain.dump_every = 1 << 30;
    if (best.dump_every != plain.dump_every) {
      plain.is_clamped = best.is_clamped;
      has_changed = accept(plain) || has_changed;
    }
    return has_changed;
  }
};

}  // namespace

Program shrink(const Program& program, const Way& way, const std::string& kind, int seconds,
               int budget) {
  Shrinking shrinking{way, kind, seconds, Clock::now() + std::chrono::seconds(budget), program};
  if (!shrinking.fails(program)) return program;  // not again
  for (bool goes_on = true; goes_on && Clock::now() < shrinking.end;) {
    goes_on = shrinking.drop(&Program::body);
    goes_on = shrinking.drop(&Program::before) || goes_on;
    goes_on = shrinking.shorten() || goes_on;
    goes_on = shrinking.simplify() || goes_on;
  }
  return shrinking.best;
}

}  // namespace groove::random_loops
