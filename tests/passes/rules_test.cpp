// Each exact rule of simplify, proved over every pair of special values: what the rule puts in the
// place of an instruction has its bits, any NaN counting as any other. And the memory checker,
// which must find what the planner must not do.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "jit/passes/scalar_rules.h"
#include "jit/plan_memory.h"
#include "kernels/backend.h"

namespace groove::jit {
namespace {

using kernels::Builder;
using kernels::Expr;
using kernels::Prim;

constexpr float kSpecials[] = {0.0f,     -0.0f,     1.0f,     -1.0f,     2.5f,
                               INFINITY, -INFINITY, NAN,      1e-45f,    -1e-45f,
                               1e-40f,   3.4e38f,   -3.4e38f, 1.17e-38f, 0.1f};

float evaluate(Builder& builder, Expr expr, float x) {
  builder.store(kFloat, kernels::StrideClass::kContiguous, expr);
  const auto code =
      kernels::compile_cached(*kernels::find_backend("interpreter"), builder.finish());
  float result = 0;
  void* pointers[] = {&x, &result};
  const std::int64_t strides[2][kernels::kMaxAxes] = {{1}, {1}};
  kernels::Launch launch;
  launch.pointers = pointers;
  launch.strides = strides;
  code->run(launch);
  return result;
}

TEST(ScalarRules, AreExactForEveryConstantTheyAccept) {
  const Prim prims[] = {Prim::kMul, Prim::kDiv, Prim::kAdd, Prim::kSub, Prim::kMax, Prim::kMin};
  int fired = 0;
  for (const Prim prim : prims) {
    for (const float constant : kSpecials) {
      for (const int form : {0, 1, 2}) {  // x op c, c op x, x op x
        for (const float x : kSpecials) {
          Builder builder;
          const Expr value = builder.load(kFloat, kernels::StrideClass::kContiguous);
          const Expr other = builder.constant_bits(kFloat, std::bit_cast<std::uint32_t>(constant));
          const Expr expr =
              builder.emit(prim, kFloat, form == 1 ? other : value, form == 0 ? other : value);
          if (simplified_to_load(builder, expr) < 0) continue;
          ++fired;
          const float result = evaluate(builder, expr, x);
          const bool is_same = std::isnan(x) ? std::isnan(result)
                                             : std::bit_cast<std::uint32_t>(x) ==
                                                   std::bit_cast<std::uint32_t>(result);
          EXPECT_TRUE(is_same) << kernels::name(prim) << " form " << form << " constant "
                               << constant << ": " << x << " became " << result;
        }
      }
    }
  }
  EXPECT_GT(fired, 0);
}

TEST(ScalarRules, DoNotAddPositiveZero) {
  Builder builder;
  const Expr x = builder.load(kFloat, kernels::StrideClass::kContiguous);
  EXPECT_LT(simplified_to_load(builder, x + 0.0), 0);
  EXPECT_EQ(simplified_to_load(builder, x + -0.0), 0);
  EXPECT_EQ(simplified_to_load(builder, -(-x)), 0);
}

// Two launches after each other over three buffers.
Lowered three_buffers() {
  Lowered lowered;
  for (int i = 0; i < 3; ++i) {
    Buffer buffer;
    buffer.bytes = 256;
    buffer.offset = 256 * i;
    lowered.buffers.push_back(buffer);
  }
  for (int i = 0; i < 3; ++i) {
    LaunchPlan launch;
    if (i > 0) launch.operands.push_back({kFloat, false, i - 1, 0, {}, true});
    launch.operands.push_back({kFloat, true, i, 0, {}, true});
    Builder builder;
    builder.store(kFloat, kernels::StrideClass::kContiguous,
                  i > 0 ? builder.load(kFloat, kernels::StrideClass::kContiguous)
                        : builder.constant(kFloat, 1.0));
    launch.kernel = std::make_shared<const kernels::Kernel>(builder.finish());
    lowered.launches.push_back(launch);
  }
  return lowered;
}
Schedule one_after_the_other() {
  Schedule schedule;
  schedule.levels = {{{0}}, {{1}}, {{2}}};
  schedule.stage_begin = {0, 3};
  schedule.level_of = {0, 1, 2};
  return schedule;
}

TEST(MemoryChecker, AcceptsAndRejects) {
  EXPECT_EQ(check_memory(three_buffers(), one_after_the_other()), "");
  Lowered clash = three_buffers();
  clash.buffers[1].offset = 64;  // overlaps what it reads, at another index
  EXPECT_EQ(check_memory(clash, one_after_the_other()).empty(), false);
  Lowered lost = three_buffers();
  lost.buffers[1].offset = 0;  // in place, but buffer 0 is read again later
  lost.launches[2].operands.push_back({kFloat, false, 0, 0, {}, true});
  EXPECT_EQ(check_memory(lost, one_after_the_other()).empty(), false);
  Lowered early = three_buffers();
  early.launches[0].operands.push_back({kFloat, false, 2, 0, {}, true});
  EXPECT_EQ(check_memory(early, one_after_the_other()).empty(), false);
}

// A row is stored before it is read for the last time.
TEST(MemoryPlanner, KeepsWhatALaterPhaseLoads) {
  Lowered lowered = three_buffers();
  Builder builder;
  const Expr x = builder.load(kFloat, kernels::StrideClass::kContiguous);
  builder.store(kFloat, kernels::StrideClass::kContiguous, x);
  kernels::Kernel kernel = builder.finish();
  const kernels::Instr load = kernel.code[0];
  kernel.code.push_back(load);
  lowered.launches[1].kernel = std::make_shared<const kernels::Kernel>(std::move(kernel));
  EXPECT_EQ(plan_memory(lowered, one_after_the_other(), 64).bytes, 64 + 512);
}

TEST(MemoryPlanner, ReusesMemoryInPlace) {
  Lowered lowered = three_buffers();
  const MemoryPlan plan = plan_memory(lowered, one_after_the_other(), 64);
  EXPECT_EQ(check_memory(lowered, one_after_the_other()), "");
  EXPECT_EQ(plan.bytes, 64 + 256);
}

}  // namespace
}  // namespace groove::jit
