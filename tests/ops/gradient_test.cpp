// Every declared gradient in float64 against central differences. The rule is given only what the
// op declares as saved, so a rule that reads more fails here.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "kernels/ops/reference.h"
#include "support.h"

namespace groove::testing {
namespace {

constexpr double kStep = 1e-6;

// The number whose gradient is taken: outputs weighted by fixed cotangents.
double weighted(const Tensors& outputs, const Tensors& cotangents) {
  double total = 0;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!cotangents[k].defined()) continue;
    const Reference values = read(outputs[k]), weights = read(cotangents[k]);
    for (std::size_t i = 0; i < values.values.size(); ++i)
      total += values.values[i] * weights.values[i];
  }
  return total;
}

void check_gradient(const Op& op, const Sample& sample) {
  const Tensors inputs = make_inputs(op, sample, Lay::kContiguous, Content::kDomain);
  const Tensors outputs = run(op, sample, inputs);
  Source source{99};
  Tensors cotangents, saved_inputs(inputs.size()), saved_outputs(outputs.size());
  std::vector<Type> output_types;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Type type{outputs[k].impl()->dtype, outputs[k].impl()->geometry.sizes};
    output_types.push_back(type);
    cotangents.push_back(type.dtype == kDouble ? make_input(type, {0.5, 1.5}, Lay::kContiguous,
                                                            Content::kDomain, source)
                                               : Tensor());
    if (op.saves_outputs >> k & 1) saved_outputs[k] = outputs[k];
  }
  const auto needs = std::make_unique<bool[]>(inputs.size() + 1);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    needs[i] = sample.inputs[i].dtype == kDouble && !(op.lacks_gradient >> i & 1);
    if (i < 32 && (op.saves_inputs >> i & 1)) saved_inputs[i] = inputs[i];
  }
  const Tensors gradients =
      op.gradient(Grad{op, sample.attrs, sample.numbers, saved_inputs, saved_outputs, cotangents,
                       sample.inputs, output_types, ArrayRef<bool>(needs.get(), inputs.size())});
  ASSERT_EQ(gradients.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!needs[i]) continue;
    ASSERT_TRUE(gradients[i].defined()) << "input " << i;
    ASSERT_EQ(to_string(gradients[i].impl()->geometry.sizes), to_string(sample.inputs[i].sizes));
    ASSERT_EQ(gradients[i].impl()->dtype, kDouble);
    int looked_at = 0;
    for_each_index(sample.inputs[i].sizes, [&](const Shape& index) {
      if (looked_at++ >= 60) return;  // of a long input the first ones tell enough
      const double value = value_at(inputs[i], index);
      set_value(inputs[i], index, value + kStep);
      const double above = weighted(run(op, sample, inputs), cotangents);
      set_value(inputs[i], index, value - kStep);
      const double below = weighted(run(op, sample, inputs), cotangents);
      set_value(inputs[i], index, value);
      const double expected = (above - below) / (2 * kStep);
      if (std::isnan(expected)) return;  // a mean over nothing has no slope
      EXPECT_NEAR(value_at(gradients[i], index), expected, 1e-5 * (1 + std::fabs(expected)))
          << "input " << i << " at " << to_string(index);
    });
  }
}

TEST(Gradients, AgreeWithCentralDifferences) {
  for (const Op* op : all_ops()) {
    if (!op->gradient || !op->samples) continue;
    for (const Sample& sample : op->samples(kDouble)) {
      if (sample.inputs.empty()) continue;
      SCOPED_TRACE(describe(*op, sample));
      try {
        const Signature signature{*op, sample.inputs, sample.attrs, sample.numbers};
        if (op->type(signature).outputs[0].dtype != kDouble) continue;
        check_gradient(*op, sample);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace groove::testing
