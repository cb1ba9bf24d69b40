#include "tracer/cache/registry.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "groove/jit.h"
#include "kernels/pool.h"
#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/fork.h"
#include "src/core/trace.h"
#include "tracer/cache/budget.h"
#include "tracer/cache/paths.h"
#include "tracer/cache/shared_locks.h"
#include "tracer/cache/symbolic_table.h"
#include "tracer/calls/stretch.h"
#include "tracer/tell/report.h"
#include "tracer/thread/beside.h"
#include "tracer/watch/investment.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove {
namespace {

std::atomic<Compiler*> the_compiler{nullptr};

}  // namespace

void register_compiler(Compiler& compiler) { the_compiler.store(&compiler); }
Compiler* registered_compiler() { return the_compiler.load(); }

namespace tracer {
namespace {

constexpr int kMostTries = 3;  // to compile what could not be compiled
// What was slower than eager mode may have been disturbed whenever it was timed: that counts for so
// many, so that it is tried once more.
constexpr int kTriesOfLoss = 2;
constexpr std::size_t kMostRetired = 64;
constexpr std::chrono::milliseconds kLongestClaim{500};

struct Registry {
  std::mutex mutex;
  Paths paths;
  std::vector<SegmentPtr> all;
  std::vector<std::weak_ptr<Segment>> programs;       // that are no loops; their users own them
  std::unordered_map<std::uint64_t, int> uncompiled;  // what failed, and how often
  // Heads that some thread is recording, and since when.
  std::unordered_map<std::uint64_t, std::chrono::steady_clock::time_point> recorded;
  std::uint64_t next_id = 1;
  Gone gone;
  std::size_t room = 0, room_is_of = 0;  // for programs to come, of so many bytes that all may have
};

// Never destroyed: exit() during a compilation must be clean.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

// Held shared while something compiles. Compilers have locks of their own, so a child must begin
// between two compilations.
std::shared_mutex& compiling() {
  static std::shared_mutex& instance = *new std::shared_mutex;
  return instance;
}

void before_fork() {
  compiling().lock();
  registry().mutex.lock();
  speculation_feedback_mutex().lock();
  symbolic_table_mutex().lock();
  symbolic_locks().lock();
  history_locks().lock();
  profile_locks().lock();
}
void unlock_after_fork() {
  profile_locks().unlock();
  history_locks().unlock();
  symbolic_locks().unlock();
  symbolic_table_mutex().unlock();
  speculation_feedback_mutex().unlock();
  registry().mutex.unlock();
}
void after_fork_in_parent() {
  unlock_after_fork();
  compiling().unlock();
}
// What its parent was to compile stays eager in a child (beside.h).
void after_fork_in_child() {
  registry().recorded.clear();
  investment().go_on_in_child();
  unlock_after_fork();
  unlock_in_child(compiling());
}

[[maybe_unused]] const bool is_fork_handled =
    at_fork(ForkRank::kTracer, before_fork, after_fork_in_parent, after_fork_in_child);

std::atomic<std::uint64_t> retired{0};

void note_paths_changed() { path_changes.fetch_add(1, std::memory_order_release); }

// Replays that are under way go on; no new one begins.
void take_out(Registry& r, const SegmentPtr& segment, const char* why) {
  segment->end.store(why);
  segment->state.store(State::kRetired);
  if (segment->calls.empty()) return;
  r.paths.remove(*segment);
  note_paths_changed();
  retired.fetch_add(1, std::memory_order_relaxed);
}

// Of segments that are no more, some are kept for the report.
void drop_old_retired(Registry& r) {
  auto count = static_cast<std::size_t>(std::count_if(
      r.all.begin(), r.all.end(),
      [](const SegmentPtr& segment) { return segment->state.load() == State::kRetired; }));
  std::erase_if(r.all, [&](const SegmentPtr& segment) {
    if (count <= kMostRetired || segment->state.load() != State::kRetired) return false;
    --count;
    r.gone.hits += segment->statistics.hits;
    r.gone.leaves += segment->statistics.leaves;
    r.gone.compile_milliseconds += segment->statistics.compile_milliseconds;
    note_gone(*segment);
    return true;
  });
}

// What a segment is made of, for telling one from another.
std::uint64_t content_of(const Segment& segment) {
  std::uint64_t content = segment.head;
  for (std::size_t at = 0; at < segment.calls.size(); ++at)
    content = (content ^ key_of(segment, at)) * 0x9e3779b97f4a7c15u;
  return content;
}

std::vector<SegmentPtr> armed(std::vector<SegmentPtr> segments) {
  std::erase_if(segments, [](const SegmentPtr& segment) { return !segment->is_armed(); });
  return segments;
}

void add_to_filter(std::uint64_t head) {
  head_filter[head >> 6 & 63].fetch_or(1ull << (head & 63));
}

void compile(Segment& segment) {
  const std::shared_lock compiles(compiling());
  const TraceSpan span("compile", segment.id);
  const auto start = std::chrono::steady_clock::now();
  State result = State::kRetired;
  try {
    Compiler* const found = registered_compiler();
    GROOVE_CHECK(found != nullptr, "no compiler is linked into this program");
    if (const auto make = std::exchange(segment.make_graph, nullptr)) make(segment.graph);
    // What has no calls may be a function of control flow, which eager mode runs as well.
    const bool is_fast = jit::numerics() == jit::Numerics::kFast && !segment.calls.empty();
    const auto make_executable = std::exchange(segment.make_executable, nullptr);
    segment.executable = make_executable ? make_executable(*found, segment)
                         : is_fast       ? found->compile_fast(segment.graph)
                                         : found->compile(segment.graph);
    result = State::kArmed;
  } catch (const std::exception& error) {
    segment.failure = error.what();
    count_failure(segment.source, Reason::kCompileFailed, error.what());
    if (environment().logs("segments"))
      fmt::print(stderr, "groove: segment at {} stays eager: {}\n", segment.source, error.what());
  }
  segment.statistics.compile_milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  segment.state.store(result, std::memory_order_release);
  note_paths_changed();
}

// Does every run of the other go through as a run of the segment, which has the same calls?
bool replaces(const Segment& segment, const Segment& other) {
  const auto has = [&](const StageEnd& wanted) {
    return std::any_of(
        segment.stage_ends.begin(), segment.stage_ends.end(),
        [&](const StageEnd& end) { return end.after == wanted.after && end.slot == wanted.slot; });
  };
  if (!std::all_of(other.stage_ends.begin(), other.stage_ends.end(), has)) return false;
  // What the program keeps of the one, it gets of the other as well.
  const auto is_given = [](const StorageInfo& info) {
    return info.output >= 0 || info.early_output >= 0;
  };
  for (std::size_t s = 0; s < other.storages.size(); ++s)
    if (is_given(other.storages[s]) &&
        (s >= segment.storages.size() || !is_given(segment.storages[s])))
      return false;
  return true;
}

// Of all that there is, what is worth least goes until the rest fits beside `kept`.
void drop_least_valuable(Registry& r, const Segment& kept) {
  std::vector<SegmentPtr> known = r.all;
  for (const std::weak_ptr<Segment>& program : r.programs)
    if (SegmentPtr alive = program.lock()) known.push_back(std::move(alive));
  r.room_is_of = cache_bytes();
  for (const SegmentPtr& other : over_budget(known, kept, r.room)) {
    if (environment().logs("segments"))
      fmt::print(stderr, "groove: {} at {} is dropped: the memory of compiled loops is full\n",
                 other->calls.empty() ? "a program" : "segment", other->source);
    take_out(r, other, "dropped, the memory for compiled loops being full");
  }
}

// Makes room for what was compiled last. Counting what all take is much work where there are very
// many, so it is not done for each.
void make_room(Registry& r, const Segment& kept) {
  std::erase_if(r.programs, [](const std::weak_ptr<Segment>& program) {
    const SegmentPtr alive = program.lock();
    return !alive || alive->state.load() == State::kRetired;
  });
  const std::size_t bytes = bytes_of(kept);
  if (r.room_is_of == cache_bytes() && bytes <= r.room)
    r.room -= bytes;
  else
    drop_least_valuable(r, kept);
  drop_old_retired(r);
}

// A segment that could not be compiled leaves the paths; the same again is tried a few times. One
// that could be takes the place of those that it covers.
void compile_and_note(const SegmentPtr& segment) {
  compile(*segment);
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (segment->calls.empty()) {
    if (!segment->is_armed()) return;
    r.programs.push_back(segment);
    return make_room(r, *segment);
  }
  if (!segment->is_armed()) {
    ++r.uncompiled[content_of(*segment)];
    r.paths.remove(*segment);
    return;
  }
  if (segment->path.empty()) return;  // forgotten meanwhile
  for (const SegmentPtr& other : r.paths.ending(segment->path.back()))
    if (other != segment && other->is_armed() && replaces(*segment, *other))
      take_out(r, other, "replaced by a segment that does the same and more");
  make_room(r, *segment);
}

// The same segment with another program takes its place; runs under way end as they began.
void replace_by_full(const SegmentPtr& segment) {
  const auto full = std::make_shared<Segment>();
  static_cast<SegmentContent&>(*full) = *segment;
  full->make_executable = [](Compiler& compiler, Segment& own) {
    return compiler.compile_fully(own.graph);
  };
  Registry& r = registry();
  {
    const std::lock_guard lock(r.mutex);
    if (!segment->is_armed()) return;
    full->id = r.next_id++;
    r.paths.add(full);
    r.all.push_back(full);
    note_paths_changed();
  }
  compile_and_note(full);
}

void promote_now(const SegmentPtr& segment) {
  if (!segment->is_armed()) return;
  if (segment->executable->is_quick()) {
    // Backwards and functions of control flow are no paths: they stay as they are.
    if (!segment->calls.empty() && !segment->original) replace_by_full(segment);
    return;
  }
  const std::shared_lock compiles(compiling());
  const TraceSpan span("promote", segment->id);
  segment->executable->promote();
}

// Programs may be asked for again.
void give_up(const SegmentPtr& segment) {
  if (segment->calls.empty() && segment->state.load() == State::kCompiling)
    segment->state.store(State::kRetired);
}

// Compiles or promotes it beside the program; what that takes is spent.
void run_beside(Task kind, const SegmentPtr& segment) {
  const auto work = [segment, is_new = kind == Task::kCompile] {
    const std::int64_t begin = thread_time();
    drop_retired_symbolic_segments();
    is_new ? compile_and_note(segment) : promote_now(segment);
    // What has no calls is no loop, of whatever it is made.
    const bool is_loop = is_new && !segment->calls.empty();
    investment().settle(is_new ? segment->advanced : 0, is_loop ? operators_of(*segment) : 0,
                        thread_time() - begin);
  };
  run_beside(kind, work, [segment] { give_up(segment); });
}

}  // namespace

namespace {

bool wants_segment(Registry& r, std::uint64_t head) {
  // A thread that does not go on with its loop keeps nobody waiting for ever.
  if (const auto found = r.recorded.find(head);
      found != r.recorded.end() && std::chrono::steady_clock::now() - found->second < kLongestClaim)
    return false;
  const std::vector<SegmentPtr>& known = r.paths.of_head(head);
  return std::none_of(known.begin(), known.end(), [](const SegmentPtr& segment) {
    return segment->state.load() == State::kCompiling;
  });
}

// … and is it of the same types?
bool covers(const Segment& known, const Segment& segment) {
  if (known.slots.size() != segment.slots.size() || !replaces(known, segment)) return false;
  for (std::size_t id = 0; id < known.slots.size(); ++id) {
    const Slot &a = known.slots[id], &b = segment.slots[id];
    if (!(a.type == b.type) || !(a.strides == b.strides)) return false;
  }
  return true;
}

}  // namespace

bool wants_segment(std::uint64_t head) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return wants_segment(r, head);
}

