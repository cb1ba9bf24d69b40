// Golden tests of what comes after the passes: tests/passes/fuse/*.graph is a graph, a line `---`
// and the launches it must become; plan_memory/*.graph the places of its values,
// rematerialise/*.graph the graph in which some are computed a second time, repeat_cheap/*.graph
// that in which who reads a cheap value computes it, spread_levels/*.graph the launches of each
// level. All of it for test_machines(); where these differ, both are written down.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "jit/pipeline.h"
#include "jit/plan_memory.h"
#include "jit/rematerialise.h"
#include "jit/repeat_cheap.h"
#include "src/core/graph.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

std::string places(const Graph& graph, const kernels::Machine& machine) {
  Lowered lowered = lowered_for(machine, graph);
  const Schedule order = schedule(graph, lowered);
  plan_memory(lowered, order, 0);
  EXPECT_EQ(check_memory(lowered, order), "");
  // Arena places are numbered as they first come: offsets also hold scratch, which depends on the
  // instruction set.
  std::vector<std::int64_t> offsets;
  const auto number_of = [&](std::int64_t offset) {
    const auto found = std::find(offsets.begin(), offsets.end(), offset);
    if (found != offsets.end()) return found - offsets.begin();
    offsets.push_back(offset);
    return static_cast<std::ptrdiff_t>(offsets.size()) - 1;
  };
  std::string text;
  for (const Buffer& buffer : lowered.buffers) {
    if (buffer.value == kNoValue) continue;
    std::int64_t index = buffer.index;
    const char* place = buffer.place == Buffer::Place::kInput ? "input" : "output";
    if (buffer.place == Buffer::Place::kArena) {
      place = "arena";
      index = number_of(buffer.offset);
    }
    text += fmt::format("{}: {} {}", graph.values[static_cast<std::size_t>(buffer.value)].name,
                        place, index);
    const bool may_lie_there = buffer.place == Buffer::Place::kOutput && buffer.offset >= 0;
    text += may_lie_there ? fmt::format(" or arena {}\n", number_of(buffer.offset)) : "\n";
  }
  return text;
}

// What is computed a second time, given all the time it takes.
std::string computed_again(Graph graph, const kernels::Machine& machine) {
  std::vector<char> is_again;
  const Fusion fusion = fuse(graph, {.machine = machine});
  rematerialise(graph, fusion, is_again, {0, 0, 1, 1e9});
  EXPECT_EQ(verify(graph), "");
  return print(graph);
}

// With cheap values computed where they are read.
std::string repeated(const Graph& graph, const kernels::Machine& machine) {
  const std::optional<Graph> other = repeat_cheap(graph, fuse(graph, {.machine = machine}));
  const Graph& result = other ? *other : graph;
  EXPECT_EQ(verify(result), "");
  return print(result);
}

std::string levels(const Graph& graph, const kernels::Machine& machine) {
  Lowered lowered = lowered_for(machine, graph);
  std::string text;
  for (const Schedule::Level& level : schedule(graph, lowered, {0, nullptr}).levels) {
    const char* between = "";
    for (const std::int32_t index : level.launches) {
      const LaunchPlan& launch = lowered.launches[static_cast<std::size_t>(index)];
      const Node& node = graph.nodes[static_cast<std::size_t>(launch.nodes.back())];
      text += between + graph.values[static_cast<std::size_t>(node.outputs[0])].name;
      between = " ";
    }
    text += "\n";
  }
  return text;
}

std::string outcome(const std::string& kind, const Graph& graph) {
  if (kind == "fuse") return launches(graph);
  return on_machines([&](const kernels::Machine& machine) {
    if (kind == "plan_memory") return places(graph, machine);
    if (kind == "repeat_cheap") return repeated(graph, machine);
    return kind == "spread_levels" ? levels(graph, machine) : computed_again(graph, machine);
  });
}

struct Case {
  std::string kind;
  std::filesystem::path path;
};

std::vector<Case> cases() {
  std::vector<Case> found;
  for (const char* kind : {"fuse", "plan_memory", "rematerialise", "repeat_cheap", "spread_levels"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(__FILE__).parent_path() / kind))
      found.push_back({kind, entry.path()});
  std::sort(found.begin(), found.end(),
            [](const Case& a, const Case& b) { return a.path < b.path; });
  return found;
}

class LoweringGolden : public testing::TestWithParam<Case> {};

TEST_P(LoweringGolden, GivesTheExpectedLaunchesOrPlaces) {
  std::ifstream file(GetParam().path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t cut = text.find("\n---\n");
  ASSERT_NE(cut, std::string::npos) << "no --- line";
  Graph graph = parse_graph(text.substr(0, cut));
  ASSERT_EQ(verify(graph), "");
  run_pipeline(graph);
  EXPECT_EQ(outcome(GetParam().kind, graph), text.substr(cut + 5));
}

INSTANTIATE_TEST_SUITE_P(All, LoweringGolden, testing::ValuesIn(cases()), [](const auto& info) {
  return info.param.kind + "_" + info.param.path.stem().string();
});

// What makes launches of groups or joins them has tests of its own in fuse/, by their names.
TEST(LoweringGoldens, EveryStepHasFiveAndOneWhereItMustNotFire) {
  const std::vector<Case> all = cases();
  const auto count = [&](const std::string& kind, const std::string& part, const std::string& no) {
    std::ptrdiff_t found = 0, where_not = 0;
    for (const Case& each : all) {
      const std::string name = each.path.stem().string();
      if (each.kind != kind || name.find(part) == std::string::npos) continue;
      ++found;
      where_not += name.find(no) != std::string::npos ? 1 : 0;
    }
    EXPECT_GE(found, 5) << kind << " " << part;
    EXPECT_GE(where_not, 1) << kind << " " << part;
  };
  for (const char* kind : {"fuse", "plan_memory", "rematerialise", "spread_levels"})
    count(kind, "", "not_");
  for (const char* part : {"relay", "siblings", "convolution"}) count("fuse", part, "no_");
}

}  // namespace
}  // namespace groove::jit
