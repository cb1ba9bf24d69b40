// lstm_cell: one step of a long short-term memory cell. All after the products is one kernel, and
// so is its gradient, a composite whose parts are differentiable again.
#include <cmath>

#include "groove/detail/gates.h"
#include "kernels/ops/gates.h"

namespace groove {
namespace {

constexpr std::int64_t kGates = 4;  // i, f, g, o

struct Parts {
  Tensor i, f, g, o, tanh_c;
};
Parts parts_of(const Tensor& a, const Tensor& b, const Tensor& c_new) {
  const std::int64_t hidden = type_of(c_new).sizes[1];
  const auto sum = [&](std::int64_t k) { return gate_sum(a, b, k, hidden); };
  return {sigmoid(sum(0)), sigmoid(sum(1)), tanh(sum(2)), sigmoid(sum(3)), tanh(c_new)};
}

std::vector<Reference> backward_reference(const Signature& s,
                                          const std::vector<Reference>& inputs) {
  const std::vector<double>&c = inputs[2].values, &grad_h = inputs[4].values,
        &grad_c = inputs[5].values;
  std::vector<Reference> results;
  for (const Type& type : s.op.type(s).outputs) results.push_back({type, {}});
  results[0].values.resize(inputs[0].values.size());
  const auto hidden = static_cast<std::size_t>(inputs[2].type.sizes[1]);
  for (std::size_t place = 0; place < c.size(); ++place) {
    const std::size_t at = first_gate(place, hidden, kGates);
    const auto sum = [&](std::size_t k) {
      return inputs[0].values[at + k * hidden] + inputs[1].values[at + k * hidden];
    };
    const double i = reference_sigmoid(sum(0)), f = reference_sigmoid(sum(1)),
                 g = std::tanh(sum(2)), o = reference_sigmoid(sum(3)),
                 tanh_c = std::tanh(inputs[3].values[place]);
    const double into_c = grad_c[place] + grad_h[place] * o * (1 - tanh_c * tanh_c);
    const double into[] = {into_c * g * i * (1 - i), into_c * c[place] * f * (1 - f),
                           into_c * i * (1 - g * g), grad_h[place] * tanh_c * o * (1 - o)};
    for (std::size_t k = 0; k < kGates; ++k) results[0].values[at + k * hidden] = into[k];
    results[1].values.push_back(into_c * f);
  }
  return results;
}

// gates of both products, c, the new c, cotangents of the new h and c (one may be undefined) -> the
// gradients of the gates and of c.
const Op& op_backward = define({
    .name = "lstm_pointwise_backward",
    .kind = OpKind::kComposite,
    .inputs = 6,
    .outputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      check_states(s, kGates, 3);
      GROOVE_CHECK(s.inputs[3].dtype != ScalarType::Undefined, "{}: the state is undefined",
                   s.op.name);
      return {{s.inputs[0], s.inputs[2]}, s.inputs[0].dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature&, ArrayRef<Tensor> inputs) {
          const Parts p = parts_of(inputs[0], inputs[1], inputs[3]);
          const Tensor &c = inputs[2], &grad_h = inputs[4], &grad_c = inputs[5];
          Tensor into_c = grad_c, into_o;
          if (grad_h.defined()) {
            const Tensor through = grad_h * p.o * (1 - square(p.tanh_c));
            into_c = grad_c.defined() ? grad_c + through : through;
            into_o = grad_h * p.tanh_c * (p.o * (1 - p.o));
          } else {
            into_o = zeros_like(c);
          }
          const Tensor into_i = into_c * p.g * (p.i * (1 - p.i));
          const Tensor into_f = into_c * c * (p.f * (1 - p.f));
          const Tensor into_g = into_c * p.i * (1 - square(p.g));
          return Tensors{cat({into_i, into_f, into_g, into_o}, 1), into_c * p.f};
        }}),
    .has_inplace = false,
    .reference = backward_reference,
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples = cell_samples(dtype, kGates);
          for (Sample& sample : samples)
            sample.inputs.insert(sample.inputs.end(), 3, Type(sample.inputs[2]));
          return samples;
        },
    .tolerance_ulp = 32,
});

std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs) {
  std::vector<Reference> results;
  for (const Type& type : s.op.type(s).outputs) results.push_back({type, {}});
  const auto hidden = static_cast<std::size_t>(inputs[2].type.sizes[1]);
  for (std::size_t place = 0; place < inputs[2].values.size(); ++place) {
    const std::size_t at = first_gate(place, hidden, kGates);
    const auto sum = [&](std::size_t k) {
      return inputs[0].values[at + k * hidden] + inputs[1].values[at + k * hidden];
    };
    const double c = reference_sigmoid(sum(1)) * inputs[2].values[place] +
                     reference_sigmoid(sum(0)) * std::tanh(sum(2));
    results[0].values.push_back(reference_sigmoid(sum(3)) * std::tanh(c));
    results[1].values.push_back(c);
  }
  return results;
}