bool claim_recording(std::uint64_t head) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (!wants_segment(r, head)) return false;
  r.recorded[head] = std::chrono::steady_clock::now();
  return true;
}

void release_recording(std::uint64_t head) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.recorded.erase(head);
}

std::vector<SegmentPtr> armed_starting(std::uint64_t head, std::uint64_t key) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return armed(r.paths.starting(head, key));
}

std::vector<SegmentPtr> armed_continuing(std::uint64_t path_node, std::uint64_t key) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return armed(r.paths.continuing(path_node, key));
}

std::vector<SegmentPtr> armed_reading(std::uint64_t path_node, std::int32_t storage) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return armed(r.paths.reading(path_node, storage));
}

std::vector<SegmentPtr> armed_ending(std::uint64_t path_node) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return armed(r.paths.ending(path_node));
}

std::vector<SegmentPtr> armed_through(const Segment& segment, std::size_t calls) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::vector<SegmentPtr> through = armed(r.paths.of_head(segment.head));
  std::erase_if(through, [&](const SegmentPtr& other) {
    return calls >= other->path.size() || other->path[calls] != segment.path[calls];
  });
  return through;
}

void note_taken(const SegmentPtr& segment) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (r.paths.note_taken(*segment)) note_paths_changed();
}

void note_left(const SegmentPtr& segment) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (r.paths.note_left(*segment)) note_paths_changed();
}

