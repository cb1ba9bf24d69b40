#include "tracer/tell/coverage.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "src/core/autograd_meta.h"
#include "src/core/check.h"
#include "src/core/clock.h"
#include "src/core/fork.h"
#include "src/core/thread_end.h"

namespace groove::tracer {
namespace {

// Never destroyed: ops may run from other static destructors.
struct Tallies {
  std::mutex mutex;
  std::vector<const Tally*> live;
  Coverage ended;  // of threads that are gone
  std::map<std::tuple<std::string, std::uint32_t, std::string>, std::uint64_t> sources;
};
Tallies& tallies() {
  static Tallies& all = *new Tallies;
  return all;
}

[[maybe_unused]] const bool is_fork_handled = hold_over_fork(
    ForkRank::kTracerTables, []() -> auto& { return tallies().mutex; });

void add(Coverage& total, const Tally& tally) {
  total.compiled += tally.compiled.load(std::memory_order_relaxed);
  total.eager += tally.eager.load(std::memory_order_relaxed);
  total.compiled_nanoseconds += tally.compiled_nanoseconds.load(std::memory_order_relaxed);
}

// What still runs on this thread makes another one, which stays.
void end_tally() {
  Tallies& all = tallies();
  const std::lock_guard lock(all.mutex);
  add(all.ended, *counting::tally);
  all.live.erase(std::find(all.live.begin(), all.live.end(), counting::tally));
  delete std::exchange(counting::tally, nullptr);
}

}  // namespace

bool is_seen_through(const Call& call) {
  if (call.op->kind != OpKind::kComposite || call.op->gradient || !grad_enabled()) return false;
  for (const Tensor& input : call.inputs)
    if (input.defined() && input.impl()->requires_grad) return true;
  return false;
}

namespace counting {

Tally& make_tally() {
  at_thread_end(ThreadEndRank::kTallies, end_tally);
  Tallies& all = tallies();
  const std::lock_guard lock(all.mutex);
  tally = new Tally;
  all.live.push_back(tally);
  return *tally;
}

void count_source(const Call& call) {
  const Site site = user_site(call.site);
  Tallies& all = tallies();
  const std::lock_guard lock(all.mutex);
  ++all.sources[{site.file_name(), site.line(), call.op->name}];
}

void run_composite(const Call& call, Tensor* outputs) {
  Tally& mine = tracer::tally();
  if (mine.uncounted > 0 || is_seen_through(call))
    return dispatch_below(DispatchLayer::kTracer, call, outputs);
  Tally::add(mine.eager, 1);
  if (is_detailed.load(std::memory_order_relaxed)) count_source(call);
  const Uncounted parts;
  dispatch_below(DispatchLayer::kTracer, call, outputs);
}

}  // namespace counting

CompiledTime::CompiledTime()
    : start_(counting::is_detailed.load(std::memory_order_relaxed) ? thread_time() : -1) {}

CompiledTime::~CompiledTime() {
  if (start_ < 0) return;
  Tally::add(tally().compiled_nanoseconds, static_cast<std::uint64_t>(thread_time() - start_));
}

Coverage coverage() {
  Tallies& all = tallies();
  const std::lock_guard lock(all.mutex);
  Coverage total = all.ended;
  for (const Tally* each : all.live) add(total, *each);
  return total;
}

void count_details(bool is_on) {
  Tallies& all = tallies();
  const std::lock_guard lock(all.mutex);
  if (is_on) all.sources.clear();
  counting::is_detailed.store(is_on, std::memory_order_relaxed);
}

std::vector<EagerCalls> eager_calls() {
  Tallies& all = tallies();
  const std::lock_guard lock(all.mutex);
  std::vector<EagerCalls> sources;
  for (const auto& [key, count] : all.sources) {
    const auto& [file, line, op] = key;
    sources.push_back({fmt::format("{}:{} {}", file.substr(file.rfind('/') + 1), line, op), count});
  }
  std::stable_sort(sources.begin(), sources.end(),
                   [](const EagerCalls& a, const EagerCalls& b) { return a.count > b.count; });
  return sources;
}

}  // namespace groove::tracer
