// gru_cell: one step of a gated recurrent unit. All after the products is one kernel, and so is its
// gradient, a composite whose parts are differentiable again.
#include <cmath>

#include "groove/detail/gates.h"
#include "kernels/ops/gates.h"

namespace groove {
namespace {

constexpr std::int64_t kGates = 3;  // r, z, n

struct Parts {
  Tensor r, z, n, hidden_n;
};
Parts parts_of(const Tensor& a, const Tensor& b, std::int64_t hidden) {
  const Tensor r = sigmoid(gate_sum(a, b, 0, hidden)), hidden_n = gate(b, 2, hidden);
  return {r, sigmoid(gate_sum(a, b, 1, hidden)), tanh(gate(a, 2, hidden) + r * hidden_n), hidden_n};
}

// The gates of one element of the state, in references.
struct Numbers {
  double r, z, n, hidden_n;
};
Numbers numbers_at(const std::vector<Reference>& inputs, std::size_t at, std::size_t hidden) {
  const double* a = inputs[0].values.data() + at;
  const double* b = inputs[1].values.data() + at;
  const double r = reference_sigmoid(a[0] + b[0]);
  return {r, reference_sigmoid(a[hidden] + b[hidden]), std::tanh(a[2 * hidden] + r * b[2 * hidden]),
          b[2 * hidden]};
}

std::vector<Reference> backward_reference(const Signature& s,
                                          const std::vector<Reference>& inputs) {
  std::vector<Reference> results;
  for (const Type& type : s.op.type(s).outputs) results.push_back({type, {}});
  for (std::size_t k : {0, 1}) results[k].values.resize(inputs[0].values.size());
  const auto hidden = static_cast<std::size_t>(inputs[2].type.sizes[1]);
  for (std::size_t place = 0; place < inputs[2].values.size(); ++place) {
    const std::size_t at = first_gate(place, hidden, kGates);
    const auto [r, z, n, hidden_n] = numbers_at(inputs, at, hidden);
    const double grad = inputs[3].values[place];
    const double into_n = grad * (1 - z) * (1 - n * n);
    const double into_z = grad * (inputs[2].values[place] - n) * z * (1 - z);
    const double into_r = into_n * hidden_n * r * (1 - r);
    for (std::size_t k : {0, 1}) {
      double* into = results[k].values.data() + at;
      into[0] = into_r;
      into[hidden] = into_z;
      into[2 * hidden] = k == 0 ? into_n : into_n * r;
    }
    results[2].values.push_back(grad * z);
  }
  return results;
}

// gates of both products, h, cotangent -> the gradients of the gates and of h.
const Op& op_backward = define({
    .name = "gru_pointwise_backward",
    .kind = OpKind::kComposite,
    .inputs = 4,
    .outputs = 3,
    .type = [](const Signature& s) -> TypeResult {
      check_states(s, kGates, 3);
      return {{s.inputs[0], s.inputs[0], s.inputs[2]}, s.inputs[0].dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Parts p = parts_of(inputs[0], inputs[1], s.inputs[2].sizes[1]);
          const Tensor &h = inputs[2], &grad = inputs[3];
          const Tensor into_n = grad * (1 - p.z) * (1 - square(p.n));
          const Tensor into_z = grad * (h - p.n) * (p.z * (1 - p.z));
          const Tensor into_r = into_n * p.hidden_n * (p.r * (1 - p.r));
          return Tensors{cat({into_r, into_z, into_n}, 1), cat({into_r, into_z, into_n * p.r}, 1),
                         grad * p.z};
        }}),
    .has_inplace = false,
    .reference = backward_reference,
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples = cell_samples(dtype, kGates);
          for (Sample& sample : samples) sample.inputs.push_back(Type(sample.inputs[2]));
          return samples;
        },
    .tolerance_ulp = 32,
});

std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs) {
  Reference result{s.op.type(s).outputs[0], {}};
  const auto hidden = static_cast<std::size_t>(result.type.sizes[1]);
  for (std::size_t place = 0; place < inputs[2].values.size(); ++place) {
    const Numbers p = numbers_at(inputs, first_gate(place, hidden, kGates), hidden);
    result.values.push_back(p.n + p.z * (inputs[2].values[place] - p.n));
  }
  return {result};
}

const Op& op = define({
    .name = "gru_pointwise",
    .kind = OpKind::kComposite,
    .inputs = 3,
    .type = [](const Signature& s) { return cell_type(s, kGates, 1); },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Parts p = parts_of(inputs[0], inputs[1], s.inputs[2].sizes[1]);
          return Tensors{p.n + p.z * (inputs[2] - p.n)};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor operands[] = {g.input(0), g.input(1), g.input(2), g.cotangent()};
          const Attrs none{};
          Tensor results[3];
          dispatch(Call{&op_backward, operands, &none, {}, Site::current()}, results);
          return Tensors{results[0], results[1], results[2]};
        },
    .saves_inputs = 7,
    .autocast = Precision::kFloat,
    .has_inplace = false,
    .reference = reference,
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return cell_samples(dtype, kGates); },
    .tolerance_ulp = 32,
});

}  // namespace

Tensor gru_cell(Arg input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih, const Tensor& b_hh) {
  const SiteScope scope(input.site);
  const Gates gates = cell_gates("gru_cell", input, hx, w_ih, w_hh, b_ih, b_hh);
  return detail::gru_after_products(gates.from_input, gates.from_hidden, hx, input.site);
}

Tensor detail::gru_after_products(const Tensor& from_input, const Tensor& from_hidden,
                                  const Tensor& h, Site site) {
  return call(op, {from_input, from_hidden, h}, site);
}

}  // namespace groove
