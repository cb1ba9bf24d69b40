// Building, reading and comparing tensors directly in memory, without any op.
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "kernels/ops/reference.h"
#include "src/core/half.h"

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
                           0.75,
                           65504,
                           -65520,
                           6e-8,
                           -3e-6};
  return values[n % std::size(values)];
}

}  // namespace

double Source::next() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 11) * 0x1p-53;
}

std::uint64_t Source::bits() {
  return static_cast<std::uint64_t>(next() * 0x1p32) << 32 |
         static_cast<std::uint64_t>(next() * 0x1p32);
}

double value_at(const Tensor& tensor, const Shape& index) {
  const void* at = address(tensor, index);
  switch (tensor.impl()->dtype) {
    case kFloat:
      return *static_cast<const float*>(at);
    case kDouble:
      return *static_cast<const double*>(at);
    case kHalf:
      return half_value(*static_cast<const std::uint16_t*>(at));
    case kBFloat16:
      return bfloat16_value(*static_cast<const std::uint16_t*>(at));
    case kLong:
      return static_cast<double>(*static_cast<const std::int64_t*>(at));
    case kInt:
      return *static_cast<const std::int32_t*>(at);
    case kShort:
      return *static_cast<const std::int16_t*>(at);
    case kChar:
      return *static_cast<const std::int8_t*>(at);
    default:
      return *static_cast<const std::uint8_t*>(at);
  }
}

void set_value(const Tensor& tensor, const Shape& index, double value) {
  void* at = address(tensor, index);
  const auto integer = [value] { return static_cast<std::int64_t>(value); };
  switch (tensor.impl()->dtype) {
    case kFloat:
      *static_cast<float*>(at) = static_cast<float>(value);
      break;
    case kDouble:
      *static_cast<double*>(at) = value;
      break;
    case kHalf:
      *static_cast<std::uint16_t*>(at) = half_bits(value);
      break;
    case kBFloat16:
      *static_cast<std::uint16_t*>(at) = bfloat16_bits(value);
      break;
    case kLong:
      *static_cast<std::int64_t*>(at) = integer();
      break;
    case kInt:
      *static_cast<std::int32_t*>(at) = static_cast<std::int32_t>(integer());
      break;
    case kShort:
      *static_cast<std::int16_t*>(at) = static_cast<std::int16_t>(integer());
      break;
    case kChar:
      *static_cast<std::int8_t*>(at) = static_cast<std::int8_t>(integer());
      break;
    default:
      *static_cast<std::uint8_t*>(at) = static_cast<std::uint8_t>(integer());
  }
}

Tensor make_input(const Type& type, Domain domain, Lay lay, Content content, Source& source,
                  bool may_be_position) {
  if (type.dtype == ScalarType::Undefined) return Tensor();
  Geometry geometry = geometry_for(type.sizes, lay);
  std::int64_t end = geometry.offset + 1;
  for (std::size_t axis = 0; axis < type.sizes.size(); ++axis)
    end += std::max<std::int64_t>(type.sizes[axis] - 1, 0) * geometry.strides[axis];
  const auto bytes = static_cast<std::size_t>(end) * element_size(type.dtype);
  StoragePtr storage = allocate_storage(bytes);
  std::memset(storage->data, 0, bytes);
  const Tensor tensor(make_impl(std::move(storage), std::move(geometry), type.dtype));
  const bool has_bits = content == Content::kBits && type.dtype != kBool &&
                        (is_floating(type.dtype) || !may_be_position);
  std::size_t n = static_cast<std::size_t>(source.next() * 17);
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
    if (!has_bits || source.next() < 0.5) return;
    const std::uint64_t bits = source.bits();
    std::memcpy(address(tensor, index), &bits, element_size(type.dtype));
  });
  return tensor;
}

