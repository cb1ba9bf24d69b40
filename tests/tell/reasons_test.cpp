// Every reason has an example that gives exactly this reason, and the page that shows them is what
// the examples and the table of reasons say.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/tell/reasons_examples.h"
#include "tests/tell/tell.h"
#include "tracer/calls/reasons.h"
#include "tracer/tell/report.h"

namespace groove::testing {
namespace {

using nlohmann::json;

std::string file(const std::string& path) {
  std::ifstream in(fmt::format("{}/{}", GROOVE_SOURCE_DIR, path));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class Reasons : public Tell {};

TEST_F(Reasons, EachExampleGivesExactlyItsReason) {
  for (const ReasonExample& example : reason_examples()) {
    start(jit::Mode::kAuto);
    tracer::testing::set_hot(2);
    ::testing::internal::CaptureStdout();
    example.run();
    ::testing::internal::GetCapturedStdout();
    std::set<std::string> found;
    const json all = tracer::report();
    for (const json& loss : all["where_time_is_lost"]) found.insert(loss["reason"]);
    EXPECT_EQ(found, std::set<std::string>{example.reason}) << example.reason << "\n"
                                                            << jit::explain();
  }
}

// What no program gives: every call matched, a test, or a defect of Groove.
const std::set<std::string> kWithoutExample = {"kCompleted",     "kForced",   "kCompileFailed",
                                               "kProgramFailed", "kUserCode", "kChangedSaved",
                                               "kUnknownAlias",  "kLiveTape", "kWrittenAfterRead"};

// The lines between "// -- <reason>" and the next such line.
std::string example_of(const std::string& examples, const std::string& reason) {
  const std::string mark = fmt::format("// -- {}\n", reason);
  const std::size_t begin = examples.find(mark);
  if (begin == std::string::npos) return "";
  const std::size_t from = begin + mark.size();
  const std::size_t to =
      std::min(examples.find("\n// -- ", from), examples.find("\n}  // namespace", from));
  std::string code = examples.substr(from, to - from);
  while (!code.empty() && code.back() == '\n') code.pop_back();
  return code;
}

std::string section(const std::string& examples, tracer::Reason reason) {
  std::string text =
      fmt::format("### {}\n\nThe report says: {}.\n\nWhat to do: {}.\n", tracer::name(reason),
                  tracer::text(reason), tracer::advice(reason));
  const std::string code = example_of(examples, tracer::name(reason));
  if (!code.empty()) text += fmt::format("\n```cpp\n{}\n```\n", code);
  return text;
}

// The page is written by hand up to its last heading, the reasons below it by this test's function.
TEST(ReasonsPage, SaysWhatTheTableAndTheExamplesSay) {
  const std::string page = file("docs/how-groove-finds-and-leaves-compiled-code.md");
  const std::string examples = file("tests/tell/reasons_examples.cpp");
  ASSERT_FALSE(page.empty());
  std::set<std::string> run;
  for (const ReasonExample& example : reason_examples()) run.insert(example.reason);
  for (int i = 0; i < static_cast<int>(tracer::Reason::kCount); ++i) {
    const auto reason = static_cast<tracer::Reason>(i);
    const std::string name = tracer::name(reason);
    EXPECT_NE(run.contains(name), kWithoutExample.contains(name)) << name;
    EXPECT_EQ(run.contains(name), !example_of(examples, name).empty()) << name;
    const std::string expected = section(examples, reason);
    EXPECT_NE(page.find(expected), std::string::npos) << "the page must have:\n" << expected;
  }
}

}  // namespace
}  // namespace groove::testing
