// Groups that become one because that is cheaper: the graph of groups against its definitions, and
// on drawn graphs the estimate against that of groups as they were placed, and the bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "jit/group_graph.h"
#include "jit/pipeline.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

using Edges = std::vector<std::vector<std::int32_t>>;

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

 private:
  std::mt19937_64 random_;
};

// Names are drawn, so that ascending numbers are no order of dependencies.
Edges draw_edges(Random& random, std::size_t count) {
  std::vector<std::int32_t> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = static_cast<std::int32_t>(i);
  for (std::size_t i = count; i > 1; --i) std::swap(names[i - 1], names[random.below(i)]);
  Edges after(count);
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = from + 1; to < count; ++to) {
      if (random.below(4) == 0) after[static_cast<std::size_t>(names[from])].push_back(names[to]);
    }
  }
  return after;
}

// Is there a path that does not go through `without`?
bool has_path(const Edges& after, std::int32_t from, std::int32_t to, std::int32_t without = -1) {
  if (from == without) return false;
  if (from == to) return true;
  for (const std::int32_t next : after[static_cast<std::size_t>(from)]) {
    if (has_path(after, next, to, without)) return true;
  }
  return false;
}

bool has_path_to_end(const Edges& after, std::int32_t from, std::int32_t without) {
  if (from == without) return false;
  const auto& list = after[static_cast<std::size_t>(from)];
  if (list.empty()) return true;
  return std::any_of(list.begin(), list.end(), [&](std::int32_t next) {
    return has_path_to_end(after, next, without);
  });
}

// Of those that every path to the end goes through, the one that all the others come after.
std::int32_t nearest_post_dominator(const Edges& after, std::int32_t group) {
  std::vector<std::int32_t> all;
  for (std::int32_t other = 0; other < static_cast<std::int32_t>(after.size()); ++other) {
    if (other != group && !has_path_to_end(after, group, other)) all.push_back(other);
  }
  for (const std::int32_t one : all) {
    const bool is_first = std::all_of(all.begin(), all.end(), [&](std::int32_t other) {
      return has_path(after, one, other);
    });
    if (is_first) return one;
  }
  return GroupGraph::kExit;
}

TEST(GroupGraph, PostDominatorsAreThoseOfTheDefinition) {
  Random random(1);
  std::size_t found = 0;
  for (int drawn = 0; drawn < 300; ++drawn) {
    const Edges after = draw_edges(random, 2 + random.below(9));
    const std::vector<std::int32_t> all = GroupGraph(after).post_dominators();
    for (std::size_t group = 0; group < after.size(); ++group) {
      ASSERT_EQ(all[group], nearest_post_dominator(after, static_cast<std::int32_t>(group)));
      found += all[group] != GroupGraph::kExit;
    }
  }
  EXPECT_GT(found, 300u);
}

// `members` become `home` in edges that are written down plainly.
Edges merged(const Edges& after, const std::vector<std::int32_t>& members, std::int32_t home) {
  const auto name = [&](std::int32_t group) {
    return std::find(members.begin(), members.end(), group) != members.end() ? home : group;
  };
  Edges result(after.size());
  for (std::size_t from = 0; from < after.size(); ++from) {
    auto& list = result[static_cast<std::size_t>(name(static_cast<std::int32_t>(from)))];
    for (const std::int32_t to : after[from]) {
      if (name(to) == name(static_cast<std::int32_t>(from))) continue;
      if (std::find(list.begin(), list.end(), name(to)) == list.end()) list.push_back(name(to));
    }
  }
  return result;
}

