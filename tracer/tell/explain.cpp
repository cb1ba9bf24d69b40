// The report for people: what to do first, then every segment. Text and a page.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tracer/tell/report.h"

namespace groove::tracer {
namespace {

using nlohmann::json;

constexpr std::size_t kMostInputs = 6;  // of a segment, in text; json has all

std::string text_of(const json& row, const char* field) { return row.value(field, std::string()); }

std::string time_text(double milliseconds) {
  if (milliseconds >= 1e3) return fmt::format("{:.1f} s", milliseconds / 1e3);
  if (milliseconds >= 0.1) return fmt::format("{:.1f} ms", milliseconds);
  return fmt::format("{:.1f} us", milliseconds * 1e3);
}

std::string memory_text(std::size_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (size >= 1e6) return fmt::format("{:.1f} MB", size / 1e6);
  return fmt::format("{:.1f} kB", size / 1e3);
}

std::string count_text(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "another operator … : relu at model.cpp:31 expected, got add at model.cpp:35"
std::string seen_text(const json& exit) {
  if (exit.contains("came"))
    return fmt::format("{} expected, got {}", text_of(exit, "expected"), text_of(exit, "came"));
  if (exit.contains("after")) return "after " + text_of(exit, "after");
  if (!text_of(exit, "at").empty()) return "at " + text_of(exit, "at");
  return "";
}

std::vector<std::string> loss_lines(const json& loss) {
  const bool is_exit = loss.contains("matched_calls");
  std::vector<std::string> lines;
  const std::string what =
      is_exit ? "was left " + count_text(loss["count"].get<std::uint64_t>(), "time")
              : fmt::format("is not compiled and ran eagerly {}",
                            count_text(loss["eager_iterations"].get<std::uint64_t>(), "time"));
  lines.push_back(fmt::format("{}: the loop at {} {}: {}",
                              time_text(loss["lost_milliseconds"].get<double>()),
                              short_source(text_of(loss, "source")), what, text_of(loss, "text")));
  if (const std::string seen = seen_text(loss); !seen.empty()) lines.push_back("   " + seen);
  if (const std::string advice = text_of(loss, "advice"); !advice.empty())
    lines.push_back("   what to do: " + advice);
  return lines;
}

std::string headline(const json& overall, std::size_t segments) {
  const auto compiled = overall["operators_compiled"].get<std::uint64_t>();
  const auto all = compiled + overall["operators_eager"].get<std::uint64_t>();
  const auto paused = overall.value("steps_paused", std::uint64_t{0});
  const std::string pauses =
      paused == 0 ? ""
                  : fmt::format("; paused in {} of {} steps, to see what they take without it",
                                paused, overall["steps"].get<std::uint64_t>());
  const double saved = overall["saved_milliseconds"].get<double>();
  return fmt::format(
      "{:.1f} % of the operators ran compiled ({} of {}); {}, compiled in {}; about {} {} in all, "
      "after {} lost where loops were left or stay eager and {} spent on watching and recording{}",
      100 * overall["share_compiled"].get<double>(), compiled, all, count_text(segments, "segment"),
      time_text(overall["compile_milliseconds"].get<double>()), time_text(std::abs(saved)),
      saved < 0 ? "lost" : "saved", time_text(overall["lost_milliseconds"].get<double>()),
      time_text(overall["spent_milliseconds"].get<double>()), pauses);
}

std::string segment_line(const json& segment) {
  std::string line = fmt::format(
      "segment {} at {}: {}; {} calls, {} stages, {} live-ins, {} outputs",
      segment["id"].get<std::uint64_t>(), text_of(segment, "source"), text_of(segment, "state"),
      segment["calls"].get<std::size_t>(), segment["stages"].get<int>(),
      segment["live_ins"].get<std::size_t>(), segment["outputs"].get<std::size_t>());
  if (segment.contains("compile_milliseconds"))
    line += "; compiled in " + time_text(segment["compile_milliseconds"].get<double>());
  if (const auto bytes = segment.value("working_bytes", std::size_t{0}); bytes > 0)
    line += "; works in " + memory_text(bytes);
  line += fmt::format("; {} iterations compiled, {} left",
                      segment["iterations_compiled"].get<std::uint64_t>(),
                      segment["iterations_left"].get<std::uint64_t>());
  const double compiled = segment["compiled_milliseconds"].get<double>();
  if (compiled > 0)
    line += fmt::format("; one takes {} instead of {}, {} saved", time_text(compiled),
                        time_text(segment["eager_milliseconds"].get<double>()),
                        time_text(std::max(0.0, segment["saved_milliseconds"].get<double>())));
  return line;
}

std::string exit_line(const json& exit) {
  std::string line =
      fmt::format("left {} times: {}", exit["count"].get<std::uint64_t>(), text_of(exit, "text"));
  if (const std::string seen = seen_text(exit); !seen.empty()) line += ": " + seen;
  return line + fmt::format(" ({} lost)", time_text(exit["lost_milliseconds"].get<double>()));
}

std::vector<std::string> input_lines(const json& segment) {
  std::vector<std::string> lines;
  const json& inputs = segment["inputs"];
  for (const json& input : inputs) {
    if (lines.size() == kMostInputs) {
      lines.push_back(fmt::format("and {} more", inputs.size() - kMostInputs));
      break;
    }
    lines.push_back(fmt::format("{}: {} (for {})", text_of(input, "name"), text_of(input, "type"),
                                text_of(input, "used_by")));
  }
  return lines;
}

std::string failure_line(const json& failure) {
  std::string line =
      fmt::format("loop at {}: not compiled, {} times: {}", text_of(failure, "source"),
                  failure["count"].get<std::uint64_t>(), text_of(failure, "text"));
  if (const std::string seen = seen_text(failure); !seen.empty()) line += ": " + seen;
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

}  // namespace

std::string explain_text() {
  const json all = report();
  if (all["segments"].empty() && all["not_compiled"].empty()) return "no loop was found yet\n";
  std::string out = headline(all["overall"], all["segments"].size()) + "\n";
  if (!all["where_time_is_lost"].empty()) out += "\nwhere time is lost, the worst first:\n";
  for (const json& loss : all["where_time_is_lost"]) {
    const char* begin = "- ";
    for (const std::string& line : loss_lines(loss)) {
      out += begin + line + "\n";
      begin = "";
    }
  }
  out += "\n";
  for (const json& segment : all["segments"]) {
    out += segment_line(segment) + "\n";
    if (segment.contains("stays_eager"))
      out += "  stays eager: " + text_of(segment, "stays_eager") + "\n";
    for (const json& exit : segment["exits"]) out += "  " + exit_line(exit) + "\n";
    for (const std::string& line : input_lines(segment)) out += "  needs " + line + "\n";
    if (segment.contains("sizes")) out += "  " + text_of(segment, "sizes") + "\n";
    if (segment.contains("backward")) out += "  " + text_of(segment, "backward") + "\n";
  }
  for (const json& failure : all["not_compiled"]) out += failure_line(failure) + "\n";
  return out;
}

std::string explain_json() { return report().dump(2) + "\n"; }

std::string explain_html() {
  const json all = report();
  std::string body = "<p>" + escaped(headline(all["overall"], all["segments"].size())) + "</p>";
  if (!all["where_time_is_lost"].empty()) {
    body += "<h2>Where time is lost, the worst first</h2><ol>";
    for (const json& loss : all["where_time_is_lost"]) {
      std::string item;
      for (const std::string& line : loss_lines(loss))
        item += (item.empty() ? "" : "<br>") + escaped(line);
      body += "<li>" + item + "</li>";
    }
    body += "</ol>";
  }
  for (const json& segment : all["segments"]) {
    body += fmt::format("<h2>{}</h2><p>{}</p>", escaped(short_source(text_of(segment, "source"))),
                        escaped(segment_line(segment)));
    if (segment.contains("stays_eager"))
      body += "<p>stays eager: " + escaped(text_of(segment, "stays_eager")) + "</p>";
    if (!segment["exits"].empty() || !segment["inputs"].empty()) {
      body += "<ul>";
      for (const json& exit : segment["exits"]) body += "<li>" + escaped(exit_line(exit)) + "</li>";
      for (const std::string& line : input_lines(segment))
        body += "<li>needs " + escaped(line) + "</li>";
      body += "</ul>";
    }
    if (segment.contains("program"))
      body += "<details><summary>program</summary><pre>" + escaped(text_of(segment, "program")) +
              "</pre></details>";
  }
  if (!all["not_compiled"].empty()) {
    body += "<h2>Not compiled</h2><ul>";
    for (const json& failure : all["not_compiled"])
      body += "<li>" + escaped(failure_line(failure)) + "</li>";
    body += "</ul>";
  }
  return "<!doctype html><meta charset=\"utf-8\"><title>Groove</title><style>body{font-family:"
         "sans-serif;max-width:60em;margin:2em auto}"
         "pre{background:#eee;padding:1em;overflow:auto}</style><h1>What Groove compiled</h1>" +
         body + "\n";
}

}  // namespace groove::tracer
