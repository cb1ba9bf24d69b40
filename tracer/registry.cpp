#include "tracer/registry.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "kernels/pool.h"
#include "src/core/check.h"
#include "src/core/environment.h"
#include "tracer/report.h"

namespace groove {
namespace {

std::atomic<Compiler*> the_compiler{nullptr};

}  // namespace

void register_compiler(Compiler& compiler) { the_compiler.store(&compiler); }
Compiler* registered_compiler() { return the_compiler.load(); }

namespace tracer {
namespace {

constexpr std::size_t kVariants = 4;  // segments of one head
constexpr std::size_t kFilterWords = 64;

struct Registry {
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<std::uint64_t, std::vector<SegmentPtr>> by_head;
  std::vector<SegmentPtr> all;
  std::unordered_map<std::uint64_t, Recorder::Widened> widened;
  std::unordered_map<std::uint64_t, Recorder::Moving> moving;
  std::map<std::pair<std::string, Reason>, std::uint64_t> failures;
  std::deque<SegmentPtr> queue, promotions;
  bool is_compiling = false;
  bool has_thread = false;
  std::uint64_t next_id = 1;
};

// Never destroyed: exit() during a compilation must be clean.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

// A forked child has no compile thread; what its parent was compiling stays eager there.
[[maybe_unused]] const bool is_fork_handled = [] {
  pthread_atfork(nullptr, nullptr, [] {
    Registry& r = registry();
    r.has_thread = r.is_compiling = false;
    r.queue.clear();
    r.promotions.clear();
  });
  return true;
}();

// Segments hold the library objects they were recorded with (parameters, optimizer state). When
// nobody else holds one any more, its model is gone and the segment can never run again.
void drop_dead_segments(Registry& r) {
  std::unordered_map<const TensorImpl*, std::int64_t> held;
  for (const SegmentPtr& segment : r.all)
    for (Slot& slot : segment->slots) {
      if (segment->state.load() == State::kRetired) slot.recorded = Tensor();
      if (slot.recorded.defined()) ++held[slot.recorded.impl()];
    }
  const auto is_dead = [&held](const SegmentPtr& segment) {
    if (segment->state.load() != State::kArmed) return false;
    for (const Slot& slot : segment->slots)
      if (slot.recorded.defined() && slot.recorded.use_count() <= held[slot.recorded.impl()])
        return true;
    return false;
  };
  std::vector<SegmentPtr> dead;
  std::copy_if(r.all.begin(), r.all.end(), std::back_inserter(dead), is_dead);
  for (const SegmentPtr& segment : dead) {
    note_gone(*segment);
    segment->state.store(State::kRetired);
    auto& variants = r.by_head[segment->head];
    variants.erase(std::remove(variants.begin(), variants.end(), segment), variants.end());
    r.all.erase(std::remove(r.all.begin(), r.all.end(), segment), r.all.end());
  }
}

std::atomic<std::uint64_t> filter[kFilterWords];

void add_to_filter(std::uint64_t head) {
  filter[head >> 6 & (kFilterWords - 1)].fetch_or(1ull << (head & 63));
}

void compile(Segment& segment) {
  const TraceSpan span("compile", segment.id);
  const auto start = std::chrono::steady_clock::now();
  State result = State::kRetired;
  try {
    Compiler* const found = registered_compiler();
    GROOVE_CHECK(found != nullptr, "no compiler is linked into this program");
    segment.executable = found->compile(segment.graph);
    result = State::kArmed;
  } catch (const std::exception& error) {
    segment.failure = error.what();
    if (environment().logs("segments"))
      fmt::print(stderr, "groove: segment at {} stays eager: {}\n", segment.place, error.what());
  }
  segment.statistics.compile_milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  segment.state.store(result, std::memory_order_release);
}

void promote(Segment& segment) {
  if (segment.state.load() != State::kArmed) return;
  const TraceSpan span("promote", segment.id);
  segment.executable->promote();
}

void compile_loop() {
  sched_param priority{};
  sched_setscheduler(0, SCHED_BATCH, &priority);
  Registry& r = registry();
  std::unique_lock lock(r.mutex);
  for (;;) {
    r.changed.wait(lock, [&r] { return !r.queue.empty() || !r.promotions.empty(); });
    const bool is_new = !r.queue.empty();
    std::deque<SegmentPtr>& from = is_new ? r.queue : r.promotions;
    SegmentPtr segment = from.front();
    from.pop_front();
    r.is_compiling = true;
    lock.unlock();
    kernels::set_background_busy(true);
    if (is_new)
      compile(*segment);
    else
      promote(*segment);
    kernels::set_background_busy(false);
    segment.reset();
    lock.lock();
    r.is_compiling = !r.queue.empty() || !r.promotions.empty();
    r.changed.notify_all();
  }
}

void queue(Registry& r, std::deque<SegmentPtr>& into, const SegmentPtr& segment) {
  into.push_back(segment);
  r.is_compiling = true;
  if (!r.has_thread) {
    r.has_thread = true;
    std::thread(compile_loop).detach();
  }
  r.changed.notify_all();
}

}  // namespace

bool may_have_segment(std::uint64_t head) {
  return filter[head >> 6 & (kFilterWords - 1)].load(std::memory_order_relaxed) >> (head & 63) & 1;
}

std::vector<SegmentPtr> armed_segments(std::uint64_t head) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::vector<SegmentPtr> armed;
  if (const auto found = r.by_head.find(head); found != r.by_head.end())
    for (auto it = found->second.rbegin(); it != found->second.rend(); ++it)
      if ((*it)->state.load(std::memory_order_acquire) == State::kArmed) armed.push_back(*it);
  return armed;
}

bool wants_segment(std::uint64_t head) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto found = r.by_head.find(head);
  if (found == r.by_head.end()) return true;
  std::size_t count = 0;
  for (const SegmentPtr& segment : found->second) {
    if (segment->state.load() == State::kCompiling) return false;
    if (!segment->failure.empty()) return false;
    count += segment->state.load() == State::kArmed ? 1 : 0;
  }
  return count < kVariants;
}

