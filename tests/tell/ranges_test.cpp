// What operators say of where their results lie, against results: every operator with a range,
// every dtype and sample that the registry's test walks.
#include <algorithm>
#include <cmath>

#include "src/core/dispatch.h"
#include "src/core/graph_ranges.h"
#include "tests/tell/tell.h"

namespace groove::testing {
namespace {

class Ranges : public Tell {
 protected:
  void SetUp() override { start(jit::Mode::kEager); }
};

// Empty, low above high, for tensors without numbers.
ValueRange range_in(const Tensor& tensor) {
  ValueRange range{1, 0};
  const Tensor dense = tensor.to(kDouble).contiguous();
  for (std::int64_t i = 0; i < dense.numel(); ++i) {
    const double value = dense.const_data_ptr<double>()[i];
    if (std::isnan(value)) continue;
    const bool is_first = range.low > range.high;
    range.low = is_first ? value : std::min(range.low, value);
    range.high = is_first ? value : std::max(range.high, value);
  }
  return range;
}

Tensor random_input(const Type& type, const Domain& domain) {
  const Tensor unit = groove::rand(IntArrayRef(type.sizes), kDouble);
  if (type.dtype == kBool) return unit > 0.5;
  return (unit * (domain.high - domain.low) + domain.low).to(type.dtype);
}

TEST_F(Ranges, HoldTheResults) {
  int checked = 0;
  for (const Op* op : all_ops()) {
    if (!op->range || !op->samples) continue;
    for (const ScalarType dtype : op->dtypes)
      for (const Sample& sample : op->samples(dtype)) {
        std::vector<Tensor> inputs;
        std::vector<ValueRange> lies;
        bool is_empty = false;
        for (const Type& type : sample.inputs) {
          inputs.push_back(random_input(type, op->domain));
          lies.push_back(range_in(inputs.back()));
          is_empty |= inputs.back().numel() == 0;
        }
        if (is_empty) continue;
        std::vector<Tensor> outputs(output_count(*op, sample.attrs));
        dispatch(Call{op, inputs, &sample.attrs, sample.numbers, Site::current()}, outputs.data());
        for (std::size_t k = 0; k < outputs.size(); ++k) {
          const ValueRange real = range_in(outputs[k]);
          const Signature signature{*op, sample.inputs, sample.attrs, sample.numbers};
          const ValueRange said = op->range(signature, lies, static_cast<int>(k));
          ++checked;
          EXPECT_TRUE(real.low > real.high || said.holds(real))
              << op->name << " of " << name(dtype) << ", result " << k << ": [" << real.low << ", "
              << real.high << "] is not in [" << said.low << ", " << said.high << "]";
        }
      }
  }
  EXPECT_GT(checked, 300);
}

// Values that are hard to keep inside.
TEST_F(Ranges, HoldAtTheirEnds) {
  const Tensor near_one = arange(0, 1 << 20, 1, TensorOptions(kFloat)) * 0x1p-15 + 8.0;
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    EXPECT_LE(near_one.to(dtype).sigmoid().max().item<double>(), 1.0) << name(dtype);
    EXPECT_GE((-near_one).to(dtype).sigmoid().min().item<double>(), 0.0) << name(dtype);
  }
}

}  // namespace
}  // namespace groove::testing
