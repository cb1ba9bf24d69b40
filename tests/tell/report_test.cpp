// What explain() and GROOVE_REPORT say: what loses most comes first, with the user's lines; and
// that watching, printing and guards change nothing.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "src/core/trace.h"
#include "tests/tell/tell.h"
#include "tracer/tell/report.h"
#include "tracer/watch/segment_profile.h"

namespace groove::testing {
namespace {

using nlohmann::json;

class Report : public Tell {};

double work(Tensor& state, bool is_odd, unsigned* line = nullptr) {
  Tensor y = state * 1.25;
  if (line) *line = __LINE__ + 1;
  y = is_odd ? y.exp() : y.tanh();
  state = y.sin() * 0.5;
  return state.sum().item<double>();
}

TEST_F(Report, RanksExitsByWhatTheyLose) {
  auto state = groove::rand({64});
  unsigned line = 0;
  // One odd iteration now and then: too rare for a segment of its own at first.
  for (int step = 0; step < 60; ++step) work(state, step == 30, &line);
  const json all = tracer::report();
  ASSERT_FALSE(all["segments"].empty());
  ASSERT_FALSE(all["where_time_is_lost"].empty()) << jit::explain();
  // Which of them is worst depends on what else the machine did meanwhile.
  const json& losses = all["where_time_is_lost"];
  const auto found = std::find_if(losses.begin(), losses.end(),
                                  [](const json& loss) { return loss["reason"] == "kMismatchOp"; });
  ASSERT_TRUE(found != losses.end()) << jit::explain();
  const json& exit = *found;
  const std::string source = fmt::format("report_test.cpp:{}", line);
  EXPECT_EQ(exit["expected"], "tanh at " + source);
  EXPECT_EQ(exit["came"], "exp at " + source);
  EXPECT_EQ(exit["count"], 1);
  EXPECT_GT(exit["lost_milliseconds"].get<double>(), 0.0);
  double before = 1e300;
  for (const json& loss : all["where_time_is_lost"]) {
    EXPECT_LE(loss["lost_milliseconds"].get<double>(), before);
    before = loss["lost_milliseconds"].get<double>();
  }
  const std::string text = jit::explain();
  EXPECT_NE(text.find("tanh at " + source + " expected, got exp at " + source), std::string::npos)
      << text;
  EXPECT_NE(text.find("what to do: "), std::string::npos) << text;
  EXPECT_NE(tracer::explain_html().find("tanh at " + source), std::string::npos);
}

TEST_F(Report, SaysWhichInputWasOfAnotherType) {
  const Tensor usual = groove::rand({32}), last = groove::rand({16, 2}).t()[0];
  unsigned line = 0;
  for (int step = 0; step < 60; ++step) {
    const Tensor x = groove::rand({1}) * 2.0;
    line = __LINE__ + 1;
    const Tensor y = x * (step == 30 ? last : usual);
    EXPECT_GE(y.sum().item<double>(), 0.0);
  }
  const std::string source = fmt::format("report_test.cpp:{}", line), text = jit::explain();
  EXPECT_NE(text.find("mul at " + source + " of f32[32], contiguous expected, got mul at " +
                      source + " of f32[16], strides [2]"),
            std::string::npos)
      << text;
}

TEST_F(Report, SaysWhatWasSavedAndHowMuchRanCompiled) {
  auto state = groove::rand({64});
  for (int step = 0; step < 200; ++step) work(state, false);
  const json all = tracer::report();
  std::uint64_t hits = 0;
  for (const json& segment : all["segments"]) {
    hits += segment["iterations_compiled"].get<std::uint64_t>();
    if (segment["iterations_compiled"] == 0) continue;
    EXPECT_GT(segment["eager_milliseconds"].get<double>(), 0.0);
    EXPECT_GT(segment["compiled_milliseconds"].get<double>(), 0.0);
    EXPECT_GT(segment["compile_milliseconds"].get<double>(), 0.0);
    EXPECT_FALSE(segment["inputs"].empty());
    EXPECT_NE(segment["inputs"][0]["type"].get<std::string>().find("f32[64]"), std::string::npos);
    EXPECT_NE(segment["inputs"][0]["used_by"].get<std::string>().find("report_test.cpp:"),
              std::string::npos);
  }
  EXPECT_GE(hits, 190u) << jit::explain();
  EXPECT_EQ(all["overall"]["iterations_compiled"].get<double>(), static_cast<double>(hits));
  EXPECT_NE(jit::explain().find("% of the operators ran compiled"), std::string::npos);
}

TEST_F(Report, LoopsThatAreNotCompiledSayWhyAndWhere) {
  unsigned line = 0;
  const Tensor weight = groove::rand({3}).requires_grad_();
  optim::SGD optimizer({weight}, 0.1);
  for (int step = 0; step < 24; ++step) {
    line = __LINE__ + 1;
    auto sum = groove::zeros({1}, kLong);
    // More numbers than a segment can hold.
    for (int i = 0; i < 9000; ++i) sum = sum + groove::randint(9, {1});
    static_cast<void>(sum.item<double>());
    optimizer.step();
  }
  const json all = tracer::report();
  ASSERT_EQ(all["not_compiled"].size(), 1u) << jit::explain();
  const json& failure = all["not_compiled"][0];
  EXPECT_EQ(failure["reason"], "kTooLong");
  EXPECT_NE(failure["source"].get<std::string>().find(fmt::format("report_test.cpp:{}", line)),
            std::string::npos);
  EXPECT_GE(failure["eager_iterations"].get<int>(), 16);
  EXPECT_GT(failure["lost_milliseconds"].get<double>(), 0.0);
  // What compiling would have saved of its calls, not all that they took.
  EXPECT_LE(failure["lost_milliseconds"].get<double>(),
            failure["eager_iterations"].get<double>() *
                tracer::SegmentProfile::expected_gain(1 + 2 * 9000) * 1e-6);
  const std::string text = jit::explain();
  EXPECT_NE(text.find(fmt::format("the loop at report_test.cpp:{} is not compiled", line)),
            std::string::npos)
      << text;
}

// The file that GROOVE_REPORT names is the same report, whatever its form.
TEST_F(Report, TextJsonAndPageSayTheSame) {
  auto state = groove::rand({64});
  for (int step = 0; step < 40; ++step) work(state, step == 20);
  const json all = json::parse(tracer::explain_json());
  EXPECT_EQ(all["segments"].size(), tracer::report()["segments"].size());
  for (const char* part : {"overall", "where_time_is_lost", "segments", "not_compiled"})
    EXPECT_TRUE(all.contains(part)) << part;
  const std::string page = tracer::explain_html(), text = tracer::explain_text();
  for (const json& segment : all["segments"]) {
    const std::string source = tracer::short_source(segment["source"].get<std::string>());
    EXPECT_NE(page.find(source), std::string::npos);
    EXPECT_NE(text.find(source), std::string::npos);
  }
}

// GROOVE_TRACE: operators that run eagerly with their lines, launches, what the tracer does, and
// threads by name.
TEST_F(Report, TheTraceShowsOperatorsKernelsAndThreads) {
  auto state = groove::rand({64});
  tracing::is_on = true;
  for (int step = 0; step < 40; ++step) work(state, step == 20);
  tracing::is_on = false;
  std::ostringstream written;
  tracing::write(written);
  const json events = json::parse(written.str())["traceEvents"];
  std::map<std::string, int> kinds;
  std::set<int> threads, named;
  for (const json& event : events) {
    if (event["ph"] == "M") {
      EXPECT_NE(event["args"]["name"], "");
      named.insert(event["tid"].get<int>());
      continue;
    }
    ++kinds[event["cat"]];
    threads.insert(event["tid"].get<int>());
    EXPECT_GE(event["dur"].get<double>(), 0);
    if (event["cat"] == "operator") {
      EXPECT_NE(find_op(event["name"].get<std::string>()), nullptr) << event;
      EXPECT_NE(event["args"]["at"].get<std::string>().find("report_test.cpp:"), std::string::npos);
    }
  }
  for (const char* kind : {"operator", "kernel", "segment"}) EXPECT_GT(kinds[kind], 0) << kind;
  EXPECT_EQ(threads, named);
}

// ---- nothing changes for looking ----

std::string printing_loop() {
  Log log;
  std::ostringstream out;
  auto weight = groove::rand({3, 4}).requires_grad_();
  for (int step = 0; step < 16; ++step) {
    const Tensor h = weight * groove::rand({3, 4});
    out << "h " << h << "\n";
    Tensor loss = h.square().mean();
    loss.backward();
    out << "step " << step << " loss " << loss.item<double>() << "\n";
    {
      NoGradGuard no_grad;
      weight -= weight.grad() * 0.1;
    }
    out << weight.grad() << "\n" << weight.sum() << "\n";
    weight.grad().zero_();
    if (step % 5 == 4) out << jit::explain().substr(0, 0) << weight << "\n";
  }
  log.tensor(weight);
  return out.str() + log.text;
}

TEST_F(Report, PrintingInsideALoopKeepsTheOrderOfTheProgram) {
  start(jit::Mode::kEager);
  const std::string expected = printing_loop();
  start(jit::Mode::kAuto);
  EXPECT_EQ(difference(expected, printing_loop()), "");
  EXPECT_GT(jit::summary().hits, 4u) << jit::explain();
}

std::string guarded_loop(bool has_guard) {
  Log log;
  auto state = groove::rand({32});
  for (int step = 0; step < 40; ++step) {
    Tensor y = (state * 1.5).tanh();
    {
      std::optional<jit::EagerGuard> guard;
      if (has_guard) guard.emplace();
      y = y + y.mean();
    }
    state = (y.sin() * 0.75).exp() * 0.5;
    log.number(state.sum().item<double>());
  }
  log.tensor(state);
  return log.text;
}

TEST_F(Report, AnEagerRegionCutsTheLoopAroundIt) {
  start(jit::Mode::kEager);
  const std::string expected = guarded_loop(true);
  start(jit::Mode::kAuto);
  EXPECT_EQ(difference(expected, guarded_loop(true)), "");
  // What lies before and after the region runs compiled.
  EXPECT_GE(jit::summary().hits, 60u) << jit::explain();
}

// A region inside a training step, and one that is entered only now and then.
TEST_F(Report, EagerRegionsInATrainingStep) {
  const auto train = [](bool always) {
    Log log;
    nn::Linear layer(6, 4);
    optim::Adam optimizer(layer->parameters(), optim::AdamOptions(1e-2));
    for (int step = 0; step < 60; ++step) {
      optimizer.zero_grad();
      Tensor h = layer(groove::rand({5, 6}));
      if (always || step % 20 == 19) {
        const jit::EagerGuard outer, inner;
        log.number(h.detach().abs().max().item<double>());
      }
      Tensor loss = h.square().mean();
      loss.backward();
      optimizer.step();
      log.number(loss.item<double>());
    }
    jit::set_mode(jit::Mode::kEager);
    for (const Tensor& parameter : layer->parameters()) log.tensor(parameter);
    log.random_state();
    return log.text;
  };
  for (const bool always : {true, false}) {
    start(jit::Mode::kEager);
    const std::string expected = train(always);
    start(jit::Mode::kAuto);
    tracer::testing::set_hot(2);
    EXPECT_EQ(difference(expected, train(always)), "") << always;
    EXPECT_GE(jit::summary().hits, 30u) << always << "\n" << jit::explain();
  }
}

}  // namespace
}  // namespace groove::testing
