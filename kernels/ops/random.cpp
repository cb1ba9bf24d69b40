// Random factories: their type, their call, and Philox once more for the references.
#include "kernels/ops/random.h"

#include <unordered_map>

#include "groove/generator.h"
#include "kernels/ops/reference.h"
#include "src/core/complex.h"

namespace groove {

namespace {

std::unordered_map<const Op*, const Op*>& twins() {
  static std::unordered_map<const Op*, const Op*> map;
  return map;
}

}  // namespace

const Op& define_random(Op op) {
  Op of_generator = op;
  of_generator.name += "_of_generator";
  op.is_random = true;
  const Op& result = define(std::move(op));
  twins()[&result] = &define(std::move(of_generator));
  return result;
}

bool draws_fours(const Op& op, kernels::FourAtOnce fours) {
  kernels::define_fours(op, fours);
  kernels::define_fours(*twins().at(&op), fours);
  return true;
}

const Op& drawn_by(const Op& op, const DrawNumbers& draw) {
  return draw.is_of_generator ? *twins().at(&op) : op;
}

DrawNumbers next_draw() {
  const auto numbers = [](std::uint64_t seed, std::uint64_t draw, bool is_of_generator) {
    return DrawNumbers{static_cast<std::int64_t>(seed), static_cast<std::int64_t>(draw),
                       is_of_generator};
  };
  if (const std::optional<RandomState> own = DrawsFrom::next())
    return numbers(own->seed, own->draws, true);
  const Draw draw = draw_next();
  return numbers(draw.seed, draw.number, false);
}

std::vector<AttrField> factory_attributes() {
  return {{"sizes", AttrType::kInts}, {"dtype", AttrType::kDtype}};
}

TypeResult random_type(const Signature& s) {
  const ScalarType dtype = s.attr().dtype(1);
  check_sizes(s.op.name.c_str(), s.attr().integers(0));
  GROOVE_CHECK(is_floating(dtype), "{}: dtype {} is not floating; use randint for integers",
               s.op.name, name(dtype));
  return {{{dtype, s.attr().integers(0)}}, dtype};
}

std::vector<Sample> random_samples(ScalarType dtype) {
  std::vector<Sample> samples;
  for (const Shape& sizes : {Shape{}, Shape{1}, Shape{0}, Shape{5}, Shape{3, 7}, Shape{70}})
    samples.push_back({{}, Attrs().add(IntArrayRef(sizes)).add(dtype), {Scalar(12345), Scalar(7)}});
  return samples;
}

Tensor random_tensor(const Op& op, IntArrayRef size, const TensorOptions& options, Site site) {
  if (is_complex(options.dtype())) {
    Shape both(size);
    both.push_back(2);
    return from_pair(random_tensor(op, both, options.dtype(real_dtype(options.dtype())), site));
  }
  const Attrs attrs = Attrs().add(size).add(options.dtype());
  op.type({op, {}, attrs, {}});  // a bad call must not advance the generator
  const DrawNumbers draw = next_draw();
  Tensor result = call(drawn_by(op, draw), {}, site, attrs, {draw.seed, draw.draw});
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}

UniformPair uniform_pair(kernels::Expr seed, kernels::Expr draw, kernels::Expr pair,
                         ScalarType dtype) {
  using kernels::philox_block;
  kernels::Builder& b = pair.builder();
  if (dtype != kFloat) {
    const auto& words = philox_block(seed, draw, pair).words;
    return {kernels::uniform_f64(words[0], words[1]), kernels::uniform_f64(words[2], words[3])};
  }
  const kernels::Expr one = b.constant_int(kLong, 1);
  const auto& words = philox_block(seed, draw, shift_right_logical(pair, one)).words;
  const kernels::Expr is_upper = ne(pair & one, 0.0);
  return {kernels::uniform_f32(select(is_upper, words[2], words[0])),
          kernels::uniform_f32(select(is_upper, words[3], words[1]))};
}

kernels::Exprs four_uniform(kernels::Expr seed, kernels::Expr draw, kernels::Expr four,
                            ScalarType dtype) {
  using kernels::philox_block;
  kernels::Exprs result;
  if (dtype == kFloat) {
    for (const kernels::Expr word : philox_block(seed, draw, four).words)
      result.push_back(kernels::uniform_f32(word));
    return result;
  }
  for (const double half : {0.0, 1.0}) {
    const auto& words = philox_block(seed, draw, four + four + half).words;
    result.push_back(kernels::uniform_f64(words[0], words[1]));
    result.push_back(kernels::uniform_f64(words[2], words[3]));
  }
  return result;
}

kernels::Exprs random_words(kernels::Body& b, kernels::Expr block) {
  kernels::Exprs result;
  for (const kernels::Expr word : philox_block(b.numbers[0], b.numbers[1], block).words)
    result.push_back(convert(word, kLong) & b.builder.constant_int(kLong, 0xffffffff));
  return result;
}

kernels::Expr random_word(kernels::Body& b, kernels::Expr index) {
  return convert(philox_word(b.numbers[0], b.numbers[1], index), kLong) &
         b.builder.constant_int(kLong, 0xffffffff);
}

std::uint64_t reference_philox_word(const Signature& s, std::size_t first_number,
                                    std::uint64_t index) {
  const auto seed = static_cast<std::uint64_t>(s.numbers[first_number].to_int());
  const auto draw = static_cast<std::uint64_t>(s.numbers[first_number + 1].to_int());
  const std::uint64_t block = index / 4;
  std::uint32_t counter[4] = {
      static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(draw >> 32),
      static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32)};
  std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * counter[0], b = 0xCD9E8D57ull * counter[2];
    const std::uint32_t next[4] = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    for (int i = 0; i < 4; ++i) counter[i] = next[i];
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter[index % 4];
}

double reference_uniform(const Signature& s, std::size_t first_number, std::int64_t index,
                         ScalarType dtype) {
  const auto at = static_cast<std::uint64_t>(index);
  if (dtype != kDouble)
    return static_cast<double>(reference_philox_word(s, first_number, at) >> 8) * 0x1p-24;
  const std::uint64_t low = reference_philox_word(s, first_number, 2 * at);
  const std::uint64_t high = reference_philox_word(s, first_number, 2 * at + 1);
  return static_cast<double>((high >> 5) << 26 | low >> 6) * 0x1p-53;
}

}  // namespace groove
