// The table of environment variables.
#include "src/core/environment.h"

#include <gtest/gtest.h>

#include "groove/error.h"
#include "src/core/call_frame.h"

namespace groove {
namespace {

Environment parse(std::vector<const char*> entries, std::string* unknown = nullptr) {
  entries.push_back(nullptr);
  std::string text;
  const Environment result = parse_environment(entries.data(), text);
  if (unknown) *unknown = text;
  return result;
}

std::string error_of(const char* entry) {
  try {
    parse({entry});
  } catch (const Error& error) {
    return error.msg();
  }
  return "no error";
}

TEST(Environment, Defaults) {
  const Environment e = parse({"PATH=/bin", "GROOVE_MODE="});
  EXPECT_EQ(e.mode, "auto");
  EXPECT_EQ(e.tier, "llvm");
  EXPECT_EQ(e.compile, "background");
  EXPECT_EQ(e.hot, 2);
  EXPECT_EQ(e.num_threads, 0);
  EXPECT_EQ(e.check, 0);
  EXPECT_TRUE(e.report.empty() && e.log.empty());
}

TEST(Environment, EveryVariable) {
  const Environment e =
      parse({"GROOVE_MODE=strict", "GROOVE_TIER=asmjit", "GROOVE_COMPILE=sync", "GROOVE_HOT=1",
             "GROOVE_NUM_THREADS=3", "GROOVE_ISA=avx2", "GROOVE_DEVICE=cpu",
             "GROOVE_LOG=segments,code", "GROOVE_REPORT=/tmp/r.html", "GROOVE_DUMP=/tmp/d",
             "GROOVE_TRACE=/tmp/t", "GROOVE_CHECK=10", "GROOVE_CACHE_BYTES=64000000000"});
  EXPECT_EQ(e.mode + e.tier + e.compile + e.isa + e.device, "strictasmjitsyncavx2cpu");
  EXPECT_EQ(e.hot, 1);
  EXPECT_EQ(e.num_threads, 3);
  EXPECT_TRUE(e.logs("segments") && e.logs("code") && !e.logs("guards"));
  EXPECT_EQ(e.report + e.dump + e.trace, "/tmp/r.html/tmp/d/tmp/t");
  EXPECT_EQ(e.check, 10);
  EXPECT_EQ(e.cache_bytes, 64'000'000'000);
}

TEST(Environment, BadValuesNameVariableValueAndChoices) {
  EXPECT_EQ(error_of("GROOVE_MODE=fast"),
            "GROOVE_MODE: unknown value \"fast\"; use auto, eager, strict");
  for (const char* bad :
       {"GROOVE_HOT=0", "GROOVE_HOT=2x", "GROOVE_NUM_THREADS=-1",
        "GROOVE_NUM_THREADS=99999999999999999999", "GROOVE_LOG=segments,", "GROOVE_LOG=all",
        "GROOVE_REPORT=a.pdf", "GROOVE_CHECK=-1", "GROOVE_TIER=AsmJit", "GROOVE_ISA=sse"})
    EXPECT_NE(error_of(bad).find("unknown value"), std::string::npos) << bad;
}

// Whatever call of the program comes first, and reads the environment.
TEST(Environment, BadValuesAreOfNoCall) {
  try {
    parse({"GROOVE_HOT=0"});
    FAIL();
  } catch (Error& error) {
    const std::string message = error.msg();
    place_error(error, Site::current(), "randn");
    EXPECT_EQ(error.msg(), message);
    EXPECT_NE(std::string(error.what()).find("environment_test.cpp"), std::string::npos);
  }
}

TEST(Environment, UnknownNamesAreCollected) {
  std::string unknown;
  parse({"GROOVE_MOD=eager", "GROOVE_HOTT=1"}, &unknown);
  EXPECT_EQ(unknown, "GROOVE_MOD, GROOVE_HOTT");
}

TEST(Environment, DescribesItself) {
  const std::string text = describe_environment();
  for (const char* name : {"GROOVE_MODE", "GROOVE_TIER", "GROOVE_COMPILE", "GROOVE_HOT",
                           "GROOVE_NUM_THREADS", "GROOVE_ISA", "GROOVE_DEVICE", "GROOVE_LOG",
                           "GROOVE_REPORT", "GROOVE_DUMP", "GROOVE_TRACE", "GROOVE_CHECK",
                           "GROOVE_CACHE_BYTES"})
    EXPECT_NE(text.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace groove
