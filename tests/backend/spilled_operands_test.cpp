// Code for AVX2 reads values that had to be put aside with instructions that AVX2 has. A processor
// with AVX-512 runs the others, too, so the text of the code is looked at.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/expr.h"

namespace groove::kernels::testing {
namespace {

// More values at once than there are registers, each of which `use` then reads.
std::string avx2_code(ScalarType dtype, ScalarType result, Expr (*use)(const Expr&)) {
  constexpr std::size_t kValues = 40;
  Builder b;
  std::vector<Expr> loaded, values;
  for (std::size_t i = 0; i < kValues; ++i)
    loaded.push_back(b.load(dtype, StrideClass::kContiguous));
  for (std::size_t i = 0; i < kValues; ++i) values.push_back(loaded[i] * loaded[(i + 1) % kValues]);
  for (const Expr& value : values) b.store(result, StrideClass::kContiguous, use(value));
  const Isa usual = isa();
  set_isa_limit(Isa::kAvx2);
  const std::string text = find_backend("asmjit")->compile(b.finish())->listing();
  set_isa_limit(usual);
  return text;
}

// vpsrld ymm1, [rsp + 64], 16: AVX2 shifts registers only by an immediate.
void expect_no_shift_of_memory(const std::string& text) {
  static const std::regex shift(R"(vps(ll|rl|ra)(w|d|q|dq) [^\n]*\[[^\n]*\], (0x)?[0-9a-fA-F]+)");
  std::smatch found;
  EXPECT_FALSE(std::regex_search(text, found, shift)) << found[0];
  EXPECT_NE(text.find("[rsp"), std::string::npos) << "nothing was put aside:\n" << text;
}

TEST(SpilledOperands, RoundedToBFloat16) {
  expect_no_shift_of_memory(
      avx2_code(kFloat, kBFloat16, [](const Expr& x) { return convert(x, kBFloat16); }));
}

TEST(SpilledOperands, ShiftedIntegers) {
  expect_no_shift_of_memory(avx2_code(kLong, kLong, [](const Expr& x) {
    return shift_left(x * x, x.builder().constant_int(kLong, 3));
  }));
  expect_no_shift_of_memory(avx2_code(kShort, kShort, [](const Expr& x) { return x * x; }));
}

}  // namespace
}  // namespace groove::kernels::testing
