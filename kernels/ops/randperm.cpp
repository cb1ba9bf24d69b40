// randperm: the positions of random keys in ascending order; equal keys keep their order.
#include "groove/ops/index.h"
#include "kernels/ops/random.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

kernels::Expr joined(kernels::Expr low, kernels::Expr high) {
  return shift_left(high, high.builder().constant_int(kLong, 32)) | low;
}

kernels::Exprs fours(kernels::Body& b) {
  const kernels::Expr block = b.flat_index() + b.flat_index();
  const kernels::Exprs even = random_words(b, block), odd = random_words(b, block + 1.0);
  return {joined(even[0], even[1]), joined(even[2], even[3]), joined(odd[0], odd[1]),
          joined(odd[2], odd[3])};
}

// 64 random bits an element, from two words.
const Op& op_keys = define_random({
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
              const kernels::Expr index = b.flat_index();
              const kernels::Expr one = b.builder.constant_int(kLong, 1);
              const kernels::Exprs words = random_words(b, shift_right_logical(index, one));
              return kernels::Exprs{select(ne(index & one, 0.0), joined(words[2], words[3]),
                                           joined(words[0], words[1]))};
            },
        .raw_numbers = 3,
        .uses_flat_index = true}),
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>&) {
          std::uint64_t at = 0;
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](const Shape&) {
            const std::uint64_t low = reference_philox_word(s, 0, at++);
            const std::uint64_t high = reference_philox_word(s, 0, at++);
            return static_cast<double>(static_cast<std::int64_t>(high << 32 | low));
          })};
        },
    .dtypes = {kLong},
    .samples = random_samples,
    .tolerance_ulp = 0,
});
[[maybe_unused]] const bool has_fours = draws_fours(op_keys, fours);

}  // namespace

Tensor& randperm_out(Tensor& out, std::int64_t n, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(checked("randperm_out", out).numel == n,
               "randperm_out: out has {} elements, not {}; make it of that size", out.numel(), n);
  return out.copy_(randperm(n, {}, site).view(out.sizes(), site), false, site);
}

Tensor random_bits(IntArrayRef sizes, Site site) {
  const DrawNumbers draw = next_draw();
  return call(drawn_by(op_keys, draw), {}, site, Attrs().add(sizes).add(kLong),
              {draw.seed, draw.draw});
}

Tensor randperm(std::int64_t n, TensorOptions options, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(n >= 0, "randperm: size {} is negative", n);
  const SiteScope scope(site);
  const Tensor keys = random_bits(Shape{n}, site);
  const ScalarType dtype = options.dtype_opt().value_or(kLong);
  Tensor result = argsort({keys, site}).to(dtype, false, false, site);
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}

}  // namespace groove
