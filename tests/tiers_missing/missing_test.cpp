// The loader of tier 2 built to look where no library is: a reason, never an error.
#include <gtest/gtest.h>

#include "groove/error.h"
#include "kernels/backend.h"
#include "kernels/expr.h"

namespace groove::kernels {
namespace {

TEST(MissingLibrary, GivesAReason) {
  Backend* const llvm = find_backend("llvm");
  ASSERT_NE(llvm, nullptr);
  const std::string problem = llvm->unavailable();
  EXPECT_NE(problem.find("install"), std::string::npos) << problem;
  EXPECT_EQ(llvm->unavailable(), problem);
}

TEST(MissingLibrary, LeavesTier1) {
  EXPECT_STREQ(current_backend().name(), "asmjit");
  Builder b;
  b.store(kFloat, StrideClass::kContiguous, b.load(kFloat, StrideClass::kContiguous) + 1.0);
  const Kernel kernel = b.finish();
  EXPECT_THROW(compile_cached(*find_backend("llvm"), kernel), Error);
  EXPECT_NO_THROW(compile_cached(current_backend(), kernel));
}

}  // namespace
}  // namespace groove::kernels
