// What the author of an operator runs: the same bits from every tier, and a gradient that agrees
// with differences.
#include <cmath>
#include <cstring>
#include <optional>

#include "groove/autograd.h"
#include "groove/custom_operator.h"
#include "groove/jit.h"
#include "groove/jit/capture.h"
#include "groove/jit/differentiate.h"
#include "groove/ops/creation.h"
#include "groove/ops/elementwise.h"
#include "groove/ops/parts.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "kernels/backend.h"
#include "src/core/check.h"

namespace groove {
namespace {

constexpr double kStep = 1e-3, kTolerance = 1e-6;
constexpr std::int64_t kMostElements = 64;  // of an input, spread over it

// The tier that eager mode and the compiler make code of, while it lives.
class BackendScope {
 public:
  BackendScope() : before_(kernels::current_backend()) {}
  ~BackendScope() { kernels::set_current_backend(before_); }
  BackendScope(const BackendScope&) = delete;
  BackendScope& operator=(const BackendScope&) = delete;

 private:
  kernels::Backend& before_;
};

// The interpreter first: it is what the others are compared with.
std::vector<kernels::Backend*> usable_backends() {
  std::vector<kernels::Backend*> backends;
  for (const char* const name : {"interpreter", "asmjit", "llvm"}) {
    kernels::Backend* const backend = kernels::find_backend(name);
    if (backend && backend->unavailable().empty()) backends.push_back(backend);
  }
  return backends;
}

bool is_differentiable(const Tensor& tensor) { return is_floating(tensor.scalar_type()); }

// The same values, each element two places after the one before.
Tensor strided(const Tensor& tensor) {
  if (tensor.dim() == 0) return tensor;
  return stack({tensor, tensor}, -1).select(-1, 0);
}

// 0.5, 1, 1.5, 0.5 … : what an element of a result counts.
Tensor weights(const Tensor& like) {
  const Tensor places = arange(0, static_cast<double>(like.numel()), 1, TensorOptions(kDouble));
  return ((places - 3 * floor(places / 3) + 1) * 0.5).view(like.sizes()).to(like.scalar_type());
}

Tensor weighted_sum(const Tensors& results) {
  Tensor total;
  for (const Tensor& result : results) {
    if (!is_differentiable(result)) continue;
    const Tensor sum = (result * weights(result)).sum();
    total = total.defined() ? total + sum : sum;
  }
  return total;
}

class OperatorCheck {
 public:
  OperatorCheck(const CustomOperator& op, const OperatorSample& sample, std::size_t number)
      : op_(op), sample_(sample), number_(number) {
    for (const Tensor& input : sample.inputs) {
      GROOVE_CHECK(input.defined(), "check_operator: an input of sample {} is undefined", number);
      inputs_.push_back(input.detach().contiguous());
    }
  }

  void run(ArrayRef<kernels::Backend*> backends) {
    const BackendScope scope;
    kernels::set_current_backend(*backends[0]);
    const Tensors expected = call(inputs_);
    const Tensors gradients = gradients_of(inputs_);
    const Tensors with_neighbours = between_neighbours(inputs_);
    Tensors apart;
    for (const Tensor& input : inputs_) apart.push_back(strided(input));
    for (kernels::Backend* const backend : backends) {
      kernels::set_current_backend(*backend);
      const std::string tier = backend->name();
      compare(expected, call(inputs_), "eager mode, " + tier);
      compare(expected, call(apart), "strided inputs, " + tier);
      compare(gradients, gradients_of(inputs_), "its gradient in eager mode, " + tier);
      const jit::Graph graph =
          jit::capture([&](const Tensors& inputs) { return between_neighbours(inputs); }, inputs_);
      compare(with_neighbours, graph.compile()(inputs_), "compiled, " + tier);
      if (!gradients.empty()) compare(gradients, compiled_gradients(), "its gradient, " + tier);
    }
    check_differences();
  }

