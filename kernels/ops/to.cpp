// to: conversion between dtypes (the op "cast"), and the spellings of to() for devices.
#include <cmath>

#include "groove/warning.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

double truncated(ScalarType dtype, double value) {
  if (dtype == kBool) return value != 0;
  if (dtype == kFloat) return static_cast<float>(value);
  return is_floating(dtype) ? value : std::trunc(value);
}

const Op& op = define({
    .name = "cast",
    .attributes = {{"dtype", AttrType::kDtype}},
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      return {{{s.attr().dtype(0), s.inputs[0].sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::unary([](kernels::Expr x) { return x; }),
    .gradient = [](const Grad& g) { return Tensors{g.cotangent().to(g.input_types[0].dtype)}; },
    .complex =
        [](const Call& c) {
          const ScalarType dtype = AttrReader(*c.op, *c.attrs).dtype(0);
          if (is_complex(dtype)) return from_pair(pair_of(c.inputs[0]).to(real_dtype(dtype)));
          if (dtype == kBool) return ne(c.inputs[0], 0);
          warn("Casting complex values to real discards the imaginary part");
          return complex_rules::parts_of(c.inputs[0]).re.to(dtype);
        },
    .range = [](const Signature& s, ArrayRef<ValueRange> inputs,
                int) { return converted_range(s.inputs[0].dtype, inputs[0], s.attr().dtype(0)); },
    .has_inplace = false,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return truncated(s.attr().dtype(0), x[0]);
    }),
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType from) {
          std::vector<Sample> samples;
          for (ScalarType target : all_dtypes()) {
            if (from == target) continue;
            for (Sample& sample : unary_samples(from)) {
              sample.attrs = Attrs().add(target);
              samples.push_back(std::move(sample));
            }
          }
          return samples;
        },
    .tolerance_ulp = 0,
});

void check_device(Device device) {
  GROOVE_CHECK(device.is_cpu(), "to: no device {} here: Groove has no GPU backend yet; use kCPU",
               device.str());
}

Tensor converted(const Tensor& self, ScalarType dtype, bool copy, Site site) {
  if (checked("to", self).dtype == dtype) return copy ? self.clone(site) : self;
  GROOVE_CHECK(element_size(dtype) > 0 && dtype != ScalarType::Undefined,
               "to: Groove does not compute with dtype {}", name(dtype));
  if (is_complex(dtype) && !is_complex_tensor(self)) {
    const SiteScope scope(site, "to");
    return complex_rules::over(complex_rules::pair_as(self, real_dtype(dtype)));
  }
  return call(op, {self}, site, Attrs().add(dtype));
}

}  // namespace

Tensor MathMethods::to(ScalarType dtype, bool, bool copy, Site site) const {
  const CallFrame frame(site);
  return converted(self(), dtype, copy, site);
}
Tensor MathMethods::to(Device device, bool, bool copy, Site site) const {
  const CallFrame frame(site);
  check_device(device);
  return converted(self(), checked("to", self()).dtype, copy, site);
}
Tensor MathMethods::to(DeviceType device, bool non_blocking, bool copy, Site site) const {
  return to(Device(device), non_blocking, copy, site);
}
Tensor MathMethods::to(Device device, ScalarType dtype, bool, bool copy, Site site) const {
  const CallFrame frame(site);
  check_device(device);
  return converted(self(), dtype, copy, site);
}
Tensor MathMethods::to(const TensorOptions& options, bool, bool copy, Site site) const {
  const CallFrame frame(site);
  GROOVE_CHECK(!options.requires_grad(),
               "to: options that require a gradient; a conversion has the history of what it "
               "converts: call requires_grad_() on the result of detach(), or leave it out");
  if (options.has_device()) check_device(options.device());
  const ScalarType dtype = options.dtype_opt().value_or(checked("to", self()).dtype);
  return converted(self(), dtype, copy, site);
}
Tensor MathMethods::to(const Tensor& other, bool, bool copy, Site site) const {
  const CallFrame frame(site);
  return converted(self(), checked("to", other).dtype, copy, site);
}
Tensor MathMethods::to(ScalarType dtype, bool non_blocking, bool copy,
                       std::optional<MemoryFormat> format, Site site) const {
  const CallFrame frame(site);
  detail::check_memory_format("to", format);
  return to(dtype, non_blocking, copy, site);
}
Tensor MathMethods::to(Device device, ScalarType dtype, bool non_blocking, bool copy,
                       std::optional<MemoryFormat> format, Site site) const {
  const CallFrame frame(site);
  detail::check_memory_format("to", format);
  return to(device, dtype, non_blocking, copy, site);
}
Tensor MathMethods::to(const TensorOptions& options, bool non_blocking, bool copy,
                       std::optional<MemoryFormat> format, Site site) const {
  const CallFrame frame(site);
  detail::check_memory_format("to", format);
  return to(options, non_blocking, copy, site);
}
Tensor MathMethods::to(const Tensor& other, bool non_blocking, bool copy,
                       std::optional<MemoryFormat> format, Site site) const {
  const CallFrame frame(site);
  detail::check_memory_format("to", format);
  return to(other, non_blocking, copy, site);
}
Tensor MathMethods::to(TypeMeta dtype, bool non_blocking, bool copy, Site site) const {
  return to(dtype.toScalarType(), non_blocking, copy, site);
}
Tensor MathMethods::toType(ScalarType dtype, Site site) const {
  const CallFrame frame(site);
  return converted(self(), dtype, false, site);
}
Tensor MathMethods::type_as(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return converted(self(), checked("type_as", other).dtype, false, site);
}
Tensor MathMethods::half(Site site) const {
  const CallFrame frame(site);
  return converted(self(), kHalf, false, site);
}
Tensor MathMethods::bfloat16(Site site) const {
  const CallFrame frame(site);
  return converted(self(), kBFloat16, false, site);
}
Tensor MathMethods::cpu(Site) const { return self(); }
Tensor DataMethods::pin_memory(Site site) const {
  const CallFrame frame(site);
  checked("pin_memory", self());
  throw_error(
      "pin_memory: there is no device that copies from pinned memory; ask "
      "torch::cuda::is_available() first");
}
Tensor MathMethods::cuda(Site site) const {
  const CallFrame frame(site);
  check_device(kCUDA);
  return self();
}

}  // namespace groove
