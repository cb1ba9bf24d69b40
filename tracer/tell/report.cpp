#include "tracer/tell/report.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/fork.h"
#include "tracer/cache/registry.h"
#include "tracer/cache/symbolic_segment.h"
#include "tracer/tell/coverage.h"
#include "tracer/tell/inspect.h"
#include "tracer/watch/investment.h"
#include "tracer/watch/savings.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove::tracer {
namespace {

using nlohmann::json;

// A live-in, the line that uses it first, and what is compared before compiled code may run.
json inputs_of(const Segment& segment) {
  std::vector<const RecordedCall*> users(segment.slots.size(), nullptr);
  for (auto call = segment.calls.rbegin(); call != segment.calls.rend(); ++call) {
    for (const SlotId id : call->nested_live_ins) users[static_cast<std::size_t>(id)] = &*call;
    for (const SlotId id : call->inputs)
      if (id != kNoSlot) users[static_cast<std::size_t>(id)] = &*call;
  }
  json rows = json::array();
  for (const GuardedInput& input : guarded_inputs(segment)) {
    const RecordedCall* const user = users[static_cast<std::size_t>(input.slot)];
    rows.push_back({{"name", input.name},
                    {"type", input.type},
                    {"used_by", user ? describe(*user) : std::string()}});
  }
  return rows;
}

json to_json(const Segment& segment, const Exit& exit) {
  const auto at = static_cast<std::size_t>(exit.call);
  json row = {{"reason", name(exit.reason)},    {"text", text(exit.reason)},
              {"advice", advice(exit.reason)},  {"count", exit.count},
              {"lost_milliseconds", exit.lost}, {"matched_calls", exit.call}};
  if (at < segment.calls.size() && !exit.came.empty()) {
    row["expected"] = with_input(describe(segment.calls[at]), exit.expected_input);
    row["came"] = with_input(exit.came, exit.came_input);
  } else if (at > 0) {
    row["after"] = describe(segment.calls[at - 1]);
  }
  return row;
}

json to_json(const Segment& segment) {
  const State state = segment.state.load(std::memory_order_acquire);
  const Statistics& s = segment.statistics;
  const std::uint64_t hits = s.hits, leaves = s.leaves;
  const double compiled = segment.profile.compiled();
  const double of_loop = segment.loop->speedup.load(std::memory_order_relaxed);
  const bool is_tried = segment.profile.speedup() > 0;
  const double eager = is_tried || of_loop == 0 ? segment.profile.eager() : compiled * of_loop;
  double lost = 0;
  json exits = json::array();
  for (const Exit& exit : segment.profile.exits()) {
    lost += exit.lost;
    exits.push_back(to_json(segment, exit));
  }
  json row = {{"id", segment.id},
              {"source", segment.source},
              {"state", state == State::kRetired ? segment.end.load() : state_name(state)},
              {"calls", segment.calls.size()},
              {"stages", segment.stages},
              {"live_ins", segment.live_ins.size()},
              {"outputs", segment.graph.outputs.size()},
              {"iterations_compiled", hits},
              {"iterations_left", leaves},
              {"eager_milliseconds", eager},
              {"compiled_milliseconds", compiled},
              {"saved_milliseconds", segment.profile.saved(hits, of_loop)},
              {"lost_milliseconds", lost},
              {"inputs", state == State::kRetired ? json::array() : inputs_of(segment)},
              {"exits", exits}};
  if (state == State::kCompiling) return row;
  row["compile_milliseconds"] = static_cast<double>(s.compile_milliseconds);
  if (!segment.failure.empty()) row["stays_eager"] = segment.failure;
  if (std::string sizes = sizes_text(segment); !sizes.empty()) row["sizes"] = std::move(sizes);
  if (segment.history) row["backward"] = segment.history->describe();
  if (state != State::kArmed || !segment.executable) return row;
  row["program"] = segment.executable->describe();
  row["working_bytes"] = segment.executable->arena_bytes();
  return row;
}

// What was said of segments that are no more.
constexpr std::size_t kMostGone = 64;
constexpr std::size_t kMostLosses = 10;
std::mutex gone_mutex;
json& gone() {
  static json& rows = *new json(json::array());
  return rows;
}

double total(const json& rows, const char* field) {
  double sum = 0;
  for (const json& row : rows) sum += row.value(field, 0.0);
  return sum;
}

// What loses most, of exits and of loops that are not compiled: the first thing to read.
json losses(const json& segments, const json& not_compiled) {
  std::vector<json> all;
  for (const json& segment : segments)
    for (const json& exit : segment["exits"]) {
      json row = exit;
      row["source"] = segment["source"];
      all.push_back(std::move(row));
    }
  for (const json& failure : not_compiled) all.push_back(failure);
  std::stable_sort(all.begin(), all.end(), [](const json& a, const json& b) {
    return a["lost_milliseconds"].get<double>() > b["lost_milliseconds"].get<double>();
  });
  if (all.size() > kMostLosses) all.resize(kMostLosses);
  return all;
}

[[maybe_unused]] const bool is_fork_handled = hold_over_fork(
    ForkRank::kTracerTables, []() -> auto& { return gone_mutex; });

bool ends_with(const std::string& text, const char* tail) {
  const std::string end = tail;
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void write_at_exit() {
  const std::string& path = environment().report;
  write_asked_file("GROOVE_REPORT", path, [&path](std::ostream& out) {
    out << (ends_with(path, ".json")   ? explain_json()
            : ends_with(path, ".html") ? explain_html()
                                       : explain_text());
  });
}

const bool registered = [] {
  when_environment_is_read([](const Environment& settings) {
    if (!settings.report.empty()) std::atexit(write_at_exit);
  });
  return true;
}();

// Steps that were compared with ones without the tracer (watch/savings.h) say more than the times
// of single runs, if they are most of them.
bool tells_all(const Steps& steps) { return 2 * steps.compared > steps.operators; }
double gain_of_all(const Steps& steps) {
  return 1e-6 * steps.gained * static_cast<double>(steps.operators) /
         static_cast<double>(steps.compared);
}

}  // namespace

std::string short_source(const std::string& source) { return source.substr(source.rfind('/') + 1); }
std::string short_source(const char* file, std::uint32_t line) {
  return fmt::format("{}:{}", short_source(file ? file : "?"), line);
}
std::string describe(const RecordedCall& call) {
  return fmt::format("{} at {}", call.op ? call.op->name : "?",
                     short_source(call.site.file, call.site.line));
}

const char* state_name(State state) {
  switch (state) {
    case State::kArmed:
      return "armed";
    case State::kCompiling:
      return "compiling";
    default:
      return "retired";
  }
}

void forget_gone() {
  const std::lock_guard lock(gone_mutex);
  gone().clear();
}

void note_gone(const Segment& segment) {
  json row = to_json(segment);
  const std::lock_guard lock(gone_mutex);
  if (gone().size() >= kMostGone) gone().erase(0);
  gone().push_back(std::move(row));
}

json report() {
  json segments = json::array(), not_compiled = json::array();
  {
    const std::lock_guard lock(gone_mutex);
    segments = gone();
  }
  for (const SegmentPtr& segment : all_segments()) segments.push_back(to_json(*segment));
  for (const Failure& failure : all_failures()) {
    const std::uint64_t iterations = std::max(failure.count, failure.iterations);
    not_compiled.push_back(
        {{"source", failure.source},
         {"reason", name(failure.reason)},
         {"text", text(failure.reason)},
         {"advice", advice(failure.reason)},
         {"count", failure.count},
         {"at", failure.where},
         {"eager_iterations", iterations},
         {"lost_milliseconds", failure.milliseconds * static_cast<double>(iterations)}});
  }
  const Coverage work = coverage();
  const double all = static_cast<double>(work.compiled + work.eager);
  // Recording, programs for other sizes and, about, watching.
  const double recorded = 1e-6 * static_cast<double>(investment().spent_here());
  const double spent =
      recorded + 1e-6 * Investment::kToWatchOperator * static_cast<double>(work.eager);
  const Steps timed = steps();
  json overall = {
      {"operators_compiled", work.compiled},
      {"operators_eager", work.eager},
      {"steps", timed.steps},
      {"steps_paused", timed.paused},
      {"share_compiled", all > 0 ? static_cast<double>(work.compiled) / all : 0.0},
      {"iterations_compiled", total(segments, "iterations_compiled")},
      {"iterations_left", total(segments, "iterations_left")},
      {"compile_milliseconds", total(segments, "compile_milliseconds")},
      {"saved_milliseconds", tells_all(timed) ? gain_of_all(timed) - recorded
                                              : total(segments, "saved_milliseconds") -
                                                    total(segments, "lost_milliseconds") - spent},
      {"spent_milliseconds", spent},
      {"lost_milliseconds",
       total(segments, "lost_milliseconds") + total(not_compiled, "lost_milliseconds")}};
  json where = losses(segments, not_compiled);
  return {{"overall", overall},
          {"where_time_is_lost", where},
          {"segments", segments},
          {"not_compiled", not_compiled}};
}

}  // namespace groove::tracer
