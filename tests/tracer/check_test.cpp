// GROOVE_CHECK against compiled code that gives a wrong bit: an error, for a new result and for an
// input written in place alike.
#include <gtest/gtest.h>

#include "groove/groove.h"
#include "groove/jit.h"
#include "src/core/graph.h"
#include "tracer/cache/compiler.h"
#include "tracer/tell/testing.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

// Flips the lowest bit of the first element of one output, in its last stage.
class WrongExecutable final : public Executable {
 public:
  WrongExecutable(std::shared_ptr<Executable> real, const Graph& graph) : real_(std::move(real)) {
    std::size_t own = graph.inputs.size();
    for (const GraphOutput& output : graph.outputs) {
      const std::size_t place =
          output.writes >= 0 ? static_cast<std::size_t>(output.writes) : own++;
      if (is_floating(graph.type(output.value).dtype)) wrong_ = place;
    }
    stages_ = graph.stages;
  }
  std::size_t arena_bytes() const override { return real_->arena_bytes(); }
  std::int32_t run(void* const* buffers, const std::int64_t* sizes, const std::uint64_t* scalars,
                   ProgramContext& context) const noexcept override {
    const std::int32_t status = real_->run(buffers, sizes, scalars, context);
    if (context.stage + 1 == stages_) *static_cast<unsigned char*>(buffers[wrong_]) ^= 1;
    return status;
  }
  std::string describe() const override { return real_->describe(); }

 private:
  std::shared_ptr<Executable> real_;
  std::size_t wrong_ = 0;
  std::int32_t stages_ = 1;
};

class WrongCompiler final : public Compiler {
 public:
  explicit WrongCompiler(Compiler& real) : real_(real) {}
  std::shared_ptr<Executable> compile(Graph graph) override {
    const Graph recorded = graph;
    return std::make_unique<WrongExecutable>(real_.compile(std::move(graph)), recorded);
  }

 private:
  Compiler& real_;
};

class Checked : public ::testing::Test {
 protected:
  void SetUp() override {
    real_ = registered_compiler();
    ASSERT_TRUE(real_ != nullptr);
    wrong_ = std::make_unique<WrongCompiler>(*real_);
    register_compiler(*wrong_);
    tt::set_hot(1);
    tt::set_synchronous(true);
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
    tt::set_check(1);
  }
  void TearDown() override {
    tt::set_check(-1);
    tt::forget_everything();
    if (real_) register_compiler(*real_);
  }

 private:
  Compiler* real_ = nullptr;
  std::unique_ptr<WrongCompiler> wrong_;
};

TEST_F(Checked, FindsAWrongResult) {
  const auto loop = [] {
    auto state = groove::full({3}, 0.25);
    for (int step = 0; step < 10; ++step) {
      state = (state * 1.5).tanh();
      state.sum().item<double>();
    }
  };
  EXPECT_THROW(loop(), Error);
}

TEST_F(Checked, FindsAWrongWrittenInput) {
  const auto loop = [] {
    auto state = groove::full({3}, 0.25);
    for (int step = 0; step < 10; ++step) {
      state.mul_(1.5);
      state.tanh_();
      state.sum().item<double>();
    }
  };
  EXPECT_THROW(loop(), Error);
}

// One that later calls of the same run have added to.
TEST_F(Checked, FindsAWrongGradient) {
  auto weight = groove::full({3}, 0.25).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.1));
  const auto loop = [&] {
    for (int step = 0; step < 10; ++step) {
      optimizer.zero_grad();
      weight.exp().sum().backward();
      weight.square().sum().backward();
      optimizer.step();
    }
  };
  EXPECT_THROW(loop(), Error);
}

}  // namespace
}  // namespace groove::testing