 private:
  Tensors call(const Tensors& inputs) const {
    return op_.results(inputs, sample_.numbers, sample_.attributes);
  }
  // Elementwise ones before and after it, with which it can be fused.
  Tensors between_neighbours(const Tensors& inputs) const {
    Tensors given = inputs;
    for (Tensor& input : given)
      if (is_differentiable(input)) input = input * 0.75;
    Tensors results = call(given);
    for (Tensor& result : results)
      if (is_differentiable(result)) result = result + 0.25;
    return results;
  }
  static Tensors leaves_of(const Tensors& inputs) {
    Tensors leaves;
    for (const Tensor& input : inputs) {
      leaves.push_back(input.detach());
      if (is_differentiable(input)) leaves.back().requires_grad_();
    }
    return leaves;
  }
  // Of the weighted sum, for the floating inputs; none where the operator has no gradient.
  Tensors gradients_of(const Tensors& inputs) const {
    const Tensors leaves = leaves_of(inputs);
    const Tensor total = weighted_sum(call(leaves));
    if (!total.defined() || !total.requires_grad()) return {};
    total.backward();
    Tensors gradients;
    for (const Tensor& leaf : leaves) {
      if (!leaf.requires_grad()) continue;
      gradients.push_back(leaf.grad().defined() ? leaf.grad() : zeros_like(leaf.detach()));
    }
    return gradients;
  }
  Tensors compiled_gradients() const {
    const jit::Graph loss = jit::capture(
        [&](const Tensors& inputs) { return Tensors{weighted_sum(call(inputs))}; }, inputs_);
    autodiff::GradientOptions options;
    const std::vector<jit::Value> arguments = loss.arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (is_differentiable(inputs_[i])) options.inputs.push_back(arguments[i]);
    return autodiff::differentiate(loss, options).compile()(inputs_);
  }

  void compare(const Tensors& expected, const Tensors& actual, const std::string& where) const {
    GROOVE_CHECK(expected.size() == actual.size(), "check_operator: {}, sample {}: {} values in {}",
                 op_.name(), number_, actual.size(), where);
    for (std::size_t k = 0; k < actual.size(); ++k) {
      const Tensor a = expected[k].detach().contiguous(), b = actual[k].detach().contiguous();
      GROOVE_CHECK(a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes(),
                   "check_operator: {}, sample {}: value {} has another type in {}", op_.name(),
                   number_, k, where);
      const std::size_t size = element_size(a.scalar_type());
      const auto* const left = static_cast<const char*>(a.data_ptr());
      const auto* const right = static_cast<const char*>(b.data_ptr());
      for (std::int64_t i = 0; i < a.numel(); ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * size;
        GROOVE_CHECK(std::memcmp(left + at, right + at, size) == 0,
                     "check_operator: {}, sample {}: element {} of value {} differs in {}: {} in "
                     "place of {}",
                     op_.name(), number_, i, k, where, b.view({-1})[i].item<double>(),
                     a.view({-1})[i].item<double>());
      }
    }
  }

  // Four evaluations an element: differences over one and over two steps cancel the cubic term.
  void check_differences() const {
    Tensors wide;
    for (const Tensor& input : inputs_)
      wide.push_back(is_differentiable(input) ? input.to(kDouble).clone() : input);
    Tensors gradients;
    try {
      gradients = gradients_of(wide);
    } catch (const Error&) {
      return;  // it does not take f64
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < wide.size() && !gradients.empty(); ++i) {
      if (!is_differentiable(wide[i])) continue;
      const Tensor gradient = gradients[next++].contiguous().view({-1});
      const std::int64_t count = wide[i].numel();
      const std::int64_t every = std::max<std::int64_t>(1, count / kMostElements);
      for (std::int64_t at = 0; at < count; at += every) {
        const double expected = difference(wide, i, at), found = gradient[at].item<double>();
        if (std::isnan(expected)) continue;
        GROOVE_CHECK(std::fabs(found - expected) <= kTolerance * (1 + std::fabs(expected)),
                     "check_operator: {}, sample {}: the gradient of element {} of input {} is {}, "
                     "differences say {}",
                     op_.name(), number_, at, i, found, expected);
      }
    }
  }
  double difference(const Tensors& inputs, std::size_t input, std::int64_t at) const {
    const Tensor values = inputs[input].view({-1});
    const double before = values[at].item<double>(), step = kStep * (1 + std::fabs(before));
    const auto value_at = [&](double value) {
      values[at].fill_(value);
      return weighted_sum(call(inputs)).item<double>();
    };
    const double near = value_at(before + step) - value_at(before - step);
    const double far = value_at(before + 2 * step) - value_at(before - 2 * step);
    values[at].fill_(before);
    return (8 * near - far) / (12 * step);
  }

  const CustomOperator& op_;
  const OperatorSample& sample_;
  const std::size_t number_;
  Tensors inputs_;
};

}  // namespace

void check_operator(const CustomOperator& op, const std::vector<OperatorSample>& samples,
                    Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(!samples.empty(), "check_operator: there are no samples of {}", op.name());
  const jit::EagerGuard eager;
  const std::vector<kernels::Backend*> backends = usable_backends();
  for (std::size_t i = 0; i < samples.size(); ++i) OperatorCheck(op, samples[i], i).run(backends);
}

}  // namespace groove
