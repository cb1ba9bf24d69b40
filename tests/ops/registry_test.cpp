// Walks the registry: every op against its reference, in-place forms against functional ones. No op
// is named here.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "groove/parallel.h"
#include "kernels/build.h"
#include "kernels/ops/widen.h"
#include "src/core/attribute_words.h"
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

// How a child of this process ends that runs the op: 0 with a result, 1 with an error that is said;
// negative: by a signal.
int end_of(const Op& op, const Sample& sample, const Tensors& inputs) {
  const pid_t child = ::fork();
  if (child == 0) {
    set_num_threads(1);
    try {
      run(op, sample, inputs);
    } catch (const Error&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// An operand that has been moved from, or never was: an error, or one that the op goes without.
// Views are asked for through methods, which look at the tensor first.
TEST(Registry, UndefinedOperandsAreErrors) {
  for (const Op* op : all_ops()) {
    if (!op->samples || !is_wanted(*op) || op->kind == OpKind::kView) continue;
    SCOPED_TRACE(op->name);
    const Sample sample = op->samples(op->dtypes.front()).front();
    const Tensors inputs = make_inputs(*op, sample, Lay::kContiguous, Content::kDomain);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      Tensors given = inputs;
      given[k] = Tensor();
      EXPECT_GE(end_of(*op, sample, given), 0) << "operand " << k;
    }
  }
}

// The kernel of a body by itself; none where the op has no body.
std::optional<kernels::Kernel> kernel_of(const Signature& signature, const TypeResult& types) {
  const auto& how = signature.op.lowering->how;
  const auto store = [&](kernels::Builder& builder, const kernels::Exprs& results) {
    for (std::size_t k = 0; k < results.size(); ++k)
      builder.store(types.outputs[k].dtype, kernels::StrideClass::kContiguous, results[k]);
    return builder.finish();
  };
  if (const auto* const map = std::get_if<kernels::ElementwiseLowering>(&how)) {
    kernels::Builder builder;
    kernels::Exprs inputs, numbers;
    for (const Type& input : signature.inputs) {
      inputs.emplace_back();
      if (input.dtype != ScalarType::Undefined)
        inputs.back() = builder.load(input.dtype, kernels::StrideClass::kContiguous);
    }
    for (std::size_t i = 0; i < signature.numbers.size(); ++i)
      numbers.push_back(builder.param(kernels::number_dtype(signature, *map, types.compute, i)));
    return store(builder, kernels::emit_elementwise(builder, signature, types, inputs, numbers,
                                                    [&builder] { return builder.index(0); }));
  }
  if (const auto* const row = std::get_if<kernels::ReductionLowering>(&how)) {
    kernels::Builder builder(kernels::Order::kRow);
    const auto value = builder.load(signature.inputs[0].dtype, kernels::StrideClass::kContiguous);
    const auto before = kernels::emit_before_reduction(builder, signature, types, value);
    kernels::Exprs reduced;
    for (std::size_t r = 0; r < row->reductions.size(); ++r)
      reduced.push_back(builder.reduce(row->reductions[r], before[r]));
    builder.next_phase();
    const auto count = builder.param(types.compute);
    return store(builder, kernels::emit_after_reduction(builder, signature, types, reduced, count));
  }
  return std::nullopt;
}

// Eager mode keeps kernels for all sizes, and for all lists among the attributes.
TEST(Registry, BodiesReadNoSizesAndNoLists) {
  for_each_sample([](const Op& op, const Sample& sample) {
    const Signature signature{op, sample.inputs, sample.attrs, sample.numbers};
    if (kernels::needs_widening(op, sample.inputs)) return;
    const TypeResult types = op.type(signature);
    const auto kernel = kernel_of(signature, types);
    if (!kernel) return;
    Sample other = sample;
    for (Type& input : other.inputs)
      for (std::int64_t& size : input.sizes) size += 3;
    each_attribute(op, sample.attrs, [&](AttrType type, std::size_t begin, std::size_t end) {
      if (type != AttrType::kInts) return;
      for (std::size_t i = begin + 1; i < end; ++i)
        other.attrs = with_word(other.attrs, i, other.attrs.words()[i] + 1);
    });
    EXPECT_TRUE(kernel == kernel_of({op, other.inputs, other.attrs, other.numbers}, types));
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
