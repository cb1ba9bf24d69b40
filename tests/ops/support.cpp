// Building, reading and comparing tensors directly in memory, without any op.
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "kernels/ops/reference.h"

namespace groove::testing {
namespace {

// The tests call one op thousands of times from one line: that is no loop to be compiled.
[[maybe_unused]] const bool is_eager = setenv("GROOVE_MODE", "eager", 1) == 0;

void* address(const Tensor& tensor, const Shape& index) {
  materialize(*tensor.impl());
  const TensorImpl& impl = *tensor.impl();
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    offset += index[axis] * impl.geometry.strides[axis];
  return static_cast<char*>(impl.data()) +
         offset * static_cast<std::int64_t>(element_size(impl.dtype));
}

Geometry geometry_for(const Shape& sizes, Lay lay) {
  Geometry geometry{sizes, contiguous_strides(sizes), 0};
  if (sizes.empty()) {
    geometry.offset = lay == Lay::kOffset ? 3 : 0;
    return geometry;
  }
  switch (lay) {
    case Lay::kContiguous:
      break;
    case Lay::kTransposed: {
      std::int64_t stride = 1;
      for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        geometry.strides[axis] = stride;
        stride *= std::max<std::int64_t>(sizes[axis], 1);
      }
      break;
    }
    case Lay::kStepTwo:
      for (std::int64_t& stride : geometry.strides) stride *= 2;
      break;
    case Lay::kOffset:
      geometry.offset = 5;
      break;
    case Lay::kOverlapping:
      geometry.strides[0] = 0;
      break;
  }
  return geometry;
}

double special(std::size_t n) {
  const double values[] = {std::numeric_limits<double>::quiet_NaN(),
                           INFINITY,
                           -INFINITY,
                           -0.0,
                           0.0,
                           1e-40,
                           -1e-42,
                           1.0,
                           -2.5,
                           3e38,
                           5e-324,
                           -1e300,
                           0.75};
  return values[n % std::size(values)];
}

}  // namespace

double Source::next() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 11) * 0x1p-53;
}

double value_at(const Tensor& tensor, const Shape& index) {
  const void* at = address(tensor, index);
  switch (tensor.impl()->dtype) {
    case kFloat:
      return *static_cast<const float*>(at);
    case kDouble:
      return *static_cast<const double*>(at);
    case kLong:
      return static_cast<double>(*static_cast<const std::int64_t*>(at));
    case kInt:
      return *static_cast<const std::int32_t*>(at);
    default:
      return *static_cast<const std::uint8_t*>(at);
  }
}

void set_value(const Tensor& tensor, const Shape& index, double value) {
  void* at = address(tensor, index);
  switch (tensor.impl()->dtype) {
    case kFloat:
      *static_cast<float*>(at) = static_cast<float>(value);
      break;
    case kDouble:
      *static_cast<double*>(at) = value;
      break;
    case kLong:
      *static_cast<std::int64_t*>(at) = static_cast<std::int64_t>(value);
      break;
    case kInt:
      *static_cast<std::int32_t*>(at) = static_cast<std::int32_t>(value);
      break;
    default:
      *static_cast<std::uint8_t*>(at) = static_cast<std::uint8_t>(value);
  }
}

Tensor make_input(const Type& type, Domain domain, Lay lay, Content content, Source& source) {
  if (type.dtype == ScalarType::Undefined) return Tensor();
  Geometry geometry = geometry_for(type.sizes, lay);
  std::int64_t end = geometry.offset + 1;
  for (std::size_t axis = 0; axis < type.sizes.size(); ++axis)
    end += std::max<std::int64_t>(type.sizes[axis] - 1, 0) * geometry.strides[axis];
  const auto bytes = static_cast<std::size_t>(end) * element_size(type.dtype);
  StoragePtr storage = allocate_storage(std::max<std::size_t>(bytes, 64));
  std::memset(storage->data, 0, bytes);
  const Tensor tensor(make_impl(std::move(storage), std::move(geometry), type.dtype));
  std::size_t n = static_cast<std::size_t>(source.next() * 13);
  for_each_index(type.sizes, [&](const Shape& index) {
    double value = domain.low + source.next() * (domain.high - domain.low);
    if (is_floating(type.dtype)) {
      if (content == Content::kSpecial) value = special(n++);
    } else if (type.dtype == kBool) {
      value = source.next() < 0.5;
    } else {
      value = std::floor(domain.low + source.next() * (domain.high - domain.low + 1));
      if (type.dtype == kByte) value = std::fabs(value);
      value = std::min(value, domain.high);
    }
    set_value(tensor, index, value);
  });
  return tensor;
}

