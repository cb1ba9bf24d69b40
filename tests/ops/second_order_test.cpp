// Second derivatives in float64, taken through the tape of the first ones, against central
// differences of the first ones: the rules are ordinary tensor code and differentiable themselves.
#include <gtest/gtest.h>

#include <cmath>

#include "groove/autograd.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "kernels/ops/reference.h"
#include "support.h"

namespace groove::testing {
namespace {

constexpr double kStep = 1e-6;
constexpr std::int64_t kLargest = 16;  // elements of an input; the cost is quadratic

struct Problem {
  const Op& op;
  const Sample& sample;
  Tensors inputs, leaves, weights;
  Tensor cotangent;
};

// The gradient of output 0, weighted to one number that depends on the inputs again.
Tensor weighted_gradient(const Problem& p) {
  const Tensor output = run(p.op, p.sample, p.inputs)[0];
  if (!output.requires_grad()) return Tensor();
  const Tensors first = autograd::grad({output}, p.leaves, {p.cotangent}, std::nullopt, true, true);
  Tensor total;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i].defined()) continue;
    const Tensor part = sum(first[i] * p.weights[i]);
    total = total.defined() ? total + part : part;
  }
  return total;
}

void check_second_order(const Op& op, const Sample& sample, const Type& output) {
  Problem p{op, sample, make_inputs(op, sample, Lay::kContiguous, Content::kDomain), {}, {}, {}};
  Source source{7};
  for (std::size_t i = 0; i < p.inputs.size(); ++i) {
    const Tensor& input = p.inputs[i];
    if (!input.defined() || input.scalar_type() != kDouble || op.lacks_gradient >> i & 1) continue;
    input.requires_grad_(true);
    p.leaves.push_back(input);
    p.weights.push_back(make_input({kDouble, Shape(input.sizes())}, {0.5, 1.5}, Lay::kContiguous,
                                   Content::kDomain, source));
  }
  p.cotangent = make_input(output, {0.5, 1.5}, Lay::kContiguous, Content::kDomain, source);
  const Tensor total = weighted_gradient(p);
  if (!total.defined()) return;
  Tensors second(p.leaves.size());
  if (total.requires_grad())
    second = autograd::grad({total}, p.leaves, {}, std::nullopt, false, true);
  for (std::size_t i = 0; i < p.leaves.size(); ++i) {
    for_each_index(p.leaves[i].sizes(), [&](const Shape& index) {
      const double value = value_at(p.leaves[i], index);
      set_value(p.leaves[i], index, value + kStep);
      const double above = value_at(weighted_gradient(p), {});
      set_value(p.leaves[i], index, value - kStep);
      const double below = value_at(weighted_gradient(p), {});
      set_value(p.leaves[i], index, value);
      const double expected = (above - below) / (2 * kStep);
      if (std::isnan(expected)) return;  // a mean over nothing has no slope
      const double actual = second[i].defined() ? value_at(second[i], index) : 0;
      EXPECT_NEAR(actual, expected, 1e-5 * (1 + std::fabs(expected)))
          << "input " << i << " at " << to_string(index);
    });
  }
}

TEST(SecondOrder, AgreesWithDifferencesOfTheFirst) {
  for (const Op* op : all_ops()) {
    if (!op->gradient || !op->samples) continue;
    for (const Sample& sample : op->samples(kDouble)) {
      bool is_small = !sample.inputs.empty();
      for (const Type& type : sample.inputs)
        is_small = is_small && element_count(type.sizes) <= kLargest;
      if (!is_small) continue;
      SCOPED_TRACE(describe(*op, sample));
      try {
        const Signature signature{*op, sample.inputs, sample.attrs, sample.numbers};
        const Type output = op->type(signature).outputs[0];
        if (output.dtype == kDouble) check_second_order(*op, sample, output);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace groove::testing
