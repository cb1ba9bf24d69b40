// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
// SC'11). Key: the low and high word of the seed. Counter, word 0 to 3: draw low, draw high,
// block low, block high, where block = index div 4. The word of element `index` is word
// index mod 4 of the result.
#include "kernels/philox.h"

#include "src/core/faults.h"

namespace groove::kernels {
namespace {

constexpr std::int64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::int64_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

Expr word_constant(Builder& builder, std::int64_t value) {
  return builder.constant_int(kInt, value);
}
Expr low_word(Expr x) { return convert(x, kInt); }
Expr high_word(Expr x) {
  return convert(shift_right_logical(x, x.builder().constant_int(kLong, 32)), kInt);
}

}  // namespace

PhiloxBlock philox_block(Expr seed, Expr draw, Expr block) {
  Builder& b = block.builder();
  PhiloxBlock result{{low_word(draw), high_word(draw), low_word(block), high_word(block)}};
  Expr(&c)[4] = result.words;
  if (has_fault(Fault::kWrongPhiloxCounter)) std::swap(c[0], c[2]);
  Expr key[2] = {low_word(seed), high_word(seed)};
  const Expr m0 = word_constant(b, kMultiplier0), m1 = word_constant(b, kMultiplier1);
  for (int round = 0; round < kRounds; ++round) {
    const Expr product0_high = mul_high(m0, c[0]), product0_low = m0 * c[0];
    const Expr product1_high = mul_high(m1, c[2]), product1_low = m1 * c[2];
    c[0] = product1_high ^ c[1] ^ key[0];
    c[1] = product1_low;
    c[2] = product0_high ^ c[3] ^ key[1];
    c[3] = product0_low;
    key[0] = key[0] + word_constant(b, kWeyl0);
    key[1] = key[1] + word_constant(b, kWeyl1);
  }
  return result;
}

Expr philox_word(Expr seed, Expr draw, Expr index) {
  Builder& b = index.builder();
  const auto& c =
      philox_block(seed, draw, shift_right_logical(index, b.constant_int(kLong, 2))).words;
  const Expr lane = low_word(index) & word_constant(b, 3);
  const Expr lower = select(eq(lane, 0.0), c[0], c[1]);
  const Expr upper = select(eq(lane, 2.0), c[2], c[3]);
  return select(lt(lane, 2.0), lower, upper);
}

// The upper 24 bits of the word, times 2^-24.
Expr uniform_f32(Expr word) {
  const Expr bits = shift_right_logical(word, word_constant(word.builder(), 8));
  return convert(bits, kFloat) * 0x1p-24;
}

// The upper 53 bits of the 64: 27 of the high word and 26 of the low one; every step is exact.
Expr uniform_f64(Expr low_word, Expr high_word) {
  Builder& b = low_word.builder();
  const Expr upper = convert(shift_right_logical(high_word, word_constant(b, 5)), kDouble);
  const Expr lower = convert(shift_right_logical(low_word, word_constant(b, 6)), kDouble);
  return (upper * 0x1p26 + lower) * 0x1p-53;
}

}  // namespace groove::kernels
