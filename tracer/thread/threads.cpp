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

// See threads.h.
struct DeferredRelease {
  TensorImpl* impl;
  std::uint64_t time;
};

// A table, so that a number that is no session of ours finds at worst another context, which then
// says that it owes nothing.
struct Table {
  std::mutex mutex;
  std::condition_variable left;
  std::array<Context*, kContexts> contexts{};
  std::array<int, kContexts> visitors{};
  std::uint64_t used = 0;  // places from here on were never taken
  std::vector<DeferredRelease> deferred_releases;
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
}  // namespace

void settle_data(TensorImpl& impl) {
  const std::uint64_t owing = owing_session(impl);
  if (!is_another_threads(owing)) return;
  const Visit visit(owing);
  if (visit.context()) visit.context()->on_touch_from_outside(impl);
}

// Whoever is inside a context, or has the gradients' lock, waits for no other: what it uses was
// settled before.
void settle(TensorImpl& impl) {
  const std::uint64_t making = making_session(impl);
  if (is_another_threads(making) && !Context::is_inside_any() && !GradientLock::is_held()) {
    const Visit visit(making);
    if (visit.context() && (impl.is_pending || visit.context()->shows_results()))
      visit.context()->on_use_from_outside(impl);
    else
      forget_session(impl);
  }
  settle_data(impl);
}

void settle_writes(Storage& storage) {
  if (!(storage.flags & Storage::kOwed)) return;
  const std::uint64_t owing = storage.trace_session;
  if (!is_another_threads(owing) || Context::is_inside_any() || GradientLock::is_held()) return;
  const Visit visit(owing);
  if (visit.context()) visit.context()->on_read_from_outside(storage);
}

bool shares_reader_bit() { return contexts_used() > 64; }

void settle_readers(Storage& storage) {
  Context* const own = owned::context;
  std::uint64_t others = storage.readers;
  if (own) others &= ~reader_bit(own->index());
  // Whoever is inside a context waits for no other; what it writes was settled when the call that
  // writes it came. So were gradients before their lock was taken.
  if (others == 0 || Context::is_inside_any() || GradientLock::is_held()) return;
  if (has_fault(Fault::kReadersNotSettled)) return;
  for (std::uint64_t index = 0; index < contexts_used(); ++index) {
    if (!(others & reader_bit(index))) continue;
    const Visit visit(index);
    if (visit.context() && visit.context() != own) visit.context()->on_write_from_outside(storage);
  }
}

// ---- live-ins without a reference ----

namespace {

// With the table's lock: since when the oldest run that is under way has been.
std::uint64_t oldest_run(const Table& t) {
  std::uint64_t oldest = kNoRun;
  for (std::uint64_t index = 0; index < t.used; ++index)
    if (const Context* const context = t.contexts[index])
      oldest = std::min(oldest, context->run_began());
  return oldest;
}

// False when no run has it.
bool defer_release(TensorImpl& impl) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  const std::uint64_t time = deferred_releases::clock.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (oldest_run(t) >= time) return false;
  t.deferred_releases.push_back({&impl, time});
  impl.retain();
  deferred_releases::are_there.store(true, std::memory_order_relaxed);
  return true;
}

bool keep(TensorImpl& impl) {
  Context* const own = known_context();
  if (own && impl.borrower == borrower_of(own->index())) {
    const Context::Kept kept = own->keep(impl);
    if (kept != Context::Kept::kUnknown) return kept == Context::Kept::kYes;
  }
  return defer_release(impl);
}

[[maybe_unused]] const bool is_keep_registered = [] {
  pending_hooks().keep = keep;
  return true;
}();

}  // namespace

std::int32_t name_borrowed(TensorImpl& impl, std::uint16_t borrower) {
  constexpr std::int32_t kLastName = std::numeric_limits<std::int32_t>::max();
  static std::atomic<std::int32_t> names{0};
  const std::uint16_t before = impl.borrower;
  if (before == kManyBorrowers) return kNoName;
  if (before == borrower && impl.trace_id != kNoName) return impl.trace_id;
  if (borrower == kManyBorrowers ||
      (before != borrower && impl.borrower.set_if(0, borrower) != borrower)) {
    impl.borrower = kManyBorrowers;
    return kNoName;
  }
  // When there are no names left, whatever is new goes without.
  if (names.load(std::memory_order_relaxed) > kLastName / 2) return kNoName;
  const std::int32_t name = names.fetch_add(1, std::memory_order_relaxed);
  impl.trace_id = name;
  return name;
}

void deferred_releases::clear() {
  std::vector<TensorImpl*> over;
  {
    Table& t = table();
    const std::lock_guard lock(t.mutex);
    const std::uint64_t oldest = oldest_run(t);
    std::erase_if(t.deferred_releases, [&](const DeferredRelease& each) {
      if (each.time > oldest) return false;
      over.push_back(each.impl);
      return true;
    });
    are_there.store(!t.deferred_releases.empty(), std::memory_order_relaxed);
  }
  for (TensorImpl* const impl : over) {
    // Those of its runs are over, and without another reference no new one comes by it.
    if (impl->use_count() == 1) impl->borrower = 0;
    if (impl->release()) destroy(impl);
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
