// Products of matrices. Operands must have one dtype; inner sizes that differ throw
// groove::Error.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// 1-d and 2-d operands as in linear algebra; more axes are batches, which broadcast.
Tensor matmul(Arg self, const Tensor& other);
/// [m, k] x [k, n] -> [m, n]
Tensor mm(Arg self, const Tensor& other);
/// [b, m, k] x [b, k, n] -> [b, m, n]
Tensor bmm(Arg self, const Tensor& other);
/// [k] x [k] -> []
Tensor dot(Arg self, const Tensor& other);
/// [m, k] x [k] -> [m]
Tensor mv(Arg self, const Tensor& vec);
/// [m] x [n] -> [m, n]
Tensor outer(Arg self, const Tensor& vec2);
/// beta * self + alpha * (mat1 x mat2), self broadcast to the product's shape
Tensor addmm(Arg self, const Tensor& mat1, const Tensor& mat2, Scalar beta = 1, Scalar alpha = 1);
/// input [..., k], weight [n, k], bias [n] or undefined -> input * weight^T + bias, [..., n]
Tensor linear(Arg input, const Tensor& weight, const Tensor& bias = Tensor());
/// input1 [..., m], input2 [..., n], weight [o, m, n], bias [o] or undefined ->
/// input1^T weight input2 + bias, [..., o]
Tensor bilinear(Arg input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias = Tensor());

/// query [..., L, E], key [..., S, E], value [..., S, V] -> [..., L, V]:
/// softmax(query key^T * scale + mask) value, scale being 1 / sqrt(E) unless given. attn_mask is
/// bool (true: take part) or floating (added), and broadcasts to [..., L, S]; is_causal lets row i
/// see columns up to i and excludes attn_mask. With enable_gqa key and value have fewer heads (axis
/// -3), each of which serves several of the query (Ainslie et al. 2023). Dropout acts on the
/// weights (Vaswani et al. 2017).
Tensor scaled_dot_product_attention(Arg query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = Tensor(), double dropout_p = 0,
                                    bool is_causal = false,
                                    std::optional<double> scale = std::nullopt,
                                    bool enable_gqa = false);

/// One step of a long short-term memory cell: input [N, I], hx = {h, c} each [N, H], w_ih [4H, I],
/// w_hh [4H, H], biases [4H] or undefined, gates in the order i, f, g, o (Hochreiter and
/// Schmidhuber 1997, as PyTorch defines it). Gives the new h and c.
std::tuple<Tensor, Tensor> lstm_cell(Arg input, TensorList hx, const Tensor& w_ih,
                                     const Tensor& w_hh, const Tensor& b_ih = Tensor(),
                                     const Tensor& b_hh = Tensor());
/// One step of a gated recurrent unit: hx [N, H], w_ih [3H, I], gates in the order r, z, n (Cho et
/// al. 2014, as PyTorch defines it). Gives the new h.
Tensor gru_cell(Arg input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih = Tensor(), const Tensor& b_hh = Tensor());

}  // namespace groove
