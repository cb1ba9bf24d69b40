// What scans share: types, lines of memory, samples, references.
#include "kernels/ops/scan.h"

#include "groove/ops/creation.h"
#include "groove/ops/views.h"

namespace groove {

std::vector<AttrField> scan_attributes() {
  return {{"dim", AttrType::kInt}, {"reverse", AttrType::kBool}};
}

Attrs scan_attrs(const char* op, const Tensor& self, std::int64_t dim, bool reverse) {
  return Attrs().add(normal_dim(op, dim, checked(op, self).geometry.sizes.size())).add(reverse);
}

TypeResult scan_type(const Signature& s) {
  const Type& first = s.inputs[0];
  const std::int64_t dim = s.attr().integer(0);
  GROOVE_CHECK_AS(NotImplementedError, is_floating(first.dtype) || first.dtype == kLong,
                  "{}: not defined for {} tensors", s.op.name, name(first.dtype));
  GROOVE_CHECK(dim >= 0 && dim < static_cast<std::int64_t>(first.sizes.size()),
               "{}: dim {} is out of range of shape {}", s.op.name, dim, to_string(first.sizes));
  for (const Type& type : s.inputs)
    GROOVE_CHECK(type == first, "{}: operands of {} {} and {} {} differ", s.op.name,
                 name(first.dtype), to_string(first.sizes), name(type.dtype),
                 to_string(type.sizes));
  return {{first}, first.dtype};
}

std::vector<Sample> scan_samples(ScalarType dtype, std::size_t operands) {
  struct Case {
    Shape sizes;
    std::int64_t dim;
  };
  std::vector<Sample> samples;
  const Case cases[] = {{{1}, 0},       {{7}, 0},    {{3, 5}, 1}, {{3, 5}, 0},
                        {{2, 3, 4}, 1}, {{0, 3}, 0}, {{3, 0}, 0}, {{3, 130}, 0}};
  for (const Case& one : cases) {
    for (const bool reverse : {false, true})
      samples.push_back({std::vector<Type>(operands, Type{dtype, one.sizes}),
                         Attrs().add(one.dim).add(reverse),
                         {}});
  }
  return samples;
}

ReferenceRule scan_reference(
    std::function<std::vector<double>(const std::vector<std::vector<double>>&)> function) {
  return [function](const Signature& s, const std::vector<Reference>& inputs) {
    const scans::Lines lines = scans::lines_of(inputs[0].type.sizes, s.attr().integer(0));
    Reference result = inputs[0];
    for (std::int64_t line = 0; line < lines.outer * lines.inner; ++line) {
      std::vector<std::size_t> places;
      for (std::int64_t n = 0; n < lines.count; ++n) {
        const std::int64_t j = s.attr().boolean(1) ? lines.count - 1 - n : n;
        places.push_back(static_cast<std::size_t>(
            (line / lines.inner * lines.count + j) * lines.inner + line % lines.inner));
      }
      std::vector<std::vector<double>> operands(inputs.size());
      for (std::size_t i = 0; i < inputs.size(); ++i)
        for (const std::size_t place : places) operands[i].push_back(inputs[i].values[place]);
      const std::vector<double> values = function(operands);
      for (std::size_t n = 0; n < places.size(); ++n) result.values[places[n]] = values[n];
    }
    return std::vector<Reference>{result};
  };
}

namespace {

// Integers run as i64, whose low bits are those of a narrower one.
ScalarType running_dtype(ScalarType wanted) {
  return is_integral(wanted) && wanted != kBool ? kLong : wanted;
}

}  // namespace

Tensor scan(const Op& op, Arg self, std::int64_t dim, std::optional<ScalarType> dtype) {
  const CallFrame frame(self.site);
  const char* name = op.name.c_str();
  const TensorImpl& impl = checked(name, *self.tensor);
  const Attrs attrs = scan_attrs(name, *self.tensor, dim);
  const bool is_whole = is_integral(impl.dtype) || impl.dtype == kBool;
  const ScalarType wanted = dtype.value_or(is_whole ? kLong : impl.dtype);
  const Tensor x = self.tensor->to(wanted, false, false, self.site)
                       .to(running_dtype(wanted), false, false, self.site);
  const bool is_line = !impl.geometry.sizes.empty();
  const Tensor result = call(op, {is_line ? x : x.unsqueeze(0, self.site)}, self.site, attrs);
  return (is_line ? result : squeeze({result, self.site}, 0)).to(wanted, false, false, self.site);
}

Tensor shifted(const Tensor& x, std::int64_t dim, bool forward, double fill) {
  const std::int64_t count = x.impl()->geometry.sizes[static_cast<std::size_t>(dim)];
  if (count == 0) return x;
  const Tensor edge = full_like(x.narrow(dim, 0, 1), fill);
  if (count == 1) return edge;
  return forward ? cat({edge, x.narrow(dim, 0, count - 1)}, dim)
                 : cat({x.narrow(dim, 1, count - 1), edge}, dim);
}

namespace scans {

Lines lines_of(IntArrayRef sizes, std::int64_t dim) {
  Lines lines;
  const auto axis = static_cast<std::size_t>(dim);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    (i < axis ? lines.outer : i == axis ? lines.count : lines.inner) *= sizes[i];
  return lines;
}

}  // namespace scans
}  // namespace groove
