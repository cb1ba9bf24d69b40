#include "tracer/threads.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "tracer/context.h"

namespace groove::tracer {
namespace {

// A table, so that a number that is no session of ours finds at worst another context, which then
// says that it owes nothing.
struct Table {
  std::mutex mutex;
  std::condition_variable left;
  std::array<Context*, kPlaces> contexts{};
  std::array<int, kPlaces> visitors{};
  std::uint64_t used = 0;  // places from here on were never taken
};

// Never destroyed: threads may end after main has.
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

std::atomic<std::uint64_t> sessions{0};

constinit thread_local bool is_thread_ending = false;

// What is pending is committed when a thread ends; others may be looking at it.
struct ThreadEnd {
  ~ThreadEnd() {
    is_thread_ending = true;
    Context* const context = owned::context;
    if (!context) return;
    context->end();
    owned::context = nullptr;
    Table& t = table();
    {
      std::unique_lock lock(t.mutex);
      t.contexts[context->place()] = nullptr;
      t.left.wait(lock, [&] { return t.visitors[context->place()] == 0; });
    }
    if (!context->is_running()) delete context;  // exit() was called from inside it
  }
};

Context* make_context() {
  static thread_local ThreadEnd at_end;
  (void)at_end;
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  std::uint64_t place = 0;
  while (place < t.used && (t.contexts[place] || t.visitors[place] > 0)) ++place;
  if (place == kPlaces) return nullptr;
  if (place == t.used) ++t.used;
  owned::context = new Context(place);
  t.contexts[place] = owned::context;
  return owned::context;
}

// A child of fork() has this thread only. What others were doing at that moment stays undone; what
// they merely owed, the child can still make.
[[maybe_unused]] const bool is_fork_handled = [] {
  pthread_atfork([] { table().mutex.lock(); }, [] { table().mutex.unlock(); },
                 [] {
                   Table& t = table();
                   for (std::uint64_t place = 0; place < t.used; ++place) {
                     t.visitors[place] = 0;
                     Context* const context = t.contexts[place];
                     if (context && context != owned::context && context->is_held())
                       t.contexts[place] = nullptr;
                   }
                   t.mutex.unlock();
                 });
  return true;
}();

}  // namespace

Context* owned::make_context() { return is_thread_ending ? nullptr : tracer::make_context(); }

std::uint64_t new_session(const Context& context) {
  return (sessions.fetch_add(1, std::memory_order_relaxed) + 1) << kPlaceBits | context.place();
}

void settle(TensorImpl& impl) {
  const std::uint64_t owing = owing_session(impl);
  if (owing == 0 || (owned::context && have_one_owner(owing, owned::context->place()))) return;
  const Visit visit(owing);
  if (visit.context()) visit.context()->on_touch_from_outside(impl);
}

Visit::Visit(std::uint64_t session) {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  context_ = t.contexts[session & (kPlaces - 1)];
  if (context_) ++t.visitors[context_->place()];
}

Visit::~Visit() {
  if (!context_) return;
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  if (--t.visitors[context_->place()] == 0) t.left.notify_all();
}

}  // namespace groove::tracer
