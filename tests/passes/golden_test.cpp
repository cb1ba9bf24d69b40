// Golden tests of the passes: every tests/passes/<pass>/*.graph is an input graph, a line `---`
// and the graph the pass must give (the same again where it must not fire).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "jit/pipeline.h"
#include "src/core/graph.h"

namespace groove::jit {
namespace {

std::filesystem::path folder() { return std::filesystem::path(__FILE__).parent_path(); }

struct Golden {
  std::string pass;
  std::filesystem::path path;
};

// Those under fast numerics, too.
std::vector<Pass> all_passes() {
  std::vector<Pass> all = passes();
  for (const Pass& pass : fast_passes()) {
    const auto is_known = [&](const Pass& other) { return other.run == pass.run; };
    if (std::none_of(all.begin(), all.end(), is_known)) all.push_back(pass);
  }
  return all;
}

std::vector<Golden> goldens() {
  std::vector<Golden> found;
  for (const Pass& pass : all_passes()) {
    if (!std::filesystem::exists(folder() / pass.name)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder() / pass.name)) {
      if (entry.path().extension() == ".graph") found.push_back({pass.name, entry.path()});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Golden& a, const Golden& b) { return a.path < b.path; });
  return found;
}

class GoldenTest : public testing::TestWithParam<Golden> {};

TEST_P(GoldenTest, PassGivesTheExpectedGraph) {
  std::ifstream file(GetParam().path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t cut = text.find("\n---\n");
  ASSERT_NE(cut, std::string::npos) << "no --- line";
  Graph graph = parse_graph(text.substr(0, cut));
  ASSERT_EQ(verify(graph), "");
  const Graph expected = parse_graph(text.substr(cut + 5));
  const std::string before = print(graph);
  for (const Pass& pass : all_passes()) {
    if (GetParam().pass != pass.name) continue;
    const bool has_changed = pass.run(graph);
    EXPECT_EQ(has_changed, print(graph) != before) << "what the pass says of itself";
  }
  EXPECT_EQ(verify(graph), "");
  EXPECT_EQ(print(graph), print(expected));
}

INSTANTIATE_TEST_SUITE_P(Passes, GoldenTest, testing::ValuesIn(goldens()), [](const auto& info) {
  return info.param.pass + "_" + info.param.path.stem().string();
});

TEST(Golden, EveryPassHasFiveAndOneWhereItMustNotFire) {
  const std::vector<Golden> all = goldens();
  for (const Pass& pass : all_passes()) {
    const auto is_own = [&](const Golden& golden) { return golden.pass == pass.name; };
    EXPECT_GE(std::count_if(all.begin(), all.end(), is_own), 5) << pass.name;
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Golden& golden) {
      return is_own(golden) && golden.path.stem().string().starts_with("not_");
    })) << pass.name;
  }
}

}  // namespace
}  // namespace groove::jit
