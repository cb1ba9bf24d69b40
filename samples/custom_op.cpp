// Two operators of one's own in a training loop that is compiled. A rod of cells is loaded and the
// way it bends is measured, now and then wrongly; found is how stiff it is between its cells.
//
// The solver of the rod's equations is a host function, whose gradient is the solver again; the
// loss that forgives wrong measurements is an expression, fused with what stands around it.
#include <groove/custom_operator.h>
#include <groove/groove.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "sample_options.h"

using groove::Tensor;
using groove::Tensors;

// x of A x = b for each row b of the last operand, A by its lower, main and upper diagonal, by
// elimination without pivots: [n - 1], [n], [n - 1], [rows, n] -> [rows, n].
template <typename T>
static void eliminate(const groove::HostCall& call) {
  const T* lower = call.input(0).data<const T>();
  const T* diagonal = call.input(1).data<const T>();
  const T* upper = call.input(2).data<const T>();
  const T* right = call.input(3).data<const T>();
  T* x = call.output().data<T>();
  const auto n = static_cast<std::size_t>(call.input(1).numel());
  const auto rows = static_cast<std::size_t>(call.input(3).sizes()[0]);
  std::vector<double> ratio(n), value(n);
  for (std::size_t row = 0; row < rows; ++row, right += n, x += n) {
    for (std::size_t i = 0; i < n; ++i) {
      const double below = i > 0 ? static_cast<double>(lower[i - 1]) : 0.0;
      const double pivot = diagonal[i] - (i > 0 ? below * ratio[i - 1] : 0.0);
      ratio[i] = i + 1 < n ? upper[i] / pivot : 0.0;
      value[i] = (right[i] - (i > 0 ? below * value[i - 1] : 0.0)) / pivot;
    }
    for (std::size_t i = n; i-- > 0;) {
      if (i + 1 < n) value[i] -= ratio[i] * value[i + 1];
      x[i] = static_cast<T>(value[i]);
    }
  }
}

static std::vector<groove::jit::TensorType> type_of_solution(const groove::OperatorTypes& types) {
  const auto lower = types.input(0), diagonal = types.input(1), right = types.input(3);
  for (std::size_t i = 0; i < 4; ++i)
    if (types.input(i).dtype != diagonal.dtype)
      throw groove::Error("sample.tridiagonal_solve: the operands must have one dtype");
  if (diagonal.sizes.size() != 1 || right.sizes.size() != 2 ||
      right.sizes[1] != diagonal.sizes[0] ||
      lower.sizes != std::vector<std::int64_t>{diagonal.sizes[0] - 1} ||
      types.input(2).sizes != lower.sizes)
    throw groove::Error("sample.tridiagonal_solve: needs [n - 1], [n], [n - 1] and [rows, n]");
  return {right};
}

// With y the solution of A^T y = g: the gradient of b is y, that of A is -y x^T.
static const groove::CustomOperator tridiagonal_solve = groove::define_host_operator({
    .name = "sample.tridiagonal_solve",
    .inputs = 4,
    .type = type_of_solution,
    .run =
        [](const groove::HostCall& call) {
          if (call.input().dtype() == groove::kFloat)
            eliminate<float>(call);
          else
            eliminate<double>(call);
        },
    .gradient =
        [](const groove::OperatorGrad& g) {
          const Tensor lower = g.input(0), diagonal = g.input(1), upper = g.input(2);
          const Tensor y = tridiagonal_solve({upper, diagonal, lower, g.cotangent()});
          const Tensor x = g.output();
          const auto first = [](const Tensor& t) { return t.narrow(1, 0, t.size(1) - 1); };
          const auto last = [](const Tensor& t) { return t.narrow(1, 1, t.size(1) - 1); };
          return Tensors{-(last(y) * first(x)).sum(0), -(y * x).sum(0),
                         -(first(y) * last(x)).sum(0), y};
        },
    .saves_inputs = 0b0111,
    .saves_outputs = 1,
});

// Like x^2 / 2 near 0, like |x| far from it: limit^2 (sqrt(1 + (x / limit)^2) - 1).
static const groove::CustomOperator pseudo_huber = groove::define_elementwise_operator({
    .name = "sample.pseudo_huber",
    .number_names = {"limit"},
    .body =
        [](groove::Expr x, groove::Expr limit) {
          const groove::Expr part = x / limit;
          return limit * limit * (sqrt(part * part + 1.0) - 1.0);
        },
    .gradient =
        [](const groove::OperatorGrad& g) {
          const Tensor part = g.input() / g.number();
          return Tensors{g.cotangent() * g.input() * groove::rsqrt(part * part + 1)};
        },
});

// How far each cell moves under loads: its neighbours hold it with the stiffness between them, and
// both ends are fixed.
static Tensor deflection(const Tensor& stiffness, const Tensor& loads) {
  const std::int64_t cells = stiffness.size(0) - 1;
  const Tensor left = stiffness.narrow(0, 0, cells), right = stiffness.narrow(0, 1, cells);
  const Tensor between = -stiffness.narrow(0, 1, cells - 1);
  return tridiagonal_solve({between, left + right, between, loads});
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 3000;
  const auto options = parse_options(
      argc, argv, "Finds the stiffness of a rod, by two operators of one's own.", defaults);
  try {
    groove::manual_seed(options.seed);
    constexpr std::int64_t kCells = 24;
    {
      const auto type = groove::TensorOptions(groove::kFloat);
      const Tensor off = groove::rand({4}, type) - 2, main = groove::rand({5}, type) + 4;
      groove::check_operator(tridiagonal_solve, {{{off, main, off, groove::randn({3, 5}, type)}}});
      groove::check_operator(pseudo_huber, {{{groove::randn({3, 5}, type)}, {0.5}}});
      std::printf("both operators: the same bits on each tier, gradients as differences say\n");
    }

    // Three parts of different stiffness.
    Tensor truth = groove::full({kCells + 1}, 1.0);
    truth.narrow(0, 8, 9).fill_(3.0);
    truth.narrow(0, 17, 8).fill_(0.5);
    Tensor logarithm = groove::zeros({kCells + 1}).requires_grad_();
    groove::optim::Adam optimizer({logarithm}, 0.02);

    Progress progress(options.steps, options.bits);
    for (std::int64_t step = 1; step <= options.steps; ++step) {
      const Tensor loads = groove::randn({options.batch, kCells});
      Tensor measured = deflection(truth, loads) + 0.05 * groove::randn({options.batch, kCells});
      const Tensor is_wrong = (groove::rand({options.batch, kCells}) < 0.05).to(groove::kFloat);
      measured = measured + 20 * is_wrong;

      optimizer.zero_grad();
      const Tensor found = deflection(groove::exp(logarithm), loads);
      Tensor loss = pseudo_huber({found - measured}, {0.1}).mean();
      loss.backward();
      optimizer.step();

      if (progress.wants(step)) progress.show(step, loss.item<float>());
      progress.count();
    }
    progress.finish();

    const Tensor stiffness = logarithm.detach().exp();
    std::printf("stiffness  true  found\n");
    for (const std::int64_t i : {0, 6, 10, 14, 18, 24})
      std::printf("%9lld  %.2f  %.3f\n", static_cast<long long>(i), truth[i].item<float>(),
                  stiffness[i].item<float>());
    std::printf("largest error %.4f\n", ((stiffness - truth) / truth).abs().max().item<float>());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "custom_op: %s\n", error.what());
    return 1;
  }
}