bool submit(SegmentPtr segment, bool is_synchronous) {
  Registry& r = registry();
  const std::uint64_t content = content_of(*segment);
  {
    const std::lock_guard lock(r.mutex);
    if (const auto failed = r.uncompiled.find(content);
        failed != r.uncompiled.end() && failed->second >= kMostTries) {
      segment->state.store(State::kRetired);
      return false;
    }
    for (const SegmentPtr& known : r.paths.of_head(segment->head))
      if (known->state.load() != State::kRetired && content_of(*known) == content &&
          covers(*known, *segment)) {
        segment->state.store(State::kRetired);  // another thread has recorded it
        return true;
      }
    // Another thread has seen meanwhile that it would not do.
    if (is_outdated(*segment)) {
      segment->state.store(State::kRetired);
      return true;
    }
    segment->id = r.next_id++;
    r.paths.add(segment);
    r.all.push_back(segment);
    note_paths_changed();
    add_to_filter(segment->head);
    if (!is_synchronous) {
      segment->advanced = investment().advance(operators_of(*segment));
      run_beside(Task::kCompile, segment);
    }
  }
  if (is_synchronous) {
    drop_retired_symbolic_segments();
    compile_and_note(segment);
  }
  return true;
}

void adopt(const SegmentPtr& segment) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  segment->id = r.next_id++;
  r.paths.set_apart(*segment);
  r.all.push_back(segment);
  add_to_filter(segment->head);
  segment->state.store(State::kArmed, std::memory_order_release);
  make_room(r, *segment);
}

