// Walking dense arrays for reference implementations, and the edge shapes of samples.
#include "kernels/ops/reference.h"

#include <algorithm>
#include <cmath>

namespace groove {

void for_each_index(IntArrayRef sizes, const std::function<void(const Shape& index)>& visit) {
  const std::int64_t count = element_count(sizes);
  Shape index(sizes.size(), 0);
  for (std::int64_t n = 0; n < count; ++n) {
    visit(index);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      if (++index[axis] < sizes[axis]) break;
      index[axis] = 0;
    }
  }
}

std::int64_t flat_position(IntArrayRef sizes, const Shape& index) {
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    position = position * sizes[axis] + index[axis];
  return position;
}

double broadcast_at(const Reference& operand, const Shape& index) {
  const Shape& sizes = operand.type.sizes;
  const std::size_t lead = index.size() - sizes.size();
  Shape own(sizes.size(), 0);
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    own[axis] = sizes[axis] == 1 ? 0 : index[axis + lead];
  return operand.values[static_cast<std::size_t>(flat_position(sizes, own))];
}

Reference make_reference(Type type, const std::function<double(const Shape& index)>& value) {
  Reference result{std::move(type), {}};
  for_each_index(result.type.sizes,
                 [&](const Shape& index) { result.values.push_back(value(index)); });
  return result;
}

double wrapped(ScalarType dtype, double value) {
  if (dtype == kBool) return value != 0;
  if (!is_integral(dtype) || !std::isfinite(value)) return value;
  const double period = std::ldexp(1.0, 8 * static_cast<int>(element_size(dtype)));
  const double least = dtype == kByte ? 0 : -period / 2;
  if (value >= least && value < least + period) return value;
  double rest = std::fmod(value - least, period);
  if (rest < 0) rest += period;
  return rest + least;
}

ReferenceRule elementwise_reference(
    std::function<double(const std::vector<double>& inputs, const Signature&)> function) {
  return [function](const Signature& signature, const std::vector<Reference>& inputs) {
    const TypeResult types = signature.op.type(signature);
    std::vector<double> operands(inputs.size());
    return std::vector<Reference>{make_reference(types.outputs[0], [&](const Shape& index) {
      for (std::size_t i = 0; i < inputs.size(); ++i) operands[i] = broadcast_at(inputs[i], index);
      return function(operands, signature);
    })};
  };
}

ReferenceRule reduction_reference(std::function<double(const std::vector<double>& row)> function) {
  return [function](const Signature& signature, const std::vector<Reference>& inputs) {
    const Shape& sizes = inputs[0].type.sizes;
    const IntArrayRef dims = signature.attr().integers(0);
    Shape kept = sizes;  // with keepdim: rows in row-major order are the same without
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      const auto dim = static_cast<std::int64_t>(axis);
      if (dims.empty() || std::find(dims.begin(), dims.end(), dim) != dims.end()) kept[axis] = 1;
    }
    std::vector<std::vector<double>> rows(static_cast<std::size_t>(element_count(kept)));
    std::size_t position = 0;
    for_each_index(sizes, [&](const Shape& index) {
      Shape row = index;
      for (std::size_t axis = 0; axis < row.size(); ++axis) {
        if (kept[axis] == 1) row[axis] = 0;
      }
      rows[static_cast<std::size_t>(flat_position(kept, row))].push_back(
          inputs[0].values[position++]);
    });
    Reference result{signature.op.type(signature).outputs[0], {}};
    for (const std::vector<double>& row : rows) result.values.push_back(function(row));
    return std::vector<Reference>{result};
  };
}

std::vector<Sample> unary_samples(ScalarType dtype) {
  return {{{{dtype, {}}}, {}, {}},        {{{dtype, {1}}}, {}, {}}, {{{dtype, {0}}}, {}, {}},
          {{{dtype, {3, 0}}}, {}, {}},    {{{dtype, {7}}}, {}, {}}, {{{dtype, {3, 5}}}, {}, {}},
          {{{dtype, {2, 1, 9}}}, {}, {}}, {{{dtype, {37}}}, {}, {}}};
}

std::vector<Sample> binary_samples(ScalarType dtype) {
  const Shape pairs[][2] = {{{}, {}},         {{1}, {7}},       {{5}, {}},        {{0}, {1}},
                            {{3, 5}, {3, 5}}, {{3, 1}, {1, 5}}, {{2, 3, 4}, {4}}, {{4}, {3, 4}},
                            {{0, 3}, {3}},    {{19}, {19}}};
  std::vector<Sample> samples;
  for (const auto& pair : pairs) samples.push_back({{{dtype, pair[0]}, {dtype, pair[1]}}, {}, {}});
  return samples;
}

std::vector<Sample> scalar_samples(ScalarType dtype, const std::vector<double>& numbers) {
  std::vector<Sample> samples;
  for (double number : numbers) {
    for (Sample& sample : unary_samples(dtype)) {
      if (is_floating(dtype))
        sample.numbers = {Scalar(number)};
      else
        sample.numbers = {Scalar(static_cast<std::int64_t>(number))};
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

std::vector<Sample> reduction_samples(ScalarType dtype, bool allows_empty) {
  struct Case {
    Shape sizes, dims;
    bool keepdim;
  };
  const Case cases[] = {
      {{}, {}, false},         {{1}, {}, true},           {{5}, {0}, false},
      {{67}, {}, false},       {{3, 5}, {1}, true},       {{3, 5}, {0}, false},
      {{4, 3, 5}, {1}, false}, {{4, 3, 5}, {0, 2}, true}, {{4, 3, 5}, {1, 2}, false},
      {{9000}, {}, false},     {{300, 3}, {0}, false},    {{0, 3}, {1}, false},
      {{0, 3}, {0}, false},    {{0}, {}, false}};
  std::vector<Sample> samples;
  for (const Case& one : cases) {
    bool reduces_nothing = false;
    for (std::size_t axis = 0; axis < one.sizes.size(); ++axis) {
      const auto dim = static_cast<std::int64_t>(axis);
      const bool reduced =
          one.dims.empty() || std::find(one.dims.begin(), one.dims.end(), dim) != one.dims.end();
      reduces_nothing |= reduced && one.sizes[axis] == 0;
    }
    if (reduces_nothing && !allows_empty) continue;
    samples.push_back(
        {{{dtype, one.sizes}}, Attrs().add(IntArrayRef(one.dims)).add(one.keepdim), {}});
  }
  return samples;
}

}  // namespace groove