TEST(GroupGraph, WhatLiesBetweenMayBecomeOneAgainAndAgain) {
  Random random(2);
  for (int drawn = 0; drawn < 200; ++drawn) {
    Edges after = draw_edges(random, 3 + random.below(8));
    GroupGraph graph(after);
    const auto count = static_cast<std::int32_t>(after.size());
    for (int step = 0; step < 4; ++step) {
      const auto from = static_cast<std::int32_t>(random.below(after.size()));
      const auto to = static_cast<std::int32_t>(random.below(after.size()));
      ASSERT_EQ(graph.reaches(from, to), has_path(after, from, to));
      std::vector<std::int32_t> expected;
      for (std::int32_t other = 0; other < count; ++other) {
        if (from != to && has_path(after, from, other) && has_path(after, other, to))
          expected.push_back(other);
      }
      std::vector<std::int32_t> members = graph.between(from, to, after.size());
      EXPECT_TRUE(members.empty() || members[0] == from);
      std::sort(members.begin(), members.end());
      ASSERT_EQ(members, expected);
      if (members.empty()) continue;
      EXPECT_TRUE(graph.between(from, to, members.size() - 1).empty());
      graph.merge(members, to);
      after = merged(after, members, to);
      for (std::int32_t group = 0; group < count; ++group) {
        for (const std::int32_t next : after[static_cast<std::size_t>(group)])
          ASSERT_LT(graph.level(group), graph.level(next));
      }
    }
    graph.find_levels();
    ASSERT_EQ(graph.post_dominators(), GroupGraph(after).post_dominators());
  }
}

// Elementwise operators and statistics of rows over one shape, a product now and then, and several
// results: what groups of a training step look like.
Graph draw_graph(std::uint64_t seed) {
  Random random(seed);
  const std::size_t columns[] = {10, 48, 64, 300};
  const std::size_t wide = columns[random.below(4)], rows = 2 + random.below(40);
  std::string text = fmt::format("graph(x0: f32[{0}, {1}], x1: f32[{0}, {1}], x2: f32[{0}, {1}], "
                                 "w: f32[{1}], m: f32[{1}, {1}]) {{\n",
                                 rows, wide);
  std::vector<std::string> values{"x0", "x1", "x2"};
  const std::size_t nodes = 4 + random.below(12);
  const char* unary[] = {"exp", "relu", "tanh", "sigmoid", "neg", "square"};
  const char* binary[] = {"add", "mul", "sub", "maximum"};
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::string x = values[random.below(values.size())];
    const std::string y = values[random.below(values.size())];
    const std::string own = fmt::format("v{}", i);
    switch (random.below(8)) {
      case 0:
        text += fmt::format("  {} = {}({})\n", own, unary[random.below(6)], x);
        break;
      case 1:
        text += fmt::format("  {} = mul({}, w)\n", own, x);
        break;
      case 2:
        text += fmt::format("  s{0} = mean({1}) {{dims: [1], keepdim: true}}\n"
                            "  {2} = sub({3}, s{0})\n",
                            i, x, own, y);
        break;
      case 3:
        text += fmt::format("  {} = mm({}, m)\n", own, x);
        break;
      default:
        text += fmt::format("  {} = {}({}, {})\n", own, binary[random.below(4)], x, y);
    }
    values.push_back(own);
  }
  text += "  return " + values.back();
  for (std::size_t i = 3; i + 1 < values.size(); ++i) {
    if (random.below(3) == 0) text += ", " + values[i];
  }
  return parse_graph(text + "\n}\n");
}

TEST(FusionMerge, NeverCostsMoreThanGroupsAsTheyWerePlaced) {
  int cheaper = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Graph graph = draw_graph(seed);
    run_pipeline(graph);
    FusionOptions as_placed;
    as_placed.merges = false;
    const Fusion before = fuse(graph, as_placed), after = fuse(graph);
    const double most = estimate(graph, before), now = estimate(graph, after);
    ASSERT_LE(now, most + 1e-6) << seed << "\n" << print(graph);
    ASSERT_LE(after.groups.size(), before.groups.size());
    cheaper += now < most - 1;
  }
  EXPECT_GT(cheaper, 40);
}

TEST(FusionMerge, KeepsTheBits) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Graph graph = draw_graph(seed);
    const std::vector<Bytes> inputs = random_inputs(graph, seed, seed % 2 == 0);
    ProgramOptions options;
    options.fills_freed_memory = true;
    const Outcome expected = run_eagerly(graph, inputs, {});
    EXPECT_EQ(compare(graph, expected, run_program(graph, inputs, {}, options)), "")
        << seed << "\n" << print(graph);
  }
}

}  // namespace
}  // namespace groove::jit
