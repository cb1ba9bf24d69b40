// randint: uniform integers, by the high part of word * range.
#include <limits>

#include "kernels/ops/random.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

kernels::Expr in_range(const kernels::Body& b, kernels::Expr word) {
  return b.numbers[2] + shift_right_logical(word * b.numbers[3], b.builder.constant_int(kLong, 32));
}

kernels::Exprs fours(kernels::Body& b) {
  kernels::Exprs four = random_words(b, b.flat_index());
  for (kernels::Expr& word : four) word = in_range(b, word);
  return four;
}

const Op& op = define_random({
    .name = "randint",
    .inputs = 0,
    .attributes = factory_attributes(),
    .number_names = {"seed", "draw", "low", "range"},
    .type = [](const Signature& s) -> TypeResult {
      check_sizes("randint", s.attr().integers(0));
      return {{{s.attr().dtype(1), s.attr().integers(0)}}, kLong};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{in_range(b, random_word(b, b.flat_index()))};
            },
        .raw_numbers = 15,
        .uses_flat_index = true}),
    .range =
        [](const Signature& s, ArrayRef<ValueRange>, int) {
          const double low = s.numbers[2].to_double(), count = s.numbers[3].to_double();
          return converted_range(kLong, {low, low + count - 1}, s.attr().dtype(1));
        },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>&) {
          std::uint64_t at = 0;
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](const Shape&) {
            const std::uint64_t word = reference_philox_word(s, 0, at++);
            const auto range = static_cast<std::uint64_t>(s.numbers[3].to_int());
            return s.numbers[2].to_double() + static_cast<double>(word * range >> 32);
          })};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples = random_samples(dtype);
          for (Sample& sample : samples) {
            sample.numbers.push_back(Scalar(-3));
            sample.numbers.push_back(Scalar(10));
          }
          return samples;
        },
    .tolerance_ulp = 0,
});
[[maybe_unused]] const bool has_fours = draws_fours(op, fours);

// Integers from `low` on, `span` more at the most; any span of 63 bits.
Tensor whole_numbers(IntArrayRef sizes, std::int64_t low, std::int64_t span, Site site) {
  if (span < (std::int64_t{1} << 31)) return randint(low, low + span + 1, sizes, {}, site);
  const Tensor bits =
      bitwise_and(random_bits(sizes, site), std::numeric_limits<std::int64_t>::max());
  if (span == std::numeric_limits<std::int64_t>::max()) return bits + low;
  return remainder(bits, span + 1) + low;
}

// The greatest whole number below which the dtype holds all of them.
std::int64_t greatest_whole(ScalarType dtype) {
  switch (dtype) {
    case kBool:
      return 1;
    case kByte:
      return 255;
    case kBFloat16:
      return 1 << 8;
    case kHalf:
      return 1 << 11;
    case kFloat:
      return 1 << 24;
    case kDouble:
      return std::int64_t{1} << 53;
    default:
      return static_cast<std::int64_t>(~std::uint64_t{0} >>
                                       (65 - 8 * static_cast<int>(element_size(dtype))));
  }
}

Tensor& fill_random(const Tensor& self, std::int64_t low, std::int64_t span, Site site) {
  const SiteScope scope(site, nullptr);
  const Tensor values = whole_numbers(type_of(self).sizes, low, span, site);
  return self.copy_(values, false, site);
}

}  // namespace

Tensor& MathMethods::random_(Site site) const {
  const CallFrame frame(site);
  return fill_random(self(), 0, greatest_whole(checked("random_", self()).dtype), site);
}
Tensor& MathMethods::random_(std::int64_t to, Site site) const { return random_(0, to, site); }
Tensor& MathMethods::random_(std::int64_t from, std::optional<std::int64_t> to, Site site) const {
  const CallFrame frame(site);
  const ScalarType dtype = checked("random_", self()).dtype;
  const std::int64_t end = to ? *to - 1 : greatest_whole(dtype);
  GROOVE_CHECK(from <= end, "random_: from {} must be less than to {}", from, end + 1);
  return fill_random(self(), from, end - from, site);
}

Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef size, TensorOptions options,
               Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(low < high && high - low <= (std::int64_t{1} << 31),
               "randint: low {} and high {}: high must be greater, by at most 2^31", low, high);
  check_sizes("randint", size);
  const DrawNumbers draw = next_draw();
  return call(drawn_by(op, draw), {}, site,
              Attrs().add(size).add(options.dtype_opt().value_or(kLong)),
              {draw.seed, draw.draw, Scalar(low), Scalar(high - low)});
}
Tensor randint(std::int64_t high, IntArrayRef size, TensorOptions options, Site site) {
  return randint(0, high, size, options, site);
}
Tensor randint_like(Arg self, std::int64_t low, std::int64_t high, TensorOptions options) {
  const CallFrame frame(self.site);
  const TensorImpl& like = checked("randint_like", *self.tensor);
  return randint(low, high, like.geometry.sizes,
                 options.dtype(options.dtype_opt().value_or(like.dtype)), self.site);
}
Tensor randint_like(Arg self, std::int64_t high, TensorOptions options) {
  return randint_like(self, 0, high, options);
}

}  // namespace groove
