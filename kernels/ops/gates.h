// What lstm_cell and gru_cell share: the two products that give the gates, and checks of shapes.
#pragma once

#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

/// Gate number `which` of [N, count * H].
inline Tensor gate(const Tensor& gates, std::int64_t which, std::int64_t hidden) {
  return gates.narrow(1, which * hidden, hidden);
}
/// Gate number `which` of the sum of both products.
inline Tensor gate_sum(const Tensor& a, const Tensor& b, std::int64_t which, std::int64_t hidden) {
  return gate(a, which, hidden) + gate(b, which, hidden);
}
/// Where the first gate of a state's element stands, in references; the next ones follow `hidden`
/// apart.
inline std::size_t first_gate(std::size_t place, std::size_t hidden, std::int64_t gates) {
  return place / hidden * static_cast<std::size_t>(gates) * hidden + place % hidden;
}
/// Throws unless the first two inputs are [N, count * H] and the third is [N, H].
TypeResult cell_type(const Signature& signature, std::int64_t gates, std::size_t outputs);
/// The same, and unless the inputs from `first` on are like the third, or absent.
void check_states(const Signature& signature, std::int64_t gates, std::size_t first);
std::vector<Sample> cell_samples(ScalarType dtype, std::int64_t gates);
double reference_sigmoid(double x);

struct Gates {
  Tensor from_input, from_hidden;
};
Gates cell_gates(const char* op, Arg input, const Tensor& hidden, const Tensor& w_ih,
                 const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh);

}  // namespace groove
