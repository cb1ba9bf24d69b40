// randperm: the positions of random keys in ascending order; equal keys keep their order.
#include "groove/ops/index.h"
#include "kernels/ops/random.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

// 64 random bits an element, from two words.
const Op& op_keys = define({
    .name = "random_bits",
    .inputs = 0,
    .attributes = factory_attributes(),
    .number_names = {"seed", "draw"},
    .type = [](const Signature& s) -> TypeResult {
      return {{{s.attr().dtype(1), s.attr().integers(0)}}, kLong};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              const kernels::Expr first = b.flat_index() + b.flat_index();
              const auto word = [&](kernels::Expr at) {
                return convert(philox_word(b.numbers[0], b.numbers[1], at), kLong) &
                       b.builder.constant_int(kLong, 0xffffffff);
              };
              const kernels::Expr high =
                  shift_left(word(first + 1.0), b.builder.constant_int(kLong, 32));
              return kernels::Exprs{high | word(first)};
            },
        .raw_numbers = 3,
        .uses_flat_index = true}),
    .has_inplace = false,
    .is_random = true,
    .reference =
        [](const Signature& s, const std::vector<Reference>&) {
          std::uint64_t at = 0;
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](const Shape&) {
            const auto word = [&] {
              return std::uint64_t{
                  reference_philox_word(static_cast<std::uint64_t>(s.numbers[0].to_int()),
                                        static_cast<std::uint64_t>(s.numbers[1].to_int()), at++)};
            };
            const std::uint64_t low = word(), high = word();
            return static_cast<double>(static_cast<std::int64_t>(high << 32 | low));
          })};
        },
    .dtypes = {kLong},
    .samples = random_samples,
    .tolerance_ulp = 0,
});

}  // namespace

Tensor randperm(std::int64_t n, TensorOptions options, Site site) {
  GROOVE_CHECK(n >= 0, "randperm: size {} is negative", n);
  const SiteScope scope(site);
  const DrawNumbers draw = next_draw();
  const Shape sizes{n};
  const Tensor keys =
      call(op_keys, {}, site, Attrs().add(IntArrayRef(sizes)).add(kLong), {draw.seed, draw.draw});
  const ScalarType dtype = options.dtype_opt().value_or(kLong);
  Tensor result = argsort({keys, site}).to(dtype, false, false, site);
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}

}  // namespace groove