Tensors make_inputs(const Op& op, const Sample& sample, Lay lay, Content content) {
  Source source{sample.inputs.size() * 977 + 5};
  Tensors inputs;
  for (const Type& type : sample.inputs)
    inputs.push_back(make_input(type, op.domain, lay, content, source));
  return inputs;
}

Reference read(const Tensor& tensor) {
  if (!tensor.defined()) return {{ScalarType::Undefined, {}}, {}};
  const TensorImpl& impl = *tensor.impl();
  return make_reference({impl.dtype, impl.geometry.sizes},
                        [&](const Shape& index) { return value_at(tensor, index); });
}

Tensors run(const Op& op, const Sample& sample, const Tensors& inputs, bool is_inplace) {
  Tensors outputs(static_cast<std::size_t>(op.outputs));
  dispatch(Call{&op, inputs, &sample.attrs, sample.numbers, Site::current(), is_inplace},
           outputs.data());
  return outputs;
}

std::string bit_difference(const Tensor& a, const Tensor& b) {
  if (a.impl()->dtype != b.impl()->dtype || !(a.impl()->geometry.sizes == b.impl()->geometry.sizes))
    return "types differ";
  const Reference left = read(a), right = read(b);
  for (std::size_t i = 0; i < left.values.size(); ++i) {
    const double x = left.values[i], y = right.values[i];
    if (std::isnan(x) && std::isnan(y)) continue;
    if (!(x == y) || std::signbit(x) != std::signbit(y))
      return fmt::format("element {}: {:a} against {:a}", i, x, y);
  }
  return {};
}

std::string reference_difference(const Op& op, const Tensor& actual, const Reference& expected) {
  const Reference read_back = read(actual);
  if (!(read_back.type == expected.type)) return "types differ";
  const ScalarType dtype = expected.type.dtype;
  const double epsilon = dtype == kFloat ? 0x1p-23 : dtype == kDouble ? 0x1p-52 : 0;
  // what sums or draws is judged against the size of its terms, which may cancel
  const double floor = op.kind == OpKind::kElementwise && op.inputs > 0 ? 0x1p-120 : 1;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double got = read_back.values[i];
    double want = expected.values[i];
    if (dtype == kFloat) want = op.tolerance_ulp == 0 ? static_cast<float>(want) : want;
    if ((std::isnan(got) && std::isnan(want)) || got == want) continue;
    const double bound =
        std::max(op.tolerance_ulp, 0.51) * epsilon * std::max(std::fabs(want), floor);
    if (!(std::fabs(got - want) <= bound))
      return fmt::format("element {}: {} instead of {} ({} ULP)", i, got, want,
                         std::fabs(got - want) / (epsilon * std::fabs(want)));
  }
  return {};
}

std::string describe(const Op& op, const Sample& sample) {
  std::string text = op.name + "(";
  for (const Type& type : sample.inputs)
    text += fmt::format(" {}{}", short_name(type.dtype), to_string(type.sizes));
  text += " ) attrs";
  for (std::int64_t word : sample.attrs.words()) text += fmt::format(" {}", word);
  text += " numbers";
  for (const Scalar& number : sample.numbers) text += fmt::format(" {}", number.to_double());
  return text;
}

}  // namespace groove::testing
