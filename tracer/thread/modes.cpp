// The tracer's entry points: handlers and hooks registered with core, modes, the public jit API.
#include "tracer/thread/modes.h"

#include <algorithm>
#include <atomic>

#include "groove/jit.h"
#include "kernels/ops/graph_builder.h"
#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/untraced.h"
#include "tracer/cache/budget.h"
#include "tracer/cache/registry.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/tell/coverage.h"
#include "tracer/tell/report.h"
#include "tracer/tell/testing.h"
#include "tracer/thread/beside.h"
#include "tracer/thread/context.h"
#include "tracer/thread/threads.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {
namespace {

std::atomic<int> chosen_hot{-1};
std::atomic<int> chosen_synchronous{-1};
std::atomic<std::int64_t> chosen_check{-1};
std::atomic<std::int64_t> chosen_pauses{0};
std::atomic<jit::Numerics> chosen_numerics{jit::Numerics::kExact};

void handle_library_call(const LibraryCall& call, void (*expand)(void*), void* argument) {
  if (Context* const context = active_context()) {
    context->on_library_call(call, expand, argument);
  } else {
    settle(call.inputs);
    expand(argument);
  }
  if (Context* const context = call.ends_step ? known_context() : nullptr)
    context->on_program_step();
}

// In a function given to control flow there are no values yet.
void refuse_stand_in(const TensorImpl& impl) {
  GROOVE_CHECK(!kernels::stands_for_value(impl),
               "a function given to cond, while_loop, scan or capture looks at a value (item, "
               "data_ptr, printing, or a shape that depends on data), but it is only recorded; "
               "compute with tensors, or choose with where() or cond()");
}

void materialize_hook(TensorImpl& impl) {
  refuse_stand_in(impl);
  Context* const context = known_context();
  if (context && have_one_owner(owing_session(impl), context->index()))
    context->on_materialize(impl);
  else
    settle_data(impl);
  GROOVE_CHECK(!impl.is_pending, "a result of an iteration that could not be finished was used");
}

void host_read_hook(TensorImpl& impl) {
  refuse_stand_in(impl);
  settle_data(impl);
  if (Context* const context = active_context()) context->on_host_read(impl);
  if (Context* const context = known_context()) context->on_program_read();
}

void host_access_hook(TensorImpl& impl) {
  settle(impl);
  if (Context* const context = active_context()) context->on_host_access(impl);
}

}  // namespace

void settle_flags(TensorImpl& impl) {
  const bool is_of_run = impl.trace_session != 0 || owing_session(impl) != 0;
  if (is_of_run) settle(impl);
  settle_gradient(impl);
  if (!is_of_run) return;
  if (Context* const context = active_context()) context->on_flags_read(impl);
}