void submit(SegmentPtr segment, bool is_synchronous) {
  Registry& r = registry();
  {
    const std::lock_guard lock(r.mutex);
    drop_dead_segments(r);
    segment->id = r.next_id++;
    r.by_head[segment->head].push_back(segment);
    r.all.push_back(segment);
    add_to_filter(segment->head);
    if (!is_synchronous) queue(r, r.queue, segment);
  }
  if (is_synchronous) compile(*segment);
}

void promote(SegmentPtr segment, bool is_synchronous) {
  if (is_synchronous) return promote(*segment);
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  queue(r, r.promotions, segment);
}

void retire(const SegmentPtr& segment) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  segment->state.store(State::kRetired);
  auto& variants = r.by_head[segment->head];
  variants.erase(std::remove(variants.begin(), variants.end(), segment), variants.end());
}

void wait_for_compiler() {
  Registry& r = registry();
  std::unique_lock lock(r.mutex);
  r.changed.wait(lock, [&r] { return !r.is_compiling && r.queue.empty() && r.promotions.empty(); });
}

void forget_all_segments() {
  wait_for_compiler();
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.by_head.clear();
  r.all.clear();
  r.widened.clear();
  r.moving.clear();
  r.failures.clear();
  for (auto& word : filter) word.store(0);
}

void add_widened(std::uint64_t head, const Recorder::Widened& outputs) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  Recorder::Widened& known = r.widened[head];
  for (const auto& output : outputs)
    if (std::find(known.begin(), known.end(), output) == known.end()) known.push_back(output);
}

Recorder::Widened widened(std::uint64_t head) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto found = r.widened.find(head);
  return found == r.widened.end() ? Recorder::Widened{} : found->second;
}

void add_moving(std::uint64_t head, std::size_t word) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  Recorder::Moving& known = r.moving[head];
  known.are_all = !known.words.empty() && !known.contains(word);
  known.words.push_back(word);
}

Recorder::Moving moving(std::uint64_t head) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto found = r.moving.find(head);
  return found == r.moving.end() ? Recorder::Moving{} : found->second;
}

void count_failure(const std::string& place, Reason reason) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  ++r.failures[{place, reason}];
}

std::vector<SegmentPtr> all_segments() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return r.all;
}

std::vector<Failure> all_failures() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::vector<Failure> all;
  for (const auto& [key, count] : r.failures) all.push_back({key.first, key.second, count});
  return all;
}

}  // namespace tracer
}  // namespace groove
