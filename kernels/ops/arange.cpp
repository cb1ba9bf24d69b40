// arange: start + step * i, each element rounded once from f64 (i64 for integers); linspace, eye.
#include <algorithm>
#include <cmath>

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

bool is_whole(const Signature& s) {
  return !s.numbers[0].isFloatingPoint() && !s.numbers[1].isFloatingPoint();
}

const Op& op = define({
    .name = "arange",
    .inputs = 0,
    .attributes = {{"size", AttrType::kInt}, {"dtype", AttrType::kDtype}},
    .number_names = {"start", "step"},
    .type = [](const Signature& s) -> TypeResult {
      return {{{s.attr().dtype(1), {s.attr().integer(0)}}}, is_whole(s) ? kLong : kDouble};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{b.numbers[0] +
                                    b.numbers[1] * convert(b.flat_index(), b.compute)};
            },
        .uses_flat_index = true}),
    .range =
        [](const Signature& s, ArrayRef<ValueRange>, int) {
          if (!is_whole(s)) return ValueRange();
          const double start = s.numbers[0].to_double(), step = s.numbers[1].to_double();
          const double last = start + step * static_cast<double>(s.attr().integer(0) - 1);
          const bool is_exact = std::fabs(start) <= 0x1p53 && std::fabs(last) <= 0x1p53;
          if (!is_exact) return ValueRange();
          return converted_range(kLong, {std::min(start, last), std::max(start, last)},
                                 s.attr().dtype(1));
        },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>&) {
          return std::vector<Reference>{
              make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
                return s.numbers[0].to_double() +
                       s.numbers[1].to_double() * static_cast<double>(index[0]);
              })};
        },
    .dtypes = numeric_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (std::int64_t size : {0, 1, 5, 40})
            samples.push_back({{}, Attrs().add(size).add(dtype), {Scalar(3), Scalar(-2)}});
          return samples;
        },
    .tolerance_ulp = 1,
});

Tensor sequence(std::int64_t size, Scalar start, Scalar step, ScalarType dtype,
                const TensorOptions& options, Site site) {
  Tensor result = call(op, {}, site, Attrs().add(size).add(dtype), {start, step});
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}

std::int64_t steps_between(Scalar start, Scalar end, Scalar step) {
  const double span = end.to_double() - start.to_double(), by = step.to_double();
  GROOVE_CHECK(by != 0, "arange: step is 0");
  GROOVE_CHECK(std::isfinite(span) && std::isfinite(by), "arange: from {} to {} by {}: no end",
               start.to_double(), end.to_double(), by);
  GROOVE_CHECK(span * by >= 0, "arange: step {} leads away from {} to {}; change its sign", by,
               start.to_double(), end.to_double());
  return static_cast<std::int64_t>(std::ceil(span / by));
}

// Of integers, which may be too large for a double.
std::int64_t whole_steps_between(std::int64_t start, std::int64_t end, std::int64_t step) {
  GROOVE_CHECK(step != 0, "arange: step is 0");
  GROOVE_CHECK(start == end || (start < end) == (step > 0),
               "arange: step {} leads away from {} to {}; change its sign", step, start, end);
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const std::uint64_t span = step > 0 ? word(end) - word(start) : word(start) - word(end);
  const std::uint64_t by = step > 0 ? word(step) : 0 - word(step);
  return static_cast<std::int64_t>(span / by + (span % by != 0));
}

}  // namespace

Tensor arange(Scalar start, Scalar end, Scalar step, TensorOptions options, Site site) {
  const CallFrame frame(site);
  const bool whole = !start.isFloatingPoint() && !end.isFloatingPoint() && !step.isFloatingPoint();
  const ScalarType dtype = options.dtype_opt().value_or(whole ? kLong : get_default_dtype());
  const std::int64_t size = whole && is_integral(dtype)
                                ? whole_steps_between(start.to_int(), end.to_int(), step.to_int())
                                : steps_between(start, end, step);
  if (is_integral(dtype) && !whole)
    return sequence(size, start.to_int(), step.to_int(), dtype, options, site);
  return sequence(size, start, step, dtype, options, site);
}
Tensor arange(Scalar end, TensorOptions options, Site site) {
  return arange(end.isFloatingPoint() ? Scalar(0.0) : Scalar(0), end, 1, options, site);
}
Tensor arange(Scalar start, Scalar end, TensorOptions options, Site site) {
  return arange(start, end, 1, options, site);
}
Tensor linspace(Scalar start, Scalar end, std::int64_t steps, TensorOptions options, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(steps >= 0, "linspace: {} steps; the number must not be negative", steps);
  const double first = start.to_double();
  const double by = steps > 1 ? (end.to_double() - first) / static_cast<double>(steps - 1) : 0.0;
  return sequence(steps, first, by, options.dtype(), options, site);
}
Tensor eye(std::int64_t n, std::int64_t m, TensorOptions options, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(n >= 0 && m >= 0, "eye: sizes {} and {}: neither may be negative", n, m);
  const Tensor rows = arange(Scalar(n), {}, site).unsqueeze(1, site);
  const Tensor columns = arange(Scalar(m), {}, site);
  Tensor result = rows.eq(columns, site).to(options.dtype(), false, false, site);
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}
Tensor eye(std::int64_t n, TensorOptions options, Site site) { return eye(n, n, options, site); }

Tensor linspace(Arg start, const Tensor& end, std::int64_t steps, TensorOptions options) {
  const CallFrame frame(start.site);
  return linspace(value_at("linspace", *start.tensor, start.site),
                  value_at("linspace", end, start.site), steps, options, start.site);
}
Tensor linspace(Arg start, Scalar end, std::int64_t steps, TensorOptions options) {
  const CallFrame frame(start.site);
  return linspace(value_at("linspace", *start.tensor, start.site), end, steps, options, start.site);
}
Tensor linspace(Scalar start, Arg end, std::int64_t steps, TensorOptions options) {
  const CallFrame frame(end.site);
  return linspace(start, value_at("linspace", *end.tensor, end.site), steps, options, end.site);
}

}  // namespace groove
