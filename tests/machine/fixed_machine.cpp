// Part of every test program that has kernels: code is made for the same machine wherever a test
// runs, but for the instruction set, which has to be there (GROOVE_ISA chooses it). What is made
// for this machine is what random programs, samples and whole programs run.
#include <gtest/gtest.h>

#include "kernels/machine.h"
#include "src/core/environment.h"

namespace {

class FixedMachine : public testing::Environment {
 public:
  void SetUp() override {
    groove::environment();  // what it asks for is in force before any test looks
    groove::kernels::set_machine({});
  }
};

[[maybe_unused]] testing::Environment* const fixed =
    testing::AddGlobalTestEnvironment(new FixedMachine);

}  // namespace
