// Steps of the program, with the tracer and without (watch/balance.h).
#include <utility>

#include "eager/plan.h"
#include "src/core/clock.h"
#include "tracer/tell/coverage.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {
namespace {

// Where no optimizer ends a step, so many operators do, at the next read.
constexpr std::uint64_t kLongStep = 512;

std::uint64_t operators_of_thread() {
  const Tally& mine = tally();
  return mine.eager.load(std::memory_order_relaxed) + mine.compiled.load(std::memory_order_relaxed);
}

}  // namespace

void Context::on_program_step() {
  if (busy_ > 0 || is_expanding_) return;
  const std::int64_t every = forced_pauses();
  if (every == 0 && (mode_in_force() != jit::Mode::kAuto || is_compilation_synchronous())) return;
  const std::uint64_t operators = operators_of_thread(), ran = operators - operators_before_;
  const std::int64_t time = nanoseconds_now(), passed = time - step_began_;
  if (every == 0 && !short_steps_.are_one(ran, passed)) return;
  step_began_ = time;
  operators_before_ = operators;
  // Recordings have an account of their own (watch/investment.h).
  const std::int64_t paid = eager::planning_time() + investment().spent_here();
  clock_ += step_clock_.time_of_step(time);
  const std::int64_t now = clock_ - paid;
  const std::uint64_t compiled = tally().compiled.load(std::memory_order_relaxed);
  const std::int64_t before = std::exchange(clock_before_, now);
  savings_.on_step({ran, compiled - std::exchange(compiled_before_, compiled),
                    before < 0 ? 0 : now - before, is_paused_});
  const bool is_slower = balance_.on_step(ran, now);
  set_paused(every > 0 ? ++steps_ / every % 2 == 1 : is_slower);
}

void Context::on_program_read() {
  if (operators_of_thread() - operators_before_ >= kLongStep) on_program_step();
}

void Context::set_paused(bool is_paused) {
  if (is_paused == is_paused_) return;
  if (is_paused) on_eager_region();
  is_paused_ = is_paused;
  settings::eager_guards += is_paused ? 1 : -1;
}

// For what may be in force later there is no pause.
void Context::go_on() {
  set_paused(false);
  balance_.go_on();
}

}  // namespace groove::tracer
