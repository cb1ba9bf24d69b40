#include "tracer/report.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/core/check.h"
#include "src/core/environment.h"
#include "tracer/registry.h"

namespace groove::tracer {
namespace {

using nlohmann::json;

json to_json(const Segment& segment) {
  const State state = segment.state.load(std::memory_order_acquire);
  const Statistics& s = segment.statistics;
  json row = {{"id", segment.id},
              {"place", segment.place},
              {"state", state_name(state)},
              {"words", segment.words.size()},
              {"stages", segment.stages},
              {"live_ins", segment.live_ins.size()},
              {"outputs", segment.graph.outputs.size()},
              {"compile_milliseconds", s.compile_milliseconds},
              {"iterations_compiled", s.hits},
              {"iterations_left", s.leaves},
              {"exits", json::array()}};
  if (!segment.failure.empty()) row["stays_eager"] = segment.failure;
  for (int i = 0; i < static_cast<int>(Reason::kCount); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (s.left_at_reason[i] > 0)
      row["exits"].push_back({{"reason", name(reason)},
                              {"text", text(reason)},
                              {"advice", advice(reason)},
                              {"count", s.left_at_reason[i]}});
  }
  if (state == State::kArmed && segment.executable) row["program"] = segment.executable->describe();
  return row;
}

// What was said of segments that are no more.
constexpr std::size_t kMostGone = 64;
std::mutex gone_mutex;
json& gone() {
  static json& rows = *new json(json::array());
  return rows;
}

json report() {
  json all = {{"segments", json::array()}, {"not_compiled", json::array()}};
  {
    const std::lock_guard lock(gone_mutex);
    all["segments"] = gone();
  }
  for (const SegmentPtr& segment : all_segments()) all["segments"].push_back(to_json(*segment));
  for (const Failure& failure : all_failures())
    all["not_compiled"].push_back({{"place", failure.place},
                                   {"reason", name(failure.reason)},
                                   {"text", text(failure.reason)},
                                   {"advice", advice(failure.reason)},
                                   {"count", failure.count}});
  return all;
}

std::string with_advice(const json& row) {
  std::string line = row["text"].get<std::string>();
  if (!row["advice"].get<std::string>().empty())
    line += " (" + row["advice"].get<std::string>() + ")";
  return line;
}

std::string escaped(const std::string& plain) {
  std::string out;
  for (const char c : plain) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

// ---- the Chrome trace ----

struct Event {
  const char* name;
  std::uint64_t segment;
  std::int64_t start, end;  // nanoseconds
  int thread;
};
constexpr std::size_t kMostEvents = 1'000'000;

std::atomic<bool> is_tracing{false};
std::mutex events_mutex;
std::vector<Event>& events() {
  static std::vector<Event>& all = *new std::vector<Event>;
  return all;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int thread_number() {
  static std::atomic<int> next{0};
  thread_local const int number = next++;
  return number;
}

bool write_file(const std::string& path, const std::string& content, const char* variable) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) fmt::print(stderr, "groove: {} could not be written to {}\n", variable, path);
  return static_cast<bool>(file);
}

bool ends_with(const std::string& text, const char* tail) {
  const std::string end = tail;
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void write_trace(const std::string& path) {
  json all = json::array();
  const std::lock_guard lock(events_mutex);
  for (const Event& event : events())
    all.push_back({{"name", event.name},
                   {"ph", "X"},
                   {"pid", 0},
                   {"tid", event.thread},
                   {"ts", static_cast<double>(event.start) * 1e-3},
                   {"dur", static_cast<double>(event.end - event.start) * 1e-3},
                   {"args", {{"segment", event.segment}}}});
  write_file(path, json{{"traceEvents", all}}.dump(), "GROOVE_TRACE");
}

void write_at_exit() {
  const Environment& settings = environment();
  if (!settings.report.empty()) {
    const std::string& path = settings.report;
    write_file(path,
               ends_with(path, ".json")   ? explain_json()
               : ends_with(path, ".html") ? explain_html()
                                          : explain_text(),
               "GROOVE_REPORT");
  }
  if (!settings.trace.empty()) write_trace(settings.trace);
}

const bool registered = [] {
  when_environment_is_read([](const Environment& settings) {
    if (settings.report.empty() && settings.trace.empty()) return;
    is_tracing.store(!settings.trace.empty());
    std::atexit(write_at_exit);
  });
  return true;
}();

}  // namespace

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

void note_gone(const Segment& segment) {
  json row = to_json(segment);
  row["state"] = "gone with its model";
  const std::lock_guard lock(gone_mutex);
  if (gone().size() >= kMostGone) gone().erase(0);
  gone().push_back(std::move(row));
}

TraceSpan::TraceSpan(const char* name, std::uint64_t segment)
    : name_(name),
      segment_(segment),
      start_(is_tracing.load(std::memory_order_relaxed) ? now() : -1) {}

TraceSpan::~TraceSpan() {
  if (start_ < 0) return;
  const std::int64_t end = now();
  const int thread = thread_number();
  const std::lock_guard lock(events_mutex);
  if (events().size() < kMostEvents) events().push_back({name_, segment_, start_, end, thread});
}

std::string explain_text() {
  const json all = report();
  std::string out;
  for (const json& segment : all["segments"]) {
    out += fmt::format(
        "segment {} at {}: {}; {} words, {} stages, {} live-ins, {} outputs; compiled in {:.1f} "
        "ms; {} iterations compiled, {} left\n",
        segment["id"].get<std::uint64_t>(), segment["place"].get<std::string>(),
        segment["state"].get<std::string>(), segment["words"].get<std::size_t>(),
        segment["stages"].get<int>(), segment["live_ins"].get<std::size_t>(),
        segment["outputs"].get<std::size_t>(), segment["compile_milliseconds"].get<double>(),
        segment["iterations_compiled"].get<std::uint64_t>(),
        segment["iterations_left"].get<std::uint64_t>());
    if (segment.contains("stays_eager"))
      out += fmt::format("  stays eager: {}\n", segment["stays_eager"].get<std::string>());
    for (const json& exit : segment["exits"])
      out += fmt::format("  left {} times: {}\n", exit["count"].get<std::uint64_t>(),
                         with_advice(exit));
  }
  for (const json& failure : all["not_compiled"])
    out +=
        fmt::format("loop at {}: not compiled, {} times: {}\n", failure["place"].get<std::string>(),
                    failure["count"].get<std::uint64_t>(), with_advice(failure));
  if (out.empty()) out = "no loop was found yet\n";
  return out;
}

std::string explain_json() { return report().dump(2) + "\n"; }

std::string explain_html() {
  const json all = report();
  std::string body;
  for (const json& segment : all["segments"]) {
    body += fmt::format(
        "<h2>{}</h2><p>segment {}, {}: {} words, compiled in {:.1f} ms, {} iterations compiled, {} "
        "left</p>",
        escaped(segment["place"].get<std::string>()), segment["id"].get<std::uint64_t>(),
        segment["state"].get<std::string>(), segment["words"].get<std::size_t>(),
        segment["compile_milliseconds"].get<double>(),
        segment["iterations_compiled"].get<std::uint64_t>(),
        segment["iterations_left"].get<std::uint64_t>());
    if (!segment["exits"].empty()) {
      body += "<table><tr><th>exits</th><th>why</th></tr>";
      for (const json& exit : segment["exits"])
        body += fmt::format("<tr><td>{}</td><td>{}</td></tr>", exit["count"].get<std::uint64_t>(),
                            escaped(with_advice(exit)));
      body += "</table>";
    }
    if (segment.contains("program"))
      body += "<details><summary>program</summary><pre>" +
              escaped(segment["program"].get<std::string>()) + "</pre></details>";
  }
  if (!all["not_compiled"].empty()) body += "<h2>Not compiled</h2><ul>";
  for (const json& failure : all["not_compiled"])
    body += fmt::format("<li>{} ({} times): {}</li>", escaped(failure["place"].get<std::string>()),
                        failure["count"].get<std::uint64_t>(), escaped(with_advice(failure)));
  if (!all["not_compiled"].empty()) body += "</ul>";
  return "<!doctype html><meta charset=\"utf-8\"><title>Groove</title><style>body{font-family:"
         "sans-serif;max-width:60em;margin:2em auto}td,th{padding:.2em 1em .2em 0;text-align:left}"
         "pre{background:#eee;padding:1em;overflow:auto}</style><h1>What Groove compiled</h1>" +
         body + "\n";
}

}  // namespace groove::tracer