bool has_armed(std::uint64_t head, std::uint64_t order, std::size_t length) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto& known = r.paths.of_head(head);
  return std::any_of(known.begin(), known.end(), [&](const SegmentPtr& segment) {
    return segment->is_armed() && segment->calls.size() == length &&
           segment->order_of_calls() == order;
  });
}

SegmentPtr armed_of_head(std::uint64_t head) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const SegmentPtr& segment : r.paths.of_head(head))
    if (segment->is_armed()) return segment;
  return nullptr;
}

std::shared_ptr<Executable> program_of_many_sizes(Compiler& compiler, Segment& program) {
  return compiler.compile_for_many_sizes(std::exchange(program.graph, Graph()));
}

void compile_program(const SegmentPtr& program, bool is_synchronous) {
  is_synchronous ? compile_and_note(program) : run_beside(Task::kCompile, program);
}

void promote(SegmentPtr segment, bool is_synchronous) {
  if (is_synchronous) return promote_now(segment);
  run_beside(Task::kPromote, segment);
}

void retire(const SegmentPtr& segment, const char* why) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  take_out(r, segment, why);
}

void let_go(const SegmentPtr& segment) {
  Registry& r = registry();
  const std::uint64_t content = content_of(*segment);
  const std::lock_guard lock(r.mutex);
  if (!segment->is_armed()) return;
  take_out(r, segment, "let go: no faster than eager mode");
  r.uncompiled[content] += kTriesOfLoss;
  segment->is_let_go.store(true, std::memory_order_relaxed);
}

std::uint64_t retirements() { return retired.load(std::memory_order_relaxed); }

void forget_all_segments() {
  wait_for_compiler();
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.paths.clear();
  note_paths_changed();
  r.all.clear();
  r.uncompiled.clear();
  forget_speculation_feedback();
  forget_all_symbolic_segments();
  forget_gone();
  if (Compiler* const compiler = registered_compiler()) compiler->forget();
  r.gone = {};
  for (auto& call : head_filter) call.store(0);
}

Gone gone_segments() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return r.gone;
}

std::vector<SegmentPtr> all_segments() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return r.all;
}

}  // namespace tracer
}  // namespace groove
