// The transforms along a last axis, which real pairs stand for complex numbers in: fft, fft_real of
// real signals, fft_to_real of the half that determines a hermitian spectrum. None divides.
#include "kernels/ops/fft.h"

#include <algorithm>
#include <cmath>

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/fourier_lines.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

using fourier::Form;

struct Size {
  std::int64_t n, lines;
};
Size size_of(const Signature& s, Form form) {
  const Shape& sizes = s.inputs[0].sizes;
  const std::int64_t n = form == Form::kToReal     ? s.attr().integer(0)
                         : form == Form::kFromReal ? sizes.back()
                                                   : sizes[sizes.size() - 2];
  const std::int64_t held = form == Form::kFromReal  ? n
                            : form == Form::kComplex ? 2 * n
                                                     : 2 * (n / 2 + 1);
  return {n, element_count(sizes) / held};
}

std::shared_ptr<const kernels::Lowering> lowering(Form form) {
  kernels::OpaqueLowering how;
  how.run_part = [form](const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs,
                        int part, int parts) {
    const auto [n, lines] = size_of(s, form);
    if (lines == 0) return;
    const bool forward = form != Form::kComplex || s.attr().boolean(0);
    const std::int64_t in_width = element_count(s.inputs[0].sizes) / lines;
    const std::int64_t out_width = outputs[0].impl()->numel / lines;
    const std::int64_t first = lines * part / parts, end = lines * (part + 1) / parts;
    const auto of_type = [&]<typename T>(T) {
      if (first == end) return;
      fourier::Lines<T> tile(form, n, forward);
      for (std::int64_t line = first; line < end; line += tile.lines()) {
        tile.run(static_cast<const T*>(inputs[0].impl()->data()) + line * in_width,
                 static_cast<T*>(outputs[0].impl()->data()) + line * out_width,
                 std::min(tile.lines(), end - line));
      }
    };
    s.inputs[0].dtype == kDouble ? of_type(double()) : of_type(float());
  };
  how.nanoseconds = [form](const Signature& s) {
    const auto [n, lines] = size_of(s, form);
    return static_cast<double>(lines * n) * (0.5 + std::log2(static_cast<double>(n)) / 3);
  };
  return kernels::lower(how);
}

void check_pairs(const Signature& s) {
  check_defined(s);
  const Shape& sizes = s.inputs[0].sizes;
  GROOVE_CHECK(sizes.size() >= 2 && sizes.back() == 2 && sizes[sizes.size() - 2] > 0,
               "{}: {} are no pairs along an axis", s.op.name, to_string(sizes));
}
void check_dtype(const Signature& s) {
  const ScalarType dtype = s.inputs[0].dtype;
  GROOVE_CHECK(dtype == kFloat || dtype == kDouble, "{}: not built for {}; use Float or Double",
               s.op.name, name(dtype));
}

// sum over k of x[k] exp(±2 pi i j k / n), of one line, in double.
std::vector<double> transformed(const std::vector<double>& pairs, bool forward) {
  const auto n = static_cast<std::int64_t>(pairs.size() / 2);
  std::vector<double> result(pairs.size(), 0);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t k = 0; k < n; ++k) {
      const fourier::Root root = fourier::root_of_unity(j * k % n, n);
      const double c = root.re, s = forward ? root.im : -root.im;
      const auto from = static_cast<std::size_t>(2 * k), to = static_cast<std::size_t>(2 * j);
      result[to] += pairs[from] * c - pairs[from + 1] * s;
      result[to + 1] += pairs[from] * s + pairs[from + 1] * c;
    }
  return result;
}

ReferenceRule reference(Form form) {
  return [form](const Signature& s, const std::vector<Reference>& inputs) {
    const auto [length, count] = size_of(s, form);
    const auto n = static_cast<std::size_t>(length), half = n / 2;
    const auto lines = static_cast<std::size_t>(count);
    Reference result{s.op.type(s).outputs[0], {}};
    const std::vector<double>& all = inputs[0].values;
    for (std::size_t line = 0; line < lines; ++line) {
      std::vector<double> pairs(2 * n, 0);
      const double* const from = all.data() + line * (all.size() / lines);
      for (std::size_t k = 0; k < n; ++k) {
        const bool mirrored = form == Form::kToReal && k > half;
        const std::size_t at = mirrored ? n - k : k;
        const bool is_end = form == Form::kToReal && (at == 0 || 2 * at == n);
        pairs[2 * k] = form == Form::kFromReal ? from[k] : from[2 * at];
        if (form != Form::kFromReal && !is_end)
          pairs[2 * k + 1] = from[2 * at + 1] * (mirrored ? -1 : 1);
      }
      const bool forward =
          form == Form::kFromReal || (form == Form::kComplex && s.attr().boolean(0));
      const std::vector<double> there = transformed(pairs, forward);
      const std::size_t kept = form == Form::kFromReal ? half + 1 : n;
      for (std::size_t k = 0; k < kept; ++k) {
        result.values.push_back(there[2 * k]);
        if (form != Form::kToReal) result.values.push_back(there[2 * k + 1]);
      }
    }
    return std::vector<Reference>{result};
  };
}

