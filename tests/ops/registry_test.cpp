// Walks the registry: every op against its reference, in-place forms against functional ones. No op
// is named here.
#include <gtest/gtest.h>

#include "support.h"

namespace groove::testing {
namespace {

template <typename Visit>
void for_each_sample(const Visit& visit) {
  for (const Op* op : all_ops()) {
    if (!op->samples || !is_wanted(*op)) continue;
    for (ScalarType dtype : op->dtypes) {
      for (const Sample& sample : op->samples(dtype)) {
        SCOPED_TRACE(describe(*op, sample));
        try {
          visit(*op, sample);
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
  }
}

TEST(Registry, EveryOpIsComplete) {
  for (const Op* op : all_ops()) {
    if (op->kind == OpKind::kBig) continue;
    SCOPED_TRACE(op->name);
    EXPECT_TRUE(op->type);
    EXPECT_TRUE(op->kind == OpKind::kView ? static_cast<bool>(op->view)
                                          : static_cast<bool>(op->lowering));
    // ops that only compiler passes make (structural ones) have neither
    EXPECT_EQ(static_cast<bool>(op->reference), static_cast<bool>(op->samples));
    EXPECT_EQ(static_cast<bool>(op->samples), !op->dtypes.empty());
  }
}

TEST(Registry, ReferencesAgree) {
  for_each_sample([](const Op& op, const Sample& sample) {
    const Tensors inputs = make_inputs(op, sample, Lay::kContiguous, Content::kDomain);
    std::vector<Reference> values;
    for (const Tensor& input : inputs) values.push_back(read(input));
    const Signature signature{op, sample.inputs, sample.attrs, sample.numbers};
    const std::vector<Reference> expected = op.reference(signature, values);
    const Tensors actual = run(op, sample, inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t k = 0; k < actual.size(); ++k)
      EXPECT_EQ(reference_difference(op, actual[k], expected[k]), "") << "output " << k;
  });
}

TEST(Registry, InPlaceFormsEqualFunctionalOnes) {
  for_each_sample([](const Op& op, const Sample& sample) {
    if (!op.has_inplace || sample.inputs.empty()) return;
    const Signature signature{op, sample.inputs, sample.attrs, sample.numbers};
    const TypeResult types = op.type(signature);
    for (std::size_t k = 0; k < types.outputs.size(); ++k) {
      if (!(types.outputs[k] == sample.inputs[static_cast<std::size_t>(op.mutates[k])])) return;
    }
    for (Lay lay : {Lay::kContiguous, Lay::kTransposed, Lay::kStepTwo}) {
      const Tensors expected = run(op, sample, make_inputs(op, sample, lay, Content::kDomain));
      const Tensors targets = make_inputs(op, sample, lay, Content::kDomain);
      const auto writes = [&] {  // noticed by the tape or not
        const Storage& storage = *targets[0].impl()->storage;
        return storage.version + storage.unnoticed;
      };
      const std::uint32_t before = writes();
      const Tensors results = run(op, sample, targets, true);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const Tensor& target = targets[static_cast<std::size_t>(op.mutates[k])];
        EXPECT_EQ(bit_difference(target, expected[k]), "") << "output " << k;
        EXPECT_TRUE(results[k].is_same(target));
      }
      EXPECT_GT(writes(), before);
    }
  });
}

}  // namespace
}  // namespace groove::testing