const Op& op = define({
    .name = "lstm_pointwise",
    .kind = OpKind::kComposite,
    .inputs = 3,
    .outputs = 2,
    .type = [](const Signature& s) { return cell_type(s, kGates, 2); },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const std::int64_t hidden = s.inputs[2].sizes[1];
          const auto sum = [&](std::int64_t k) {
            return gate_sum(inputs[0], inputs[1], k, hidden);
          };
          const Tensor c = sigmoid(sum(1)) * inputs[2] + sigmoid(sum(0)) * tanh(sum(2));
          return Tensors{sigmoid(sum(3)) * tanh(c), c};
        }}),
    .gradient =
        [](const Grad& g) {
          const Tensor operands[] = {g.input(0),  g.input(1),      g.input(2),
                                     g.output(1), g.cotangents[0], g.cotangents[1]};
          const Attrs none{};
          Tensor results[2];
          dispatch(Call{&op_backward, operands, &none, {}, Site::current()}, results);
          return Tensors{results[0], results[0], results[1]};
        },
    .saves_inputs = 7,
    .saves_outputs = 2,
    .autocast = Precision::kFloat,
    .has_inplace = false,
    .reference = reference,
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return cell_samples(dtype, kGates); },
    .tolerance_ulp = 16,
});

}  // namespace

void check_states(const Signature& s, std::int64_t gates, std::size_t first) {
  cell_type(s, gates, 0);
  for (std::size_t i = first; i < s.inputs.size(); ++i)
    GROOVE_CHECK(s.inputs[i].dtype == ScalarType::Undefined || s.inputs[i] == s.inputs[2],
                 "{}: input {} of {} is not of the state's type, {}", s.op.name, i,
                 to_string(s.inputs[i].sizes), to_string(s.inputs[2].sizes));
}

TypeResult cell_type(const Signature& s, std::int64_t gates, std::size_t outputs) {
  const Type &a = s.inputs[0], &b = s.inputs[1], &state = s.inputs[2];
  GROOVE_CHECK(state.sizes.size() == 2 && a.sizes.size() == 2 && a == b &&
                   a.sizes[0] == state.sizes[0] && a.sizes[1] == gates * state.sizes[1] &&
                   a.dtype == state.dtype && is_floating(a.dtype),
               "{}: gates {} and {} do not fit a state of {}", s.op.name, to_string(a.sizes),
               to_string(b.sizes), to_string(state.sizes));
  return {std::vector<Type>(outputs, state), state.dtype};
}

std::vector<Sample> cell_samples(ScalarType dtype, std::int64_t gates) {
  std::vector<Sample> samples;
  for (const Shape& sizes : {Shape{1, 1}, Shape{2, 2}, Shape{3, 10}, Shape{0, 4}, Shape{5, 33}}) {
    const Type all{dtype, {sizes[0], gates * sizes[1]}};
    samples.push_back({{all, all, {dtype, sizes}}, {}, {}});
  }
  return samples;
}

double reference_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Gates cell_gates(const char* op, Arg input, const Tensor& hidden, const Tensor& w_ih,
                 const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  const Shape &sizes = checked(op, *input.tensor).geometry.sizes,
              &state = checked(op, hidden).geometry.sizes;
  GROOVE_CHECK(sizes.size() == 2 && state.size() == 2 && sizes[0] == state[0],
               "{}: input {} and state {} do not fit; they must be [N, I] and [N, H]", op,
               to_string(sizes), to_string(state));
  return {linear(input, w_ih, b_ih), linear({hidden, input.site}, w_hh, b_hh)};
}

std::tuple<Tensor, Tensor> lstm_cell(Arg input, TensorList hx, const Tensor& w_ih,
                                     const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  const CallFrame frame(input.site);
  GROOVE_CHECK(hx.size() == 2, "lstm_cell: hx has {} tensors; it must be {{h, c}}", hx.size());
  checked("lstm_cell", hx[1]);
  const SiteScope scope(input.site);
  const Gates gates = cell_gates("lstm_cell", input, hx[0], w_ih, w_hh, b_ih, b_hh);
  return detail::lstm_after_products(gates.from_input, gates.from_hidden, hx[1], input.site);
}

std::tuple<Tensor, Tensor> detail::lstm_after_products(const Tensor& from_input,
                                                       const Tensor& from_hidden, const Tensor& c,
                                                       Site site) {
  const Tensor operands[] = {from_input, from_hidden, c};
  const Attrs none{};
  Tensor results[2];
  dispatch(Call{&op, operands, &none, {}, site}, results);
  return {results[0], results[1]};
}

}  // namespace groove