std::vector<Sample> samples(Form form, ScalarType dtype) {
  std::vector<Sample> result;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 8, 12, 15, 16, 67, 134}) {
    if (form == Form::kFromReal) {
      result.push_back({{{dtype, {3, n}}}, {}, {}});
    } else if (form == Form::kToReal) {
      result.push_back({{{dtype, {2, n / 2 + 1, 2}}}, Attrs().add(n), {}});
    } else {
      result.push_back({{{dtype, {n, 2}}}, Attrs().add(n % 2), {}});
      result.push_back({{{dtype, {2, 20, n, 2}}}, Attrs().add((n + 1) % 2), {}});
    }
  }
  return result;
}

constexpr double kTolerance = 4096;  // of sums that may cancel

const Op& op = define({
    .name = "fft",
    .kind = OpKind::kOpaque,
    .attributes = {{"forward", AttrType::kBool}},
    .type = [](const Signature& s) -> TypeResult {
      check_pairs(s);
      check_dtype(s);
      return {{s.inputs[0]}, s.inputs[0].dtype};
    },
    .lowering = lowering(Form::kComplex),
    .gradient =
        [](const Grad& g) { return Tensors{transform_pairs(g.cotangent(), !g.attr().boolean(0))}; },
    .has_inplace = false,
    .reference = reference(Form::kComplex),
    .dtypes = {kFloat, kDouble},
    .samples = [](ScalarType dtype) { return samples(Form::kComplex, dtype); },
    .tolerance_ulp = kTolerance,
});

// [k, 1]: 1 for the ends of the half, `inner` for what stands for two values.
Tensor weights(std::int64_t n, double inner, ScalarType dtype) {
  const Tensor ones_in_front = ones({1, 1}, dtype);
  const std::int64_t pairs = (n - 1) / 2;
  const Tensor middle = full({pairs, 1}, inner, dtype);
  return n % 2 == 0 ? cat(Tensors{ones_in_front, middle, ones_in_front}, 0)
                    : cat(Tensors{ones_in_front, middle}, 0);
}

const Op& op_real = define({
    .name = "fft_real",
    .kind = OpKind::kOpaque,
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      check_dtype(s);
      Shape sizes = s.inputs[0].sizes;
      GROOVE_CHECK(!sizes.empty() && sizes.back() > 0, "fft_real: {} has no axis of values",
                   to_string(sizes));
      sizes.back() = sizes.back() / 2 + 1;
      sizes.push_back(2);
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .lowering = lowering(Form::kFromReal),
    .gradient =
        [](const Grad& g) {
          const std::int64_t n = g.input_types[0].sizes.back();
          const Tensor& grad = g.cotangent();
          return Tensors{transform_to_real(mul(grad, weights(n, 0.5, grad.scalar_type())), n)};
        },
    .has_inplace = false,
    .reference = reference(Form::kFromReal),
    .dtypes = {kFloat, kDouble},
    .samples = [](ScalarType dtype) { return samples(Form::kFromReal, dtype); },
    .tolerance_ulp = kTolerance,
});

const Op& op_to_real = define({
    .name = "fft_to_real",
    .kind = OpKind::kOpaque,
    .attributes = {{"n", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      check_pairs(s);
      check_dtype(s);
      Shape sizes = s.inputs[0].sizes;
      sizes.pop_back();
      const std::int64_t n = s.attr().integer(0);
      GROOVE_CHECK(n > 0 && sizes.back() == n / 2 + 1,
                   "fft_to_real: {} values do not determine {} real ones", sizes.back(), n);
      sizes.back() = n;
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .lowering = lowering(Form::kToReal),
    .gradient =
        [](const Grad& g) {
          const Tensor there = transform_real(g.cotangent());
          return Tensors{mul(there, weights(g.attr().integer(0), 2, there.scalar_type()))};
        },
    .has_inplace = false,
    .reference = reference(Form::kToReal),
    .dtypes = {kFloat, kDouble},
    .samples = [](ScalarType dtype) { return samples(Form::kToReal, dtype); },
    .tolerance_ulp = kTolerance,
});

}  // namespace

Tensor transform_pairs(const Tensor& pairs, bool forward) {
  return call(op, {pairs}, Site::current(), Attrs().add(static_cast<std::int64_t>(forward)));
}
Tensor transform_real(const Tensor& values) { return call(op_real, {values}, Site::current()); }
Tensor transform_to_real(const Tensor& pairs, std::int64_t n) {
  return call(op_to_real, {pairs}, Site::current(), Attrs().add(n));
}

}  // namespace groove
