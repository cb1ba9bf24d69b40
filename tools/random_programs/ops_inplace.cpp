// What writes into an operand or into a view of it.
#include "tools/random_programs/operands.h"

namespace groove::random_programs {

const std::vector<Op>& inplace_ops() {
  static const std::vector<Op> all = {
      {"add_", 2, RUN(v.a.add_(v.b, 1, v.site)), 8},
      {"add_scaled_", 2, RUN(v.a.add_(v.b, v.x, v.site)), 6},
      {"sub_", 2, RUN(v.a.sub_(v.b, 1, v.site))},
      {"mul_", 2, RUN(v.a.mul_(v.b, v.site))},
      {"div_", 2, RUN(v.a.div_(v.b, v.site)), 1},
      {"add_number_", 1, RUN(v.a.add_(v.x, 1, v.site)), 6},
      {"mul_number_", 1, RUN(v.a.mul_(v.x, v.site)), 6},
      {"copy_", 2, RUN(v.a.copy_(v.b, false, v.site)), 8},
      {"fill_", 1, RUN(v.a.fill_(v.x, v.site)), 4},
      {"zero_", 1, RUN(v.a.zero_(v.site)), 4},
      {"relu_", 1, RUN(v.a.relu_(v.site))},
      {"tanh_", 1, RUN(v.a.tanh_(v.site))},
      {"sigmoid_", 1, RUN(v.a.sigmoid_(v.site))},
      {"exp_", 1, RUN(v.a.exp_(v.site)), 1},
      {"neg_", 1, RUN(v.a.neg_(v.site))},
      {"sin_", 1, RUN(v.a.sin_(v.site))},
      {"clamp_", 1, RUN(v.a.clamp_(-v.x, v.x, v.site))},
      {"pow_", 1, RUN(v.a.pow_(2, v.site)), 1},
      {"masked_fill_", 2, RUN(v.a.masked_fill_(as_mask(v.b, v.site), v.x, v.site))},
      {"index_add_", 2,
       RUN(v.a.index_add_(0, positions(v.b.size(0), v.a.size(0), v.j, v.k), v.b, v.site)), 4, true},
      {"scatter_add_", 2,
       RUN(v.a.scatter_add_(
           0, positions(v.b.numel(), v.a.size(0), v.j, v.k).reshape(v.b.sizes(), v.site), v.b,
           v.site))},
      {"silu_then_copy_", 1, RUN(v.a.copy_(groove::silu(Arg(v.a, v.site)), false, v.site))},
      {"erf_", 1, RUN(v.a.erf_(v.site)), 2},
      {"round_", 1, RUN(v.a.round_(v.site)), 2},
      {"lerp_", 2, RUN(v.a.lerp_(v.b, v.x, v.site))},
      {"addcmul_", 3, RUN(v.a.addcmul_(v.b, v.c, v.x, v.site))},
      {"scatter_", 1,
       RUN(v.a.scatter_(0, positions(v.a.size(0), v.a.size(0), v.j, 1), Scalar(v.x), v.site)), 2},
      {"index_copy_", 2,
       RUN(v.a.index_copy_(0, different_positions(v.b.size(0), v.a.size(0), v.j), v.b, v.site))},
      {"index_fill_", 1,
       RUN(v.a.index_fill_(0, positions(1 + wrap(v.k, 4), v.a.size(0), v.j, 2), v.x, v.site))},
      {"index_put_", 1,
       RUN(v.a.index_put_({positions(1 + wrap(v.k, 4), v.a.size(0), v.j, 2)}, Scalar(v.x), v.site)),
       2},
      {"diagonal_fill_", 1, RUN(v.a.diagonal(0, 0, 1, v.site).fill_(v.x, v.site))},
      {"bernoulli_", 1, RUN(v.a.bernoulli_(0.25, v.site)), 1},
      {"uniform_", 1, RUN(v.a.uniform_(0, 1, v.site)), 2},
      {"normal_", 1, RUN(v.a.normal_(0, 1, v.site)), 2},
      // Writes through views that nobody keeps.
      {"select_write_", 2,
       RUN((v.a[detail::SubscriptArg(wrap(v.j, v.a.size(0)), v.site)] = Arg(v.b, v.site), v.a)), 6,
       true},
      {"select_fill_", 1,
       RUN((v.a[detail::SubscriptArg(wrap(v.j, v.a.size(0)), v.site)] =
                detail::ScalarArg(v.x, v.site),
            v.a)), 4, true},
      {"narrow_mul_", 1, RUN(narrowed(v).mul_(v.x, v.site)), 8, true},
      {"slice_add_", 1, RUN(sliced(v).add_(v.x, 1, v.site)), 6, true},
      {"transposed_add_", 2, RUN(v.a.t(v.site).add_(v.b, 1, v.site)), 4},
      {"slice_copy_", 2, RUN(sliced(v).copy_(v.b, false, v.site)), 4, true},
  };
  return all;
}

}  // namespace groove::random_programs
