// The tracer's entry points: handlers and hooks registered with core, modes, the public jit API.
#include "tracer/modes.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "groove/jit.h"
#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/untraced.h"
#include "tracer/context.h"
#include "tracer/registry.h"
#include "tracer/report.h"
#include "tracer/tape_hooks.h"
#include "tracer/testing.h"

namespace groove::tracer {
namespace {

std::atomic<int> chosen_mode{-1};  // -1: as the environment says
std::atomic<int> chosen_hot{-1};
std::atomic<int> chosen_synchronous{-1};
std::atomic<std::int64_t> forced{-1};
std::atomic<std::uint64_t> sessions{0};
// The traced thread: the first one that calls an op, until it ends.
std::atomic<Context*> traced{nullptr};

thread_local int eager_guards = 0;

struct ThreadContext {
  Context* context = nullptr;
  bool has_lost = false;  // another thread is traced; counted once
  ~ThreadContext() {
    if (!context) return;
    delete context;
    context = nullptr;
    traced.store(nullptr);
    has_lost = true;
  }
};
thread_local ThreadContext mine;

jit::Mode mode_in_force() {
  const int chosen = chosen_mode.load(std::memory_order_relaxed);
  if (chosen >= 0) return static_cast<jit::Mode>(chosen);
  const std::string& name = environment().mode;
  const jit::Mode mode = name == "eager"    ? jit::Mode::kEager
                         : name == "strict" ? jit::Mode::kStrict
                                            : jit::Mode::kAuto;
  chosen_mode.store(static_cast<int>(mode), std::memory_order_relaxed);
  return mode;
}

bool is_off() {
  return eager_guards > 0 || groove::detail::is_untraced() || mode_in_force() == jit::Mode::kEager;
}

Context* claim_context() {
  if (mine.context) return mine.context;
  if (mine.has_lost) return nullptr;
  // No thread is traced yet, or its thread has ended: this one takes over.
  static std::mutex claim;
  const std::lock_guard lock(claim);
  if (traced.load()) {
    mine.has_lost = true;
    count_failure("(another thread)", Reason::kThread);
    return nullptr;
  }
  mine.context = new Context;
  traced.store(mine.context);
  return mine.context;
}

void handle_call(const Call& call, Tensor* outputs) {
  Context* const context = active_context();
  if (!context) return dispatch_below(DispatchLayer::kTracer, call, outputs);
  context->on_call(call, outputs);
}

void handle_big_word(const BigWord& word, void (*expand)(void*), void* argument) {
  Context* const context = active_context();
  if (!context) return expand(argument);
  context->on_big_word(word, expand, argument);
}

// Pending tensors belong to the traced thread, whoever looks at them.
void materialize_hook(TensorImpl& impl) {
  Context* const context = traced.load();
  if (context) context->on_materialize(impl);
  GROOVE_CHECK(!impl.is_pending, "a result of an iteration that could not be finished was used");
}

void host_read_hook(TensorImpl& impl) {
  if (Context* const context = active_context()) context->on_host_read(impl);
}

void host_access_hook(TensorImpl& impl) {
  if (Context* const context = active_context()) context->on_host_access(impl);
}

void expose_hook(TensorImpl& impl) {
  if (Context* const context = active_context()) context->on_expose(impl);
}

void metadata_change_hook(TensorImpl& impl) {
  if (Context* const context = active_context()) context->on_metadata_change(impl);
}

void set_grad_hook(TensorImpl& leaf, const Tensor& grad) {
  if (Context* const context = active_context()) context->on_set_grad(leaf, grad);
}

const bool registered = [] {
  register_handler(DispatchLayer::kTracer, handle_call);
  register_big_word_handler(handle_big_word);
  pending_hooks().materialize = materialize_hook;
  pending_hooks().host_read = host_read_hook;
  pending_hooks().expose = expose_hook;
  pending_hooks().before_write = [](Storage&) {};
  groove::detail::number_read_hook = [](int origin) {
    if (mine.context) mine.context->on_number_read(origin);
  };
  state_hooks().on_set_grad = set_grad_hook;
  state_hooks().on_host_access = host_access_hook;
  state_hooks().on_metadata_change = metadata_change_hook;
  return true;
}();

}  // namespace

TapeHooks& tape_hooks() {
  static TapeHooks hooks;
  return hooks;
}

int hot_repeats() {
  const int chosen = chosen_hot.load();
  return chosen > 0 ? chosen : std::max(1, environment().hot);
}

bool is_compilation_synchronous() {
  const int chosen = chosen_synchronous.load();
  if (chosen >= 0) return chosen != 0;
  return is_strict() || environment().compile == "sync";
}

bool is_strict() { return mode_in_force() == jit::Mode::kStrict; }
std::int64_t forced_exit() { return forced.load(std::memory_order_relaxed); }
void yield_thread() { sched_yield(); }
std::uint64_t next_session() { return ++sessions; }

Context* active_context() { return is_off() ? nullptr : claim_context(); }

void note_copy(const Tensor& original, const Tensor& copy) {
  if (Context* const context = active_context()) context->on_copy(original, copy);
}

namespace testing {

void force_exit_at(std::int64_t word) { forced.store(word); }
void forget_everything() {
  if (mine.context) mine.context->forget();
  forget_all_segments();
}
std::int64_t longest_segment() {
  std::size_t longest = 0;
  for (const SegmentPtr& segment : all_segments())
    if (segment->state.load() == State::kArmed) longest = std::max(longest, segment->words.size());
  return static_cast<std::int64_t>(longest);
}
void set_hot(int repeats) { chosen_hot.store(repeats); }
void set_synchronous(bool is_synchronous) { chosen_synchronous.store(is_synchronous ? 1 : 0); }

}  // namespace testing
}  // namespace groove::tracer

namespace groove::jit {

void set_mode(Mode mode) {
  if (tracer::mine.context) tracer::mine.context->flush(tracer::Reason::kModeChange);
  tracer::chosen_mode.store(static_cast<int>(mode));
}
Mode mode() { return tracer::mode_in_force(); }

EagerGuard::EagerGuard() {
  if (tracer::mine.context) tracer::mine.context->flush(tracer::Reason::kModeChange);
  ++tracer::eager_guards;
}
EagerGuard::~EagerGuard() { --tracer::eager_guards; }

void synchronize() { tracer::wait_for_compiler(); }

Summary summary() {
  Summary total;
  for (const tracer::SegmentPtr& segment : tracer::all_segments()) {
    total.segments += segment->state.load() == tracer::State::kArmed ? 1 : 0;
    total.hits += segment->statistics.hits;
    total.leaves += segment->statistics.leaves;
    total.compile_milliseconds += segment->statistics.compile_milliseconds;
  }
  return total;
}

std::string explain() { return tracer::explain_text(); }

}  // namespace groove::jit
