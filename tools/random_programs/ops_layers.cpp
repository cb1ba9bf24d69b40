// Reductions, contractions and what networks are made of.
#include "tools/random_programs/operands.h"

namespace groove::random_programs {
namespace {

Tensor matmul_that_fits(const Operands& v) {
  const Tensor& b = v.b;
  if (b.dim() == 2 && v.a.dim() >= 1 && v.a.size(-1) != b.size(0) && v.a.size(-1) == b.size(1))
    return groove::matmul(Arg(v.a, v.site), b.t(v.site));
  return groove::matmul(Arg(v.a, v.site), b);
}

Tensor outer_that_is_small(const Operands& v) {
  if (v.a.numel() * v.b.numel() > 30000) throw Error("random-programs: too many elements");
  return groove::outer(Arg(v.a, v.site), v.b);
}

Tensor layer_norm_that_fits(const Operands& v) {
  const std::int64_t width = v.a.size(-1);
  const ScalarType dtype = v.a.scalar_type();
  return groove::layer_norm(Arg(v.a, v.site), {width}, cut(v.b, {width}, dtype, v.site),
                            cut(v.c, {width}, dtype, v.site));
}

// Weights for `images` with an odd or even kernel; in one program in four a group per channel.
Tensor convolution(const Operands& v) {
  const Tensor input = images(v.a, v);
  const std::int64_t channels = input.size(1), side = input.size(2);
  const std::int64_t kernel = 1 + wrap(v.k, std::min<std::int64_t>(side, 3));
  const bool is_depthwise = wrap(v.j, 4) == 3;
  const std::int64_t filters = is_depthwise ? channels : 1 + wrap(v.j / 4, 5);
  const Tensor weight = cut(v.b, {filters, is_depthwise ? 1 : channels, kernel, kernel},
                            input.scalar_type(), v.site);
  const Tensor bias =
      v.i & 16 ? Tensor() : cut(v.b, {filters}, input.scalar_type(), v.site);
  return groove::conv2d(Arg(input, v.site), weight, bias, 1 + wrap(v.j / 32, 2), wrap(v.k / 4, 2),
                        1, is_depthwise ? channels : 1);
}

Tensor convolution_of_rows(const Operands& v) {
  if (v.a.dim() != 3) throw Error("random-programs: not three axes");
  const std::int64_t kernel = 1 + wrap(v.k, std::min<std::int64_t>(v.a.size(2), 3));
  return groove::conv1d(
      Arg(v.a, v.site),
      cut(v.b, {1 + wrap(v.j, 3), v.a.size(1), kernel}, v.a.scalar_type(), v.site), Tensor(), 1,
      wrap(v.i, 2));
}

Tensor batch_norm_of_images(const Operands& v) {
  const Tensor input = images(v.a, v);
  const std::int64_t channels = input.size(1);
  const ScalarType dtype = input.scalar_type();
  const bool is_training = (v.j & 1) != 0;
  const Tensor mean = cut(v.b.detach(v.site), {channels}, dtype, v.site).clone(v.site);
  const Tensor variance = mean.square(v.site).add(0.5, 1, v.site);
  return groove::batch_norm(Arg(input, v.site), cut(v.b, {channels}, dtype, v.site),
                            cut(v.c, {channels}, dtype, v.site), mean, variance, is_training, 0.1,
                            1e-5);
}

// [batch, time, width] for query, key and value.
Tensor attention(const Operands& v) {
  const std::int64_t width = 1 + wrap(v.i, 8), batch = 1 + wrap(v.j, 2);
  const auto rows = [&](const Tensor& t) {
    const std::int64_t length = std::min<std::int64_t>(t.numel() / (width * batch), 12);
    if (length < 1) throw Error("random-programs: too few elements");
    return cut(t, {batch, length, width}, v.a.scalar_type(), v.site);
  };
  const Tensor key = rows(v.b);
  return groove::scaled_dot_product_attention(Arg(rows(v.a), v.site), key,
                                              cut(v.c, sizes_of(key), v.a.scalar_type(), v.site),
                                              Tensor(), 0, (v.k & 1) != 0);
}

struct CellOperands {
  Tensor input, state, of_input, of_state;
};

CellOperands cell_operands(const Operands& v, std::int64_t gates) {
  const std::int64_t width = 1 + wrap(v.i, 5), inputs = 1 + wrap(v.j, 5), batch = 1 + wrap(v.k, 3);
  const ScalarType dtype = v.a.scalar_type();
  return {cut(v.a, {batch, inputs}, dtype, v.site), cut(v.b, {batch, width}, dtype, v.site),
          cut(v.c, {gates * width, inputs}, dtype, v.site),
          cut(v.c, {gates * width, width}, dtype, v.site)};
}

Tensor lstm(const Operands& v) {
  const CellOperands o = cell_operands(v, 4);
  const auto both = groove::lstm_cell(Arg(o.input, v.site), {o.state, o.state.tanh(v.site)},
                                      o.of_input, o.of_state);
  return v.i & 8 ? std::get<0>(both)
                 : groove::mul(Arg(std::get<0>(both), v.site), std::get<1>(both));
}

Tensor gru(const Operands& v) {
  const CellOperands o = cell_operands(v, 3);
  return groove::gru_cell(Arg(o.input, v.site), o.state, o.of_input, o.of_state);
}

}  // namespace

std::vector<Op> layer_ops() {
  return {
      BINARY(mse_loss),
      {"sum", 1, RUN(v.a.sum(axes(v.a, v.i), (v.j & 1) != 0, std::nullopt, v.site)), 12},
      {"sum_all", 1, RUN(v.a.sum(v.site))},
      {"mean", 1, RUN(v.a.mean(axes(v.a, v.i), (v.j & 1) != 0, std::nullopt, v.site)), 6},
      {"amax", 1, RUN(v.a.amax(axes(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"amin", 1, RUN(v.a.amin(axes(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"argmax", 1, RUN(v.a.argmax(axis(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"argmin", 1, RUN(v.a.argmin(std::nullopt, false, v.site)), 1},
      {"max_values", 1, RUN(std::get<0>(v.a.max(axis(v.a, v.i), (v.j & 1) != 0, v.site)))},
      {"max_indices", 1, RUN(std::get<1>(v.a.max(axis(v.a, v.i), (v.j & 1) != 0, v.site))), 2},
      {"min_values", 1, RUN(std::get<0>(v.a.min(axis(v.a, v.i), (v.j & 1) != 0, v.site))), 2},
      {"softmax", 1, RUN(v.a.softmax(axis(v.a, v.i), std::nullopt, v.site)), 6},
      {"log_softmax", 1, RUN(v.a.log_softmax(axis(v.a, v.i), std::nullopt, v.site)), 6},
      {"sum_to", 2, RUN(groove::sum_to(Arg(v.a, v.site), v.b.sizes())), 2},
      {"matmul", 2, matmul_that_fits, 24},
      {"matmul_self", 1, RUN(groove::matmul(Arg(v.a, v.site), v.a.t(v.site))), 4},
      {"linear", 3, RUN(groove::linear(Arg(v.a, v.site), v.b, v.c)), 16},
      {"linear_no_bias", 2, RUN(groove::linear(Arg(v.a, v.site), v.b)), 12},
      {"cross_entropy", 2,
       RUN(groove::cross_entropy_loss(Arg(v.a, v.site),
                                      as_integers(v.b, v.a.size(0), v.a.size(1), v),
                                      Tensor(), wrap(v.i, 3))),
       8},
      {"nll_loss", 2,
       RUN(groove::nll_loss(Arg(v.a, v.site), as_integers(v.b, v.a.size(0), v.a.size(1), v),
                            Tensor(), wrap(v.i, 3)))},
      {"dropout", 1, RUN(groove::dropout(Arg(v.a, v.site), 0.125 * (1 + wrap(v.i, 6)), true)), 6},
      {"prod", 1, RUN(v.a.prod(axis(v.a, v.i), (v.j & 1) != 0, std::nullopt, v.site))},
      {"any", 1, RUN(v.a.any(axis(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"all", 1, RUN(v.a.all(axis(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"var", 1, RUN(v.a.var(axes(v.a, v.i), (v.j & 2) != 0, (v.j & 1) != 0, v.site))},
      {"std", 1, RUN(v.a.std(axes(v.a, v.i), (v.j & 2) != 0, (v.j & 1) != 0, v.site))},
      {"var_mean", 1,
       RUN(std::get<1>(
           groove::var_mean(Arg(v.a, v.site), axes(v.a, v.i), (v.j & 2) != 0, (v.j & 1) != 0)))},
      {"norm", 1, RUN(v.a.norm(Scalar(1 + wrap(v.k, 3)), axes(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"cumsum", 1, RUN(v.a.cumsum(axis(v.a, v.i), std::nullopt, v.site))},
      {"cumprod", 1, RUN(v.a.cumprod(axis(v.a, v.i), std::nullopt, v.site)), 2},
      {"logsumexp", 1, RUN(v.a.logsumexp(axes(v.a, v.i), (v.j & 1) != 0, v.site))},
      {"count_nonzero", 1, RUN(v.a.count_nonzero(axis(v.a, v.i), v.site)), 2},
      {"sum_wide", 1, RUN(v.a.sum(axes(v.a, v.i), (v.j & 1) != 0, dtype_from(v.k), v.site))},
      {"layer_norm", 3, layer_norm_that_fits, 8},
      {"layer_norm_plain", 1, RUN(groove::layer_norm(Arg(v.a, v.site), {v.a.size(-1)}))},
      {"outer", 2, outer_that_is_small},
      {"addmm", 3, RUN(groove::addmm(Arg(v.c, v.site), v.a, v.b, v.x, 1.5)), 6},
      {"bmm", 2, RUN(groove::bmm(Arg(v.a, v.site), v.b))},
      {"attention", 3, attention, 8},
      {"lstm_cell", 3, lstm, 6},
      {"gru_cell", 3, gru, 4},
      {"conv2d", 2, convolution, 10},
      {"conv1d", 2, convolution_of_rows, 4},
      {"max_pool2d", 1, RUN(groove::max_pool2d(Arg(images(v.a, v), v.site), 2, 1 + wrap(v.k, 2))),
       6},
      {"avg_pool2d", 1,
       RUN(groove::avg_pool2d(Arg(images(v.a, v), v.site), 2, 1 + wrap(v.k, 2), wrap(v.j, 2)))},
      {"adaptive_avg_pool2d", 1,
       RUN(groove::adaptive_avg_pool2d(Arg(images(v.a, v), v.site), 1 + wrap(v.k, 2)))},
      {"batch_norm", 3, batch_norm_of_images, 6},
      {"group_norm", 1, RUN(groove::group_norm(Arg(images(v.a, v), v.site), 1))},
      {"l1_loss", 2, RUN(groove::l1_loss(Arg(v.a, v.site), v.b, wrap(v.i, 3)))},
      {"smooth_l1_loss", 2, RUN(groove::smooth_l1_loss(Arg(v.a, v.site), v.b, wrap(v.i, 3)))},
      {"huber_loss", 2, RUN(groove::huber_loss(Arg(v.a, v.site), v.b, wrap(v.i, 3), 0.5))},
      {"binary_cross_entropy", 2,
       RUN(groove::binary_cross_entropy(Arg(v.a.sigmoid(v.site), v.site), v.b.sigmoid(v.site),
                                        Tensor(), wrap(v.i, 3)))},
      {"binary_cross_entropy_with_logits", 2,
       RUN(groove::binary_cross_entropy_with_logits(Arg(v.a, v.site), v.b, Tensor(), Tensor(),
                                                    wrap(v.i, 3)))},
      {"kl_div", 2,
       RUN(groove::kl_div(Arg(v.a.log_softmax(axis(v.a, v.i), std::nullopt, v.site), v.site),
                          v.b.softmax(axis(v.b, v.i), std::nullopt, v.site), wrap(v.j, 3)))},
      {"cross_entropy_smooth", 1,
       RUN(groove::cross_entropy_loss(Arg(v.a, v.site),
                                      positions(v.a.size(0), v.a.size(1), v.j, 1 + wrap(v.k, 3)),
                                      Tensor(), wrap(v.i, 3), 0, 0.125))},
  };
}

}  // namespace groove::random_programs