Tensors make_inputs(const Op& op, const Sample& sample, Lay lay, Content content,
                    std::uint64_t seed) {
  Source source{sample.inputs.size() * 977 + 5 + seed * 0x9E3779B97F4A7C15u};
  const bool has_positions = op.kind != OpKind::kElementwise && op.kind != OpKind::kReduction &&
                             op.kind != OpKind::kContraction && op.kind != OpKind::kView;
  Tensors inputs;
  for (const Type& type : sample.inputs)
    inputs.push_back(make_input(type, op.domain, lay, content, source, has_positions));
  return inputs;
}

Tensor dense_copy(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const TensorImpl& impl = *tensor.impl();
  Tensor copy = make_empty(impl.geometry.sizes, impl.dtype);
  for_each_index(impl.geometry.sizes, [&](const Shape& index) {
    std::memcpy(address(copy, index), address(tensor, index), element_size(impl.dtype));
  });
  return copy;
}

bool is_wanted(const Op& op) {
  const char* wanted = std::getenv("OPS_UNDER_TEST");
  return !wanted || fmt::format(",{},", wanted).find(fmt::format(",{},", op.name)) !=
                        std::string::npos;
}

bool is_refused(const Op& op, const Sample& sample, const Tensors& inputs) {
  if (!op.check) return false;
  try {
    op.check(Signature{op, sample.inputs, sample.attrs, sample.numbers}, inputs);
  } catch (const Error&) {
    return true;
  }
  return false;
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
  const TensorImpl &x = *a.impl(), &y = *b.impl();
  if (x.dtype != y.dtype || !(x.geometry.sizes == y.geometry.sizes)) return "types differ";
  std::string text;
  std::size_t at = 0;
  for_each_index(x.geometry.sizes, [&](const Shape& index) {
    const std::size_t element = at++;
    if (!text.empty() ||
        std::memcmp(address(a, index), address(b, index), element_size(x.dtype)) == 0)
      return;
    const double left = value_at(a, index), right = value_at(b, index);
    if (is_floating(x.dtype) && std::isnan(left) && std::isnan(right)) return;
    text = fmt::format("element {}: {:a} against {:a}", element, left, right);
  });
  return text;
}

// Of a result computed in f32 or f64 and rounded once to its dtype: half a unit of the dtype's last
// place (relative to the size, or to the least normal number) and the op's error in the format that
// it computed in.
std::string reference_difference(const Op& op, const Tensor& actual, const Reference& expected) {
  const Reference read_back = read(actual);
  if (!(read_back.type == expected.type)) return "types differ";
  const ScalarType dtype = expected.type.dtype;
  const bool is_half = dtype == kHalf || dtype == kBFloat16;
  const double epsilon = dtype == kFloat || is_half ? 0x1p-23 : dtype == kDouble ? 0x1p-52 : 0;
  const double step = dtype == kHalf ? 0x1p-10 : 0x1p-7;
  const double least = dtype == kHalf ? 0x1p-14 : 0x1p-126;
  // what sums or draws is judged against the size of its terms, which may cancel
  const double floor = op.kind == OpKind::kElementwise && op.inputs > 0 ? 0x1p-120 : 1;
  const auto rounded = [dtype](double value) {
    if (dtype == kFloat) return static_cast<double>(static_cast<float>(value));
    if (dtype == kHalf) return half_value(half_bits(value));
    if (dtype == kBFloat16) return bfloat16_value(bfloat16_bits(value));
    return value;
  };
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double got = read_back.values[i];
    double want = wrapped(dtype, expected.values[i]);
    if (op.tolerance_ulp == 0) want = rounded(want);
    if ((std::isnan(got) && std::isnan(want)) || got == want) continue;
    if (is_half && got == rounded(want)) continue;
    double bound = std::max(op.tolerance_ulp, 0.51) * epsilon * std::max(std::fabs(want), floor);
    if (is_half) bound += 0.5 * step * std::max(std::fabs(want), least);
    if (!(std::fabs(got - want) <= bound))
      return fmt::format("element {}: {} instead of {} ({} times the bound)", i, got, want,
                         std::fabs(got - want) / bound);
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
