// Composites in eager mode: fused in the midst of the calls of a signature, with the bits of their
// parts, for every sample of every composite there is.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "eager/composite.h"
#include "src/core/dispatch.h"
#include "src/core/op.h"
#include "src/core/tensor_impl.h"

namespace groove::jit {
namespace {

int asked = 0, fused = 0;
eager::CompositeCompiler usual = nullptr;

std::unique_ptr<const eager::CompiledComposite> count(const Call& call) {
  ++asked;
  auto compiled = usual(call);
  fused += compiled != nullptr;
  return compiled;
}

Tensor random_tensor(const Type& type, Domain domain, std::mt19937_64& random) {
  if (type.dtype == ScalarType::Undefined) return Tensor();
  const Tensor tensor = make_empty(type.sizes, type.dtype);
  for (std::int64_t i = 0; i < tensor.impl()->numel; ++i) {
    const double value = std::uniform_real_distribution<double>(domain.low, domain.high)(random);
    void* const data = tensor.impl()->data();
    if (type.dtype == kFloat) static_cast<float*>(data)[i] = static_cast<float>(value);
    if (type.dtype == kDouble) static_cast<double*>(data)[i] = value;
    if (type.dtype == kLong)
      static_cast<std::int64_t*>(data)[i] = std::abs(static_cast<int>(value)) % 2;
    if (type.dtype == kInt)
      static_cast<std::int32_t*>(data)[i] = std::abs(static_cast<int>(value)) % 2;
    if (type.dtype == kBool) static_cast<bool*>(data)[i] = value > 0;
  }
  return tensor;
}

Tensors run_below(const Op& op, const Sample& sample, const Tensors& inputs) {
  Tensors outputs(static_cast<std::size_t>(op.outputs));
  dispatch_below(DispatchLayer::kAutodiff,
                 Call{&op, inputs, &sample.attrs, {}, Site::current(), false}, outputs.data());
  // Without the tracer's own entry above them, parts are words to it and may be pending.
  for (const Tensor& output : outputs) {
    if (output.defined()) materialize(*output.impl());
  }
  return outputs;
}

TEST(EagerComposite, SameBitsAsItsParts) {
  usual = eager::registered_composite_compiler();
  ASSERT_NE(usual, nullptr);
  const auto before = std::exchange(eager::parts_before_fusing(), std::chrono::nanoseconds(1));
  std::mt19937_64 random(1);
  int samples = 0;
  for (const Op* op : all_ops()) {
    if (op->kind != OpKind::kComposite || !op->samples || op->is_random) continue;
    for (const Sample& sample : op->samples(kFloat)) {
      if (!sample.numbers.empty()) continue;
      Tensors inputs;
      for (const Type& type : sample.inputs)
        inputs.push_back(random_tensor(type, op->domain, random));
      eager::register_composite_compiler(nullptr);
      const Tensors parts = run_below(*op, sample, inputs);
      eager::register_composite_compiler(count);
      ++samples;
      for (int call = 0; call < 3; ++call) {
        const Tensors results = run_below(*op, sample, inputs);
        for (std::size_t k = 0; k < results.size(); ++k) {
          ASSERT_EQ(results[k].defined(), parts[k].defined()) << op->name;
          if (!results[k].defined()) continue;
          const TensorImpl &a = *parts[k].impl(), &b = *results[k].impl();
          ASSERT_EQ(a.geometry.sizes, b.geometry.sizes) << op->name;
          if (!a.is_contiguous || !b.is_contiguous || a.numel == 0) continue;
          const auto bytes = static_cast<std::size_t>(a.numel) * element_size(a.dtype);
          EXPECT_EQ(std::memcmp(a.data(), b.data(), bytes), 0) << op->name << ", call " << call;
        }
      }
    }
  }
  eager::register_composite_compiler(usual);
  eager::parts_before_fusing() = before;
  EXPECT_GT(samples, 20);
  EXPECT_GT(fused, 20) << "of " << asked;
}

}  // namespace
}  // namespace groove::jit
