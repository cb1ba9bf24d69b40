#include "tracer/thread/beside.h"

#include <sched.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "kernels/pool.h"
#include "src/core/fork.h"
#include "src/core/trace.h"

namespace groove::tracer {
namespace {

constexpr auto kTasks = static_cast<std::size_t>(Task::kCount);

struct Queued {
  std::function<void()> run, give_up;
};

struct Beside {
  std::mutex mutex;
  std::condition_variable changed;
  std::array<std::deque<Queued>, kTasks> queues;  // [kind]
  std::optional<Queued> current;
  std::size_t busy_with = kTasks;  // its kind, until it is gone
  bool has_thread = false;
  int asked_on = -1;  // the core of the thread that asked last
};

// Never destroyed: exit() during a task must be clean.
Beside& beside() {
  static Beside& instance = *new Beside;
  return instance;
}

int tasks_of(const Beside& b, Task kind) {
  const auto index = static_cast<std::size_t>(kind);
  return static_cast<int>(b.queues[index].size()) + (b.busy_with == index ? 1 : 0);
}

[[maybe_unused]] const bool is_fork_handled = at_fork(
    ForkRank::kTracerTables, [] { beside().mutex.lock(); }, [] { beside().mutex.unlock(); },
    [] {
      Beside& b = beside();
      new (&b.changed) std::condition_variable;  // the old one may have waiters, who are gone
      b.has_thread = false;
      if (b.current) b.current->give_up();
      for (const std::deque<Queued>& queue : b.queues)
        for (const Queued& task : queue) task.give_up();
      // They stay, since what they hold may need locks that are held now.
      new auto(std::move(b.queues));
      new auto(std::move(b.current));
      b.queues = {};
      b.current.reset();
      b.busy_with = kTasks;
      kernels::set_background_busy(false);
      b.mutex.unlock();
    });

std::size_t most_urgent(const Beside& b) {
  std::size_t kind = 0;
  while (kind < kTasks && b.queues[kind].empty()) ++kind;
  return kind;
}

void work() {
  name_thread("groove beside");
  // Its share of the time is bounded (investment.h); that it gets, also where every core is busy.
  sched_param priority{};
  sched_setscheduler(0, SCHED_BATCH, &priority);
  Beside& b = beside();
  std::unique_lock lock(b.mutex);
  for (;;) {
    b.changed.wait(lock, [&b] { return most_urgent(b) < kTasks; });
    b.busy_with = most_urgent(b);
    b.current = std::move(b.queues[b.busy_with].front());
    b.queues[b.busy_with].pop_front();
    const int core = b.asked_on;
    lock.unlock();
    kernels::leave_core(core);
    kernels::set_background_busy(true);
    b.current->run();
    kernels::set_background_busy(false);
    lock.lock();
    std::optional<Queued> done = std::exchange(b.current, std::nullopt);
    lock.unlock();
    done.reset();  // what it holds may have locks to take
    lock.lock();
    b.busy_with = kTasks;
    b.changed.notify_all();
  }
}

}  // namespace

void run_beside(Task kind, std::function<void()> task, std::function<void()> give_up) {
  Beside& b = beside();
  const std::lock_guard lock(b.mutex);
  b.queues[static_cast<std::size_t>(kind)].push_back({std::move(task), std::move(give_up)});
  b.asked_on = kernels::core_of_thread();
  if (!b.has_thread) {
    b.has_thread = true;
    std::thread(work).detach();
  }
  b.changed.notify_all();
}

int tasks_beside(Task kind) {
  Beside& b = beside();
  const std::lock_guard lock(b.mutex);
  return tasks_of(b, kind);
}

void wait_for_compiler() {
  Beside& b = beside();
  std::unique_lock lock(b.mutex);
  b.changed.wait(lock,
                 [&b] { return tasks_of(b, Task::kCompile) + tasks_of(b, Task::kPromote) == 0; });
}

}  // namespace groove::tracer
