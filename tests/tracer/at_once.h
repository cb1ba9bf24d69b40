// Tests of loops that are compiled as soon as they repeat, on the thread that runs them.
#pragma once

#include <gtest/gtest.h>

#include "groove/jit.h"
#include "tracer/tell/testing.h"

namespace groove::testing {

class CompiledAtOnce : public ::testing::Test {
 protected:
  void SetUp() override {
    tracer::testing::set_hot(1);
    tracer::testing::set_synchronous(true);
    tracer::testing::forget_everything();
    jit::set_mode(jit::Mode::kAuto);
  }
  void TearDown() override {
    tracer::testing::forget_everything();
    jit::set_mode(jit::Mode::kAuto);
  }
};

}  // namespace groove::testing