namespace {

void expose_hook(TensorImpl& impl) {
  settle(impl);
  before_write(*impl.storage);
  if (Context* const context = active_context()) context->on_expose(impl);
}

void metadata_change_hook(TensorImpl& impl) {
  settle(impl);
  if (impl.storage) before_write(*impl.storage);
  if (Context* const context = active_context()) context->on_metadata_change(impl);
}

void set_grad_hook(TensorImpl& leaf, const Tensor& grad) {
  if (Context* const context = active_context()) context->on_set_grad(leaf, grad);
}

void use_grad_hook(TensorImpl& leaf) {
  const AutogradMeta* const meta = leaf.autograd;
  if (meta && meta->grad.defined()) settle(ArrayRef<Tensor>(meta->grad));
  if (Context* const context = active_context()) context->on_use_grad(leaf);
}

const bool registered = [] {
  register_handler(DispatchLayer::kTracer, handle_call);
  register_library_call_handler(handle_library_call);
  pending_hooks().materialize = materialize_hook;
  pending_hooks().host_read = host_read_hook;
  pending_hooks().expose = expose_hook;
  pending_hooks().before_write = settle_readers;
  pending_hooks().settle_gradient = settle_changes;
  groove::detail::number_read_hook = [](int origin) {
    if (Context* const context = known_context()) context->on_number_read(origin);
  };
  error_hook = [] {
    if (Context* const context = known_context()) context->on_error();
  };
  tape_hooks().may_run_compiled = [] {
    const Context* const context = is_dispatch_overridden() ? nullptr : active_context();
    return context && context->state() != State::kRecording && !has_stand_ins();
  };
  state_hooks().on_set_grad = set_grad_hook;
  state_hooks().on_use_grad = use_grad_hook;
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

std::int64_t check_every() {
  if (jit::numerics() == jit::Numerics::kFast) return 0;
  const std::int64_t chosen = chosen_check.load(std::memory_order_relaxed);
  return chosen >= 0 ? chosen : environment().check;
}

std::int64_t forced_pauses() { return chosen_pauses.load(std::memory_order_relaxed); }

// The mode may have been set to eager by another thread, in the midst of this one's loop.
void stop_tracing() {
  Context* const context = known_context();
  if (context && !Context::is_running() && !groove::detail::is_untraced()) context->settle_down();
}

int settings::mode_of_environment() {
  const std::string& name = environment().mode;
  const jit::Mode found = name == "eager"    ? jit::Mode::kEager
                          : name == "strict" ? jit::Mode::kStrict
                                             : jit::Mode::kAuto;
  mode.store(static_cast<int>(found), std::memory_order_relaxed);
  return static_cast<int>(found);
}

bool is_strict() { return mode_in_force() == jit::Mode::kStrict; }

void note_copy(const Tensor& original, const Tensor& copy) {
  if (Context* const context = active_context()) context->on_copy(original, copy);
}

void note_version(const TensorImpl& impl) {
  if (Context* const context = active_context()) context->on_version(impl);
}

namespace testing {

void force_exit_at(std::int64_t call) { forced.store(call); }
void fail_live_in_check(std::int64_t slot) { failing.store(slot); }
void forget_everything() {
  if (Context* const context = known_context()) context->forget();
  forget_all_segments();
  investment().forget();
}
std::int64_t longest_segment() {
  std::size_t longest = 0;
  for (const SegmentPtr& segment : all_segments())
    if (segment->is_armed()) longest = std::max(longest, segment->calls.size());
  return static_cast<std::int64_t>(longest);
}
void set_cache_bytes(std::size_t bytes) { tracer::set_cache_bytes(bytes); }
void set_large_arena(std::size_t bytes) { tracer::set_large_arena(bytes); }
std::uint64_t recordings() { return recordings_begun.load(); }
void set_check(std::int64_t every) { chosen_check.store(every); }
void set_pauses(std::int64_t every) { chosen_pauses.store(every); }
void set_hot(int repeats) { chosen_hot.store(repeats); }
void set_synchronous(bool is_synchronous) { chosen_synchronous.store(is_synchronous ? 1 : 0); }

}  // namespace testing
}  // namespace groove::tracer

namespace groove::jit {

void set_mode(Mode mode) {
  if (tracer::Context* const context = tracer::known_context())
    context->flush(tracer::Reason::kModeChange), context->go_on();
  tracer::settings::mode.store(static_cast<int>(mode));
}
Mode mode() { return tracer::mode_in_force(); }

void set_numerics(Numerics numerics) {
  if (numerics == jit::numerics()) return;
  if (tracer::Context* const context = tracer::known_context())
    context->flush(tracer::Reason::kModeChange);
  tracer::chosen_numerics.store(numerics);
  tracer::wait_for_compiler();
  for (const tracer::SegmentPtr& segment : tracer::all_segments())
    if (segment->state.load() == tracer::State::kArmed)
      tracer::retire(segment, "made for other numerics");
}
Numerics numerics() { return tracer::chosen_numerics.load(std::memory_order_relaxed); }

EagerGuard::EagerGuard() {
  const bool is_first = tracer::settings::eager_guards == 0;
  tracer::Context* const context = is_first ? tracer::known_context() : nullptr;
  if (context) context->on_eager_region();
  ++tracer::settings::eager_guards;
}
EagerGuard::~EagerGuard() { --tracer::settings::eager_guards; }

void synchronize() { tracer::wait_for_compiler(); }

Summary summary() {
  Summary total;
  for (const tracer::SegmentPtr& segment : tracer::all_segments()) {
    total.segments += segment->state.load() == tracer::State::kArmed ? 1 : 0;
    total.hits += segment->statistics.hits;
    total.leaves += segment->statistics.leaves;
    total.compile_milliseconds += segment->statistics.compile_milliseconds;
  }
  const tracer::Gone gone = tracer::gone_segments();
  total.hits += gone.hits;
  total.leaves += gone.leaves;
  total.compile_milliseconds += gone.compile_milliseconds;
  const tracer::Coverage work = tracer::coverage();
  total.ops_compiled = work.compiled;
  total.ops_eager = work.eager;
  return total;
}

std::string explain() { return tracer::explain_text(); }

}  // namespace groove::jit
