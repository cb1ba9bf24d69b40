#include "tracer/thread/threads.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <vector>

#include "src/core/faults.h"
#include "src/core/fork.h"
#include "src/core/gradient_lock.h"
#include "src/core/thread_end.h"
#include "tracer/thread/context.h"

namespace groove::tracer {
namespace {

// A table, so that a number that is no session of ours finds at worst another context, which then
// says that it owes nothing.
struct Table {
  // Large, and in memory that costs nothing before it is used.
  static inline constinit std::array<Context*, kContexts> contexts{};
  static inline constinit std::array<int, kContexts> visitors{};

  std::mutex mutex;
  std::condition_variable left;
  std::uint64_t used = 0;  // from here on none was ever taken
};

// Never destroyed: threads may end after main has.
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

std::uint64_t contexts_used() {
  const std::lock_guard lock(table().mutex);
  return table().used;
}

std::atomic<std::uint64_t> sessions{0};

constinit thread_local bool is_thread_ending = false;

// What is pending is committed when a thread ends; others may be looking at it.
void end_context() {
  is_thread_ending = true;
  Context* const context = owned::context;
  if (!context) return;
  context->end();
  owned::context = nullptr;
  Table& t = table();
  {
    std::unique_lock lock(t.mutex);
    t.contexts[context->index()] = nullptr;
    t.left.wait(lock, [&] { return t.visitors[context->index()] == 0; });
  }
  if (!context->is_running()) delete context;  // exit() was called from inside it
}

Context* make_context() {
  at_thread_end(ThreadEndRank::kTracer, end_context);
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  std::uint64_t index = 0;
  while (index < t.used && (t.contexts[index] || t.visitors[index] > 0)) ++index;
  if (index == kContexts) return nullptr;
  if (index == t.used) ++t.used;
  owned::context = new Context(index);
  t.contexts[index] = owned::context;
  return owned::context;
}

// A child of fork() has this thread only. What others were doing at that moment stays undone; what
// they merely owed, the child can still make.
[[maybe_unused]] const bool is_fork_handled = at_fork(
    ForkRank::kTracerTables, [] { table().mutex.lock(); }, [] { table().mutex.unlock(); },
    [] {
      Table& t = table();
      for (std::uint64_t index = 0; index < t.used; ++index) {
        t.visitors[index] = 0;
        Context* const context = t.contexts[index];
        if (context && context != owned::context && context->is_held()) t.contexts[index] = nullptr;
      }
      t.mutex.unlock();
    });

}  // namespace

Context* owned::make_context() { return is_thread_ending ? nullptr : tracer::make_context(); }

std::uint64_t new_session(const Context& context, SessionOf what) {
  const std::uint64_t number = sessions.fetch_add(1, std::memory_order_relaxed) + 1;
  return number << (kContextBits + 1) | (what == SessionOf::kRuns ? kContexts : 0) |
         context.index();
}

namespace {
bool is_another_threads(std::uint64_t session) {
  return session != 0 && !(owned::context && have_one_owner(session, owned::context->index()));
}

// Whoever is inside a context, or has the gradients' lock, waits for no other: what it uses was
// settled before, what it writes when the call that writes it came.
bool may_wait() { return !Context::is_inside_any() && !GradientLock::is_held(); }
}  // namespace

// What is there already may run again: whoever looks waits until that is over.
void settle_data(TensorImpl& impl) {
  const std::uint64_t owing = owing_session(impl);
  const std::uint64_t session = owing != 0 || !may_wait() ? owing : making_session(impl);
  if (!is_another_threads(session)) return;
  const Visit visit(session);
  if (visit.context() && (owing != 0 || visit.context()->shows_results()))
    visit.context()->on_touch_from_outside(impl);
}

void settle(TensorImpl& impl) {
  const std::uint64_t making = making_session(impl);
  if (is_another_threads(making) && may_wait()) {
    const Visit visit(making);
    if (visit.context() && (impl.is_pending || visit.context()->shows_results()))
      visit.context()->on_use_from_outside(impl);
    else
      forget_session(impl);
  }
  settle_data(impl);
  if (flagging_session(impl) != 0) settle_changes(impl);
}

void settle_changes(TensorImpl& leaf) {
  const AutogradMeta* const meta = leaf.autograd;
  const std::uint64_t session = meta ? meta->changed_by.get() : 0;
  if (!is_another_threads(session) || !may_wait()) return;
  const Visit visit(session);
  if (visit.context())
    visit.context()->on_gradient_from_outside(leaf);
  else
    end_changes(leaf, session);
}

void settle_writes(Storage& storage) {
  if (!(storage.flags & Storage::kNotThere)) return;
  const std::uint64_t owing = storage.trace_session;
  if (!is_another_threads(owing) || !may_wait()) return;
  const Visit visit(owing);
  if (visit.context()) visit.context()->on_read_from_outside(storage);
}

bool shares_reader_bit() { return contexts_used() > 64; }

void settle_readers(Storage& storage) {
  Context* const own = owned::context;
  std::uint64_t others = storage.readers;
  if (own) others &= ~reader_bit(own->index());
  if (others == 0 || !may_wait()) return;
  if (has_fault(Fault::kReadersNotSettled)) return;
  for (std::uint64_t index = 0; index < contexts_used(); ++index) {
    if (!(others & reader_bit(index))) continue;
    const Visit visit(index);
    if (visit.context() && visit.context() != own) visit.context()->on_write_from_outside(storage);
  }
}

Visit::Visit(std::uint64_t session) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  context_ = t.contexts[session & (kContexts - 1)];
  if (context_) ++t.visitors[context_->index()];
}

Visit::~Visit() {
  if (!context_) return;
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  if (--t.visitors[context_->index()] == 0) t.left.notify_all();
}

}  // namespace groove::tracer
